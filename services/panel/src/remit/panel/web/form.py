"""Forms as browsers send them (``application/x-www-form-urlencoded``)."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qsl

from fastapi import HTTPException, Request

MOST_BYTES = 512 * 1024
MOST_FIELDS = 50


async def read_form(request: Request) -> Mapping[str, str]:
    """Return the fields of a form.

    Raises:
        HTTPException: 415 for another content type, 413 over the limit, 400 for what is no form.
    """
    content = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content != "application/x-www-form-urlencoded":
        raise HTTPException(415, "Send a form.")
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"The form is over the limit of {MOST_BYTES} bytes.")
    try:
        return dict(
            parse_qsl(
                body.decode(),
                keep_blank_values=True,
                strict_parsing=bool(body),
                max_num_fields=MOST_FIELDS,
            )
        )
    except ValueError as error:
        raise HTTPException(400, f"The form cannot be read: {error}") from error
