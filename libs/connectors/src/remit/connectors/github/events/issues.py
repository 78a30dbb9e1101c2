"""``issues``: opened, edited, closed, reopened."""

from __future__ import annotations

from remit.connectors.contract import Normalised
from remit.connectors.github.events import numbered
from remit.connectors.github.events.family import Family
from remit.connectors.github.events.payloads import IssuesEvent
from remit.connectors.github.events.reading import Reading, Subject
from remit.connectors.github.place import Place

NAME = "issues"


def _opened(reading: Reading, event: IssuesEvent) -> Normalised:
    return numbered.opened(reading, _subject(reading, event), NAME)


def _edited(reading: Reading, event: IssuesEvent) -> Normalised:
    return numbered.edited(reading, _subject(reading, event), NAME, event.sender, event.changes)


def _closed(reading: Reading, event: IssuesEvent) -> Normalised:
    return numbered.closed(reading, _subject(reading, event), NAME, event.sender)


def _reopened(reading: Reading, event: IssuesEvent) -> Normalised:
    return numbered.changed(reading, _subject(reading, event), NAME, "reopened", event.sender)


def _subject(reading: Reading, event: IssuesEvent) -> Subject:
    place = Place(
        source=reading.source,
        repository_id=event.repository.id,
        repository=event.repository.full_name,
        number=event.issue.number,
        is_pull=False,
    )
    return Subject(
        place=place,
        repository=event.repository,
        numbered=event.issue,
        address=place.conversation,
    )


FAMILY = Family(
    IssuesEvent,
    {"opened": _opened, "edited": _edited, "closed": _closed, "reopened": _reopened},
)
