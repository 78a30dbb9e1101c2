"""What all comments have in common: they are created, edited and deleted."""

from __future__ import annotations

from dataclasses import replace

from remit.connectors.contract import Drop, DropReason, Normalised
from remit.connectors.github.events.payloads import Account, Comment
from remit.connectors.github.events.reading import Event, Reading, Subject, revision


def created(reading: Reading, subject: Subject, name: str, comment: Comment) -> Normalised:
    """Return the Trigger of a new comment."""
    happened = Event(
        key=_key(name, comment),
        kind=f"{name}.created",
        at=comment.created_at,
        url=comment.html_url,
    )
    return reading.message(subject, happened, comment)


def edited(
    reading: Reading, subject: Subject, name: str, comment: Comment, editor: Account | None
) -> Normalised:
    """Return the Trigger of an edited comment."""
    happened = Event(
        key=f"{_key(name, comment)}/edit/{revision(comment.updated_at)}",
        kind=f"{name}.edited",
        at=comment.updated_at,
        url=comment.html_url,
    )
    return reading.edit(subject, happened, comment, editor, changed=(comment.body,))


def deleted(
    reading: Reading, subject: Subject, name: str, comment: Comment, sender: Account | None
) -> Normalised:
    """Return the Trigger of a deletion: it is on record, and there is nothing to answer (A3).

    GitHub gives no time of it; what the comment was on was changed by it, if not later.
    """
    key = f"{_key(name, comment)}/deleted"
    if reading.is_own(sender):
        return Drop(DropReason.OWN_MESSAGE, key)
    happened = Event(
        key=key,
        kind=f"{name}.deleted",
        at=max(comment.updated_at, subject.numbered.updated_at),
        url=subject.numbered.html_url,
    )
    author = None if comment.user is None else comment.user.id
    return reading.change(
        replace(subject, address=None), happened, sender, {"comment": comment.id, "author": author}
    )


def _key(name: str, comment: Comment) -> str:
    return f"{_OBJECTS[name]}/{comment.id}"


ISSUE_COMMENT = "issue_comment"
REVIEW_COMMENT = "pull_request_review_comment"
_OBJECTS = {ISSUE_COMMENT: "issue_comment", REVIEW_COMMENT: "review_comment"}
"""How each kind of comment is called in ids: their numbers are counted apart."""
