"""``pull_request``: opened, edited, closed or merged, reopened, pushed to, drafted, readied."""

from __future__ import annotations

from remit.connectors.contract import Drop, DropReason, Normalised
from remit.connectors.github.events import numbered
from remit.connectors.github.events.family import Family
from remit.connectors.github.events.payloads import PullRequestEvent
from remit.connectors.github.events.pulls import pull_request_subject
from remit.connectors.github.events.reading import Event, Reading, Subject, revision

NAME = "pull_request"


def _opened(reading: Reading, event: PullRequestEvent) -> Normalised:
    return numbered.opened(reading, _subject(reading, event), NAME)


def _edited(reading: Reading, event: PullRequestEvent) -> Normalised:
    return numbered.edited(reading, _subject(reading, event), NAME, event.sender, event.changes)


def _closed(reading: Reading, event: PullRequestEvent) -> Normalised:
    """GitHub says merged as a way to be closed; it happens once, and has a time of its own."""
    pull, subject = event.pull_request, _subject(reading, event)
    if pull.merged_at is None:
        return numbered.closed(reading, subject, NAME, event.sender)
    merged = Event(
        key=f"{event.repository.id}/pr/{pull.number}/merged",
        kind=f"{NAME}.merged",
        at=pull.merged_at,
        url=pull.html_url,
    )
    return reading.change(subject, merged, event.sender)


def _reopened(reading: Reading, event: PullRequestEvent) -> Normalised:
    return numbered.changed(reading, _subject(reading, event), NAME, "reopened", event.sender)


def _readied(reading: Reading, event: PullRequestEvent) -> Normalised:
    subject = _subject(reading, event)
    return numbered.changed(reading, subject, NAME, "ready_for_review", event.sender)


def _drafted(reading: Reading, event: PullRequestEvent) -> Normalised:
    subject = _subject(reading, event)
    return numbered.changed(reading, subject, NAME, "converted_to_draft", event.sender)


def _pushed(reading: Reading, event: PullRequestEvent) -> Normalised:
    """Commits are something written: the agent's own pushes are no news to it.

    The time is part of the id because a push may bring back a commit that was there before.
    """
    pull = event.pull_request
    key = (
        f"{event.repository.id}/{pull.number}/synchronize/"
        f"{pull.head.sha}/{revision(pull.updated_at)}"
    )
    if reading.is_own(event.sender):
        return Drop(DropReason.OWN_MESSAGE, key)
    pushed = Event(key=key, kind=f"{NAME}.synchronize", at=pull.updated_at, url=pull.html_url)
    return reading.change(_subject(reading, event), pushed, event.sender)


def _subject(reading: Reading, event: PullRequestEvent) -> Subject:
    return pull_request_subject(reading, event.repository, event.pull_request)


FAMILY = Family(
    PullRequestEvent,
    {
        "opened": _opened,
        "edited": _edited,
        "closed": _closed,
        "reopened": _reopened,
        "ready_for_review": _readied,
        "converted_to_draft": _drafted,
        "synchronize": _pushed,
    },
)
