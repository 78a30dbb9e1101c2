"""``issue_comment``: comments in the conversation of an issue or of a pull request."""

from __future__ import annotations

from remit.connectors.contract import Normalised
from remit.connectors.github.events import comments
from remit.connectors.github.events.family import Family
from remit.connectors.github.events.payloads import IssueCommentEvent
from remit.connectors.github.events.reading import Reading, Subject
from remit.connectors.github.place import Place

NAME = comments.ISSUE_COMMENT


def _created(reading: Reading, event: IssueCommentEvent) -> Normalised:
    return comments.created(reading, _subject(reading, event), NAME, event.comment)


def _edited(reading: Reading, event: IssueCommentEvent) -> Normalised:
    subject = _subject(reading, event)
    return comments.edited(reading, subject, NAME, event.comment, event.sender)


def _deleted(reading: Reading, event: IssueCommentEvent) -> Normalised:
    subject = _subject(reading, event)
    return comments.deleted(reading, subject, NAME, event.comment, event.sender)


def _subject(reading: Reading, event: IssueCommentEvent) -> Subject:
    place = Place(
        source=reading.source,
        repository_id=event.repository.id,
        repository=event.repository.full_name,
        number=event.issue.number,
        is_pull=event.issue.pull_request is not None,
    )
    return Subject(
        place=place,
        repository=event.repository,
        numbered=event.issue,
        address=place.conversation,
    )


FAMILY = Family(IssueCommentEvent, {"created": _created, "edited": _edited, "deleted": _deleted})
