"""Assessment: the judgement on what the gate admits (EVL-2, EVL-3), and what holds it in bounds.

`Assessor` is the port. Whatever an assessor says, `decision_from` makes of it a Decision that the
gate and the Policy allow, or refuses it (EVL-8).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from remit.domain.decision import DecidedBy, Decision, GateRecord, Outcome
from remit.domain.gate import Verdict
from remit.domain.ids import (
    EvalId,
    MandateId,
    RuleId,
    ThreadKey,
    TicketId,
    TriggerId,
    decision_id_for,
    ticket_id_for,
)
from remit.domain.mandate import Mandate, Strength
from remit.domain.model import Model
from remit.domain.policy import AcceptMode, Policy
from remit.domain.thread import Thread
from remit.domain.trigger import Trigger


class Candidate(Model):
    """A Trigger that the gate admitted."""

    trigger: Trigger
    verdict: Verdict


class Case(Model):
    """What an assessment looks at (EVL-2).

    Attributes:
        candidates: What the gate admitted, in time order.
        thread: The Thread as it stands; its Subscriptions list every Ticket, ended ones too.
        correlated: Threads that share a Trigger with it: context only (COR-1).
        policy: The Policy in force.
    """

    candidates: tuple[Candidate, ...]
    thread: Thread
    correlated: tuple[Thread, ...] = ()
    policy: Policy


class Judgement(Model):
    """What an assessor says, before it is held against the gate and the Policy.

    Attributes:
        outcome: accept, stop or ignore.
        triggers: The Triggers it decides; the others stay for the next Eval (EVL-10).
        request: The Trigger that asks for the work, for an accept, or for the end, for a stop.
        rules: The rules an accept rests on.
        title: A short name for the work.
        stops: The Tickets a stop ends.
        reason: Why, in a sentence.
    """

    outcome: Outcome
    triggers: tuple[TriggerId, ...]
    request: TriggerId | None = None
    rules: tuple[RuleId, ...] = ()
    title: str | None = None
    stops: tuple[TicketId, ...] = ()
    reason: str


class Assessor(Protocol):
    """Judges what the gate admitted. Holds no state between calls (EVL-4)."""

    @property
    def decided_by(self) -> DecidedBy:
        """Which layer its Decisions are recorded under."""
        ...

    @property
    def takes_long(self) -> bool:
        """Whether a call is long enough that two at once on one Thread would be a waste."""
        ...

    async def assess(self, case: Case) -> Judgement:
        """Return a judgement.

        Raises:
            AssessmentUnusable: No usable answer; it counts as a failed try (EVL-8).
        """
        ...


class AssessmentUnusable(Exception):
    """An assessor's answer can never become a Decision (EVL-8).

    Attributes:
        reason: What is wrong with it.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def decision_from(
    judgement: Judgement,
    case: Case,
    *,
    eval_id: EvalId,
    decided_by: DecidedBy,
    refused: Sequence[GateRecord] = (),
    now: datetime,
) -> Decision:
    """Return the Decision that ``judgement`` comes to.

    Args:
        judgement: What the assessor said.
        case: What it looked at.
        eval_id: The Eval.
        decided_by: Which layer said it.
        refused: Triggers of the batch that the gate refused; they are decided with it.
        now: The time of the Decision.

    Raises:
        AssessmentUnusable: It names something unknown, or widens what the gate admitted.
    """
    candidates = {candidate.trigger.id: candidate for candidate in case.candidates}
    _check_names(judgement, case, candidates)
    decided = tuple(record.trigger for record in refused) + tuple(
        trigger for trigger in candidates if trigger in judgement.triggers
    )
    gate = (
        *refused,
        *(GateRecord(trigger=c.trigger.id, verdict=c.verdict) for c in case.candidates),
    )
    mandate: Mandate | None = None
    outcome, reason, observed = judgement.outcome, judgement.reason, False
    if outcome is Outcome.ACCEPT:
        mandate = _mandate(judgement, case, candidates, now)
        if case.policy.accept is not AcceptMode.AUTO:
            # Recorded, and nothing comes of it (POL-6).
            observed = case.policy.accept is AcceptMode.OBSERVE
            outcome, mandate = Outcome.IGNORE, None
            reason = f"accept mode is {case.policy.accept}; would have accepted: {reason}"
    return Decision(
        id=decision_id_for(eval_id),
        eval_id=eval_id,
        thread=case.thread.key,
        outcome=outcome,
        policy_version=case.policy.version,
        triggers=decided,
        gate=tuple(record for record in gate if record.trigger in decided),
        decided_by=decided_by,
        reason=reason,
        request=judgement.request,
        rules=judgement.rules,
        mandate=mandate,
        title=judgement.title if mandate else None,
        stops=judgement.stops,
        observed=observed,
        decided_at=now,
    )


def refusal(
    thread: ThreadKey,
    records: Sequence[GateRecord],
    *,
    eval_id: EvalId,
    policy: Policy,
    now: datetime,
) -> Decision:
    """Return the Decision on a batch of which the gate admitted nothing: no judgement is asked."""
    reasons = ", ".join(sorted({record.verdict.reason for record in records}))
    return Decision(
        id=decision_id_for(eval_id),
        eval_id=eval_id,
        thread=thread,
        outcome=Outcome.IGNORE,
        policy_version=policy.version,
        triggers=tuple(record.trigger for record in records),
        gate=tuple(records),
        decided_by=DecidedBy.GATE,
        reason=f"the gate admits none of it: {reasons}",
        decided_at=now,
    )


def _check_names(judgement: Judgement, case: Case, candidates: dict[TriggerId, Candidate]) -> None:
    if judgement.outcome is Outcome.UNAVAILABLE:
        raise AssessmentUnusable(
            "an assessor cannot say 'unavailable'; only running out of tries can"
        )
    if not judgement.triggers:
        raise AssessmentUnusable("the judgement decides no Trigger")
    if unknown := [trigger for trigger in judgement.triggers if trigger not in candidates]:
        raise AssessmentUnusable(f"the judgement names Triggers it was not shown: {unknown}")
    if unknown_rules := [rule for rule in judgement.rules if case.policy.rule(rule) is None]:
        raise AssessmentUnusable(f"the judgement names unknown rules: {unknown_rules}")
    if not judgement.reason.strip():
        raise AssessmentUnusable("the judgement gives no reason")
    if judgement.outcome is Outcome.STOP:
        on_thread = {subscription.ticket for subscription in case.thread.subscriptions}
        if not judgement.stops or not set(judgement.stops) <= on_thread:
            raise AssessmentUnusable("a stop must name Tickets of this Thread")
        _request_of(judgement, candidates)
    elif judgement.stops:
        raise AssessmentUnusable(f"'{judgement.outcome}' cannot stop Tickets")


def _request_of(judgement: Judgement, candidates: dict[TriggerId, Candidate]) -> Candidate:
    """The Trigger that asks, which must be one that is decided."""
    request = judgement.request
    if request is None or request not in candidates or request not in judgement.triggers:
        raise AssessmentUnusable("the judgement does not say which of its Triggers asks")
    return candidates[request]


def _mandate(
    judgement: Judgement, case: Case, candidates: dict[TriggerId, Candidate], now: datetime
) -> Mandate:
    """What the accept grants: never more than the gate admitted and the rules allow (EVL-8, MAN-1)."""
    asking = _request_of(judgement, candidates)
    strength = asking.verdict.strength
    if strength is None:
        raise AssessmentUnusable("the gate did not admit the Trigger that asks")
    rules = [rule for name in judgement.rules if (rule := case.policy.rule(name)) is not None]
    if not rules:
        raise AssessmentUnusable("an accept must rest on a rule of the Policy")
    if strength is Strength.INFERRED and not all(rule.inferred for rule in rules):
        raise AssessmentUnusable("an inferred candidate needs rules that cover inferred ones")
    trigger = asking.trigger
    return Mandate(
        id=MandateId(f"{ticket_id_for(trigger.id)}/mandate"),
        policy_version=case.policy.version,
        scope="; ".join(rule.scope for rule in rules),
        strength=strength,
        rules=tuple(rule.id for rule in rules),
        source=trigger.source,
        actor=trigger.actor,
        received_by=trigger.received_by,
        trigger=trigger.id,
        granted_at=now,
    )
