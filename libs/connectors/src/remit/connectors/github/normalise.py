"""From a delivery to Triggers and Drops: pure, and the same for every way an event came in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from remit.connectors.contract import (
    DeliveryMalformed,
    Drop,
    DropReason,
    Identity,
    Normalised,
    RawDelivery,
)
from remit.connectors.github.events import (
    issue_comment,
    issues,
    pull_request,
    pull_request_review,
    pull_request_review_comment,
)
from remit.connectors.github.events.family import Family
from remit.connectors.github.events.reading import Reading
from remit.connectors.github.payload import document_of
from remit.connectors.github.settings import GitHubSettings
from remit.domain.ids import SourceName

FAMILIES: Mapping[str, Family[Any]] = {
    issues.NAME: issues.FAMILY,
    issue_comment.NAME: issue_comment.FAMILY,
    pull_request.NAME: pull_request.FAMILY,
    pull_request_review.NAME: pull_request_review.FAMILY,
    pull_request_review_comment.NAME: pull_request_review_comment.FAMILY,
}
"""The events that are read, by GitHub's names; any other becomes a counted drop."""


def check(source: SourceName, name: str, body: bytes, content_type: str) -> None:
    """See that a delivery can be read.

    Raises:
        DeliveryMalformed: It cannot; the field is named.
    """
    document = document_of(source, body, content_type)
    family = FAMILIES.get(name)
    if family is not None and _action(source, document) in family.actions:
        family.read(source, document)


def normalise(settings: GitHubSettings, identity: Identity, raw: RawDelivery) -> Normalised:
    """Return the Trigger that a delivery holds, or why there is none.

    Raises:
        DeliveryMalformed: It cannot be read; the field is named.
    """
    family = FAMILIES.get(raw.event)
    if family is None:
        return Drop(DropReason.UNKNOWN_EVENT, raw.event)
    document = document_of(raw.source, raw.body, raw.content_type)
    action = _action(raw.source, document)
    if action not in family.actions:
        return Drop(DropReason.UNHANDLED_ACTION, f"{raw.event}.{action}")
    event = family.read(raw.source, document)
    repository = event.repository.full_name
    if not settings.listens_to(repository):
        return Drop(DropReason.NOT_LISTENED_TO, repository)
    reading = Reading(source=raw.source, identity=identity, raw=raw)
    return family.actions[action](reading, event)


def _action(source: SourceName, document: Mapping[str, Any]) -> str:
    action = document.get("action")
    if not isinstance(action, str):
        raise DeliveryMalformed(source, "action", "is needed and is not there")
    return action
