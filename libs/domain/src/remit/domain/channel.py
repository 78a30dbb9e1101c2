"""Channels: the write side of a Thread (CHN-1..4)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from remit.domain.ids import SourceName, ThreadKey, TicketId, WriteId
from remit.domain.model import Model


class Address(Model):
    """A place a Channel can write to; only its Source knows how to read ``target``.

    Attributes:
        source: The Source instance that defines it.
        thread: The Thread whose write side it is.
        kind: What is written there, in the Source's words, such as ``review_thread``.
        target: The place itself, in the Source's words.
    """

    source: SourceName
    thread: ThreadKey
    kind: str
    target: str


class WriteKind(StrEnum):
    """Everything a Channel writes (CHN-2)."""

    ACKNOWLEDGE = "acknowledge"
    """Confirms a request once, naming what will be done (TON-2)."""
    REPLY = "reply"
    PULL_REQUEST = "pull_request"
    RESOLVE = "resolve"


class PullRequest(Model):
    """A pull request to be opened from a branch that was already pushed.

    Attributes:
        branch: The branch that holds the work.
        base: The branch it is to be merged into; None takes the repository's default.
        title: Its title.
    """

    branch: str
    title: str
    base: str | None = None


class ChannelWrite(Model):
    """One write, which appears once however often it is tried (CHN-3).

    Attributes:
        id: Names the write over all tries and marks its copy on the provider.
        ticket: The Ticket it is for.
        address: Where it goes.
        kind: What it is.
        body: The text a person reads, in plain language (TON-4).
        pull_request: What to open, for a pull request.
        requested_at: When the Ticket asked for it; a search for an earlier try starts here.
    """

    id: WriteId
    ticket: TicketId
    address: Address
    kind: WriteKind
    body: str
    requested_at: datetime
    pull_request: PullRequest | None = None


class WriteOutcome(StrEnum):
    """How a write ended."""

    ACCEPTED = "accepted"
    REFUSED = "refused"
    """For good: the target is gone, or the provider will not take it."""


class Receipt(Model):
    """A provider's answer to a write.

    Attributes:
        write: The write.
        outcome: Accepted, or refused for good.
        object_id: The provider's id of what was written.
        url: Where a person finds it.
        thread: The Thread that came to be, for a pull request.
        reason: Why it was refused.
    """

    write: WriteId
    outcome: WriteOutcome
    object_id: str | None = None
    url: str | None = None
    thread: ThreadKey | None = None
    reason: str | None = None
