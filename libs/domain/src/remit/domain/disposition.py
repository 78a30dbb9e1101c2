"""Dispositions: what became of a Trigger (TRG-4, DSP-1, DSP-2).

The grammar of an audit line is ``trigger: kind (reason) [decision, rules | tickets]``.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from remit.domain.decision import Outcome
from remit.domain.gate import GateReason
from remit.domain.ids import DecisionId, PolicyVersion, RuleId, ThreadKey, TicketId, TriggerId
from remit.domain.model import Model


class DispositionKind(StrEnum):
    """The three ways a Trigger can end; each Trigger has at least one."""

    FILTERED = "filtered"
    EVALUATED = "evaluated"
    FANNED_OUT = "fanned_out"


class FilterReason(StrEnum):
    """Why a Trigger went no further, beside what the gate may say."""

    NOT_LISTENED_TO = "not_listened_to"
    """Its sender is nobody that the Source listens to in that scope."""
    TOO_OLD = "too_old"
    """Older than the memory of the streams, so it may have been seen before."""


class Disposition(Model):
    """The record of one ending of one Trigger.

    Attributes:
        trigger: The Trigger.
        thread: The Thread where it was settled.
        kind: Filtered, evaluated or fanned out.
        reason: Why: a filter reason, a reason of the gate, or a Decision's sentence.
        decision: The Decision, where one was made.
        outcome: What the Decision said.
        rules: The rules it rests on.
        policy_version: The Policy version that was relied on.
        tickets: The Tickets that it opened or reached.
        at: When.
    """

    trigger: TriggerId
    thread: ThreadKey
    kind: DispositionKind
    reason: FilterReason | GateReason | str
    decision: DecisionId | None = None
    outcome: Outcome | None = None
    rules: tuple[RuleId, ...] = ()
    policy_version: PolicyVersion | None = None
    tickets: tuple[TicketId, ...] = ()
    at: datetime
