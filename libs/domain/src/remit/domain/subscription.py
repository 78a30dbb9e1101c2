"""Subscriptions: which Tickets a Thread reaches (SUB-1..9)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from remit.domain.ids import TicketId
from remit.domain.model import Model


class SubscriptionKind(StrEnum):
    """How a Ticket came to a Thread."""

    ORIGIN = "origin"
    """The Ticket started there; its Executor cannot drop it (SUB-8)."""
    SOURCE = "source"
    """A Source made it follow, such as its pull request; its Executor cannot drop it (SUB-8)."""
    POINTED = "pointed"
    """A message pointed at the Ticket outright (SUB-7)."""
    CONTEXT = "context"
    """Its Executor follows for context: lends no authority and resumes nothing (SUB-4)."""


class Standing(StrEnum):
    """What a Thread knows of a Ticket; the Ticket itself has the last word."""

    LIVE = "live"
    ENDED = "ended"
    """A person's message may resume it (SUB-5)."""
    STOPPED = "stopped"
    """A person stopped it: it receives nothing (SUB-6)."""


class Subscription(Model):
    """One Ticket on one Thread, held by the Thread.

    Attributes:
        ticket: The Ticket.
        kind: How it came there.
        standing: What the Thread last heard of the Ticket.
        turn: How often the Ticket's standing had changed then.
        title: The Ticket's short name, so that an assessment sees what is covered (EVL-7).
        scope: What its Mandate allows.
        since: When it came there.
    """

    ticket: TicketId
    kind: SubscriptionKind
    standing: Standing = Standing.LIVE
    turn: int = 0
    title: str = ""
    scope: str = ""
    since: datetime

    @property
    def may_receive(self) -> bool:
        """Whether anything at all may be delivered: a stopped Ticket gets nothing (SUB-6)."""
        return self.standing is not Standing.STOPPED

    @property
    def may_resume(self) -> bool:
        """Whether a person's message on this Thread can resume the Ticket (SUB-4, SUB-5)."""
        return self.standing is Standing.ENDED and self.kind is not SubscriptionKind.CONTEXT
