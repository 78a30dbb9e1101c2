"""The document in a delivery, whichever of GitHub's two content types it came in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from pydantic_core import from_json

from remit.connectors.contract import DeliveryMalformed
from remit.domain.ids import SourceName

FORM = "application/x-www-form-urlencoded"
_FIELD = "payload"


def document_of(source: SourceName, body: bytes, content_type: str) -> Mapping[str, Any]:
    """Return the JSON object that ``body`` holds.

    Raises:
        DeliveryMalformed: There is none in it.
    """
    media_type = content_type.partition(";")[0].strip().casefold()
    text = _form_field(source, body) if media_type == FORM else body
    try:
        document = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise DeliveryMalformed(source, "the body", f"is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise DeliveryMalformed(source, "the body", "is not a JSON object")
    return document


def _form_field(source: SourceName, body: bytes) -> str:
    try:
        fields = parse_qs(body.decode(), max_num_fields=16, errors="strict")
    except ValueError as error:
        raise DeliveryMalformed(source, "the body", f"is not a form: {error}") from error
    values = fields.get(_FIELD)
    if values is None:
        raise DeliveryMalformed(source, _FIELD, "is not in the form")
    return values[0]
