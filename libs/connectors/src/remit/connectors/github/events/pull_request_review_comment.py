"""``pull_request_review_comment``: comments on lines of a pull request's difference."""

from __future__ import annotations

from dataclasses import replace

from remit.connectors.contract import Normalised
from remit.connectors.github.events import comments
from remit.connectors.github.events.family import Family
from remit.connectors.github.events.payloads import ReviewCommentEvent
from remit.connectors.github.events.pulls import pull_request_subject
from remit.connectors.github.events.reading import Reading, Subject

NAME = comments.REVIEW_COMMENT


def _created(reading: Reading, event: ReviewCommentEvent) -> Normalised:
    return comments.created(reading, _subject(reading, event), NAME, event.comment)


def _edited(reading: Reading, event: ReviewCommentEvent) -> Normalised:
    subject = _subject(reading, event)
    return comments.edited(reading, subject, NAME, event.comment, event.sender)


def _deleted(reading: Reading, event: ReviewCommentEvent) -> Normalised:
    subject = _subject(reading, event)
    return comments.deleted(reading, subject, NAME, event.comment, event.sender)


def _subject(reading: Reading, event: ReviewCommentEvent) -> Subject:
    """The answer goes into the review thread, where the question is (field report C12)."""
    comment = event.comment
    subject = pull_request_subject(
        reading,
        event.repository,
        event.pull_request,
        {"path": comment.path, "line": comment.line, "commit": comment.commit_id},
    )
    return replace(
        subject,
        thread=subject.place.review_thread(comment.root),
        address=subject.place.reply_to(comment.root),
    )


FAMILY = Family(ReviewCommentEvent, {"created": _created, "edited": _edited, "deleted": _deleted})
