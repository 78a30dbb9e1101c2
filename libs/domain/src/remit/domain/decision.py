"""Decisions: what an Eval comes to (EVL-3)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import model_validator

from remit.domain.gate import Verdict
from remit.domain.ids import (
    DecisionId,
    EvalId,
    PolicyVersion,
    RuleId,
    ThreadKey,
    TicketId,
    TriggerId,
)
from remit.domain.mandate import Mandate
from remit.domain.model import Model


class Outcome(StrEnum):
    """The only things a Decision can say; there is no "append to Ticket"."""

    ACCEPT = "accept"
    STOP = "stop"
    IGNORE = "ignore"
    UNAVAILABLE = "unavailable"


class DecidedBy(StrEnum):
    """Which layer settled it."""

    GATE = "gate"
    RULES = "rules"
    MODEL = "model"
    TIME = "time"
    """No answer came within the configured tries (EVL-5)."""


class GateRecord(Model):
    """What the gate said of one Trigger."""

    trigger: TriggerId
    verdict: Verdict


class Decision(Model):
    """The result of one Eval.

    Attributes:
        id: Derived from the Eval: an Eval has at most one Decision.
        eval_id: The Eval.
        thread: Its Thread.
        outcome: accept, stop, ignore or unavailable.
        policy_version: The version it was made under, current when it was recorded (POL-5).
        triggers: The Triggers it decides; others of the batch stay for the next Eval (EVL-10).
        gate: What the gate said of each of them.
        decided_by: Which layer settled it.
        reason: Why, in a sentence.
        request: The Trigger that asks: for the work of an accept, for the end of a stop.
        rules: The assessment rules it rests on.
        mandate: What an accept grants.
        title: A short name for the work, for an accept.
        stops: The Tickets a stop ends.
        observed: The accept mode was ``observe``: nothing came of it (POL-6).
        decided_at: When the Eval came to it.
    """

    id: DecisionId
    eval_id: EvalId
    thread: ThreadKey
    outcome: Outcome
    policy_version: PolicyVersion
    triggers: tuple[TriggerId, ...]
    gate: tuple[GateRecord, ...] = ()
    decided_by: DecidedBy
    reason: str
    request: TriggerId | None = None
    rules: tuple[RuleId, ...] = ()
    mandate: Mandate | None = None
    title: str | None = None
    stops: tuple[TicketId, ...] = ()
    observed: bool = False
    decided_at: datetime

    @model_validator(mode="after")
    def _an_accept_carries_its_mandate(self) -> Decision:
        if (self.outcome is Outcome.ACCEPT) != (self.mandate is not None):
            raise ValueError("an accept, and nothing else, carries a Mandate (EVL-3)")
        if (self.outcome is Outcome.STOP) != bool(self.stops):
            raise ValueError("a stop, and nothing else, names the Tickets it stops (EVL-3)")
        return self
