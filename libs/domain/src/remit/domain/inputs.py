"""Inputs: what a Ticket's Executor is to read, once each and in order (INP-1)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from remit.domain.gate import Verdict
from remit.domain.ids import TicketId, TriggerId
from remit.domain.model import Model
from remit.domain.trigger import Trigger


class InputKind(StrEnum):
    """Where an Input comes from."""

    TRIGGER = "trigger"
    POLICY_CHANGE = "policy_change"
    RESUME = "resume"
    TEXT = "text"
    STOP = "stop"
    """A person's stop: the Executor stops the agent and confirms."""


class Input(Model):
    """One Input, whole, as the Executor reads it.

    Attributes:
        ticket: The Ticket.
        number: Its place, from 1, without gaps.
        kind: Where it comes from.
        trigger: The Trigger, for a fanned-out one.
        verdict: What the gate says of its actor, so that the text is labelled with the actor's
            admission; it widens nothing (field report A3).
        text: What there is to say, for the other kinds.
        at: When the Ticket took it.
    """

    ticket: TicketId
    number: int
    kind: InputKind
    trigger: Trigger | None = None
    verdict: Verdict | None = None
    text: str = ""
    at: datetime


class InputRef(Model):
    """An Input as its Ticket remembers it until an Assignment has taken it (field report C1)."""

    number: int
    kind: InputKind
    person: bool
    trigger: TriggerId | None = None
    at: datetime
