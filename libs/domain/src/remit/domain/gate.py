"""The gate: may this actor originate work here, and with what strength (EVL-1).

Pure and deterministic; text grants nothing (EVL-9). What it cannot establish it refuses.
"""

from __future__ import annotations

from enum import StrEnum

from remit.domain.mandate import Strength
from remit.domain.model import Model
from remit.domain.policy import Admission, AdmissionRow, Audience, Policy, SourcePart
from remit.domain.trigger import ActorClass, Addressing, Trigger


class GateReason(StrEnum):
    """Why the gate admitted or refused: a closed list, for audit."""

    ALLOWED_PERSON_ASKED = "allowed_person_asked"
    LISTED_BOT = "listed_bot"
    TABLE_ADMITS = "table_admits"
    """The admission table of the scope admits senders of this kind."""

    NO_POLICY_FOR_SOURCE = "no_policy_for_source"
    NO_ALLOWED_LIST = "no_allowed_list"
    """No list is configured, so nobody may (field report A4)."""
    NOT_ON_LIST = "not_on_list"
    NOT_ADDRESSED = "not_addressed"
    """An allowed person who was not speaking to the agent."""
    UNLISTED_BOT = "unlisted_bot"
    SYSTEM_EVENT = "system_event"
    LOOK_UP_FAILED = "look_up_failed"
    """Who the actor is could not be established (field report A1)."""


class Verdict(Model):
    """The gate's answer.

    Attributes:
        admitted: Whether assessment may look at it.
        strength: With what strength, where admitted.
        reason: Why.
    """

    admitted: bool
    reason: GateReason
    strength: Strength | None = None


def _admit(strength: Strength, reason: GateReason) -> Verdict:
    return Verdict(admitted=True, strength=strength, reason=reason)


def _refuse(reason: GateReason) -> Verdict:
    return Verdict(admitted=False, reason=reason)


def judge(trigger: Trigger, policy: Policy) -> Verdict:
    """Say whether ``trigger`` may originate work under ``policy``."""
    part = policy.part_of(trigger.source)
    if part is None:
        return _refuse(GateReason.NO_POLICY_FOR_SOURCE)
    if not trigger.actor.id:
        return _refuse(GateReason.LOOK_UP_FAILED)
    row = part.row_for(trigger.scope)
    match trigger.actor.actor_class:
        case ActorClass.BOT:
            return _judge_bot(trigger, part)
        case ActorClass.SYSTEM:
            return _by_table(row.system, GateReason.SYSTEM_EVENT)
        case ActorClass.PERSON:
            return _judge_person(trigger, part, row)


def _judge_bot(trigger: Trigger, part: SourcePart) -> Verdict:
    """A listed bot makes candidates, never explicit requests; no other bot is admitted."""
    if trigger.actor.id in part.bots:
        return _admit(Strength.INFERRED, GateReason.LISTED_BOT)
    return _refuse(GateReason.UNLISTED_BOT)


def _judge_person(trigger: Trigger, part: SourcePart, row: AdmissionRow) -> Verdict:
    addressed = trigger.addressing is not Addressing.NONE
    if part.allowed is not None and trigger.actor.id in part.allowed:
        if addressed:
            return _admit(Strength.EXPLICIT, GateReason.ALLOWED_PERSON_ASKED)
        return _by_table(row.allowed_unaddressed, GateReason.NOT_ADDRESSED)
    refusal = GateReason.NO_ALLOWED_LIST if part.allowed is None else GateReason.NOT_ON_LIST
    return _by_table(row.others_addressed if addressed else row.others_unaddressed, refusal)


def _by_table(admission: Admission, refusal: GateReason) -> Verdict:
    match admission:
        case Admission.REFUSE:
            return _refuse(refusal)
        case Admission.CANDIDATE:
            return _admit(Strength.INFERRED, GateReason.TABLE_ADMITS)
        case Admission.REQUEST:
            return _admit(Strength.EXPLICIT, GateReason.TABLE_ADMITS)


def is_admitted_person(trigger: Trigger, policy: Policy) -> bool:
    """Say whether ``trigger`` is a message of a person who may start, stop and answer (A4).

    A person on the allowed list counts wherever they write; whether this message speaks to the
    agent matters for starting work only.
    """
    if not trigger.from_person:
        return False
    part = policy.part_of(trigger.source)
    if part is not None and part.allowed is not None and trigger.actor.id in part.allowed:
        return True
    return judge(trigger, policy).admitted


def may_enter(trigger: Trigger, policy: Policy) -> bool:
    """Say whether ``trigger`` is from somebody its Source listens to (DESIGN.md, section 12).

    Bots and the provider's own events are not strangers: the gate keeps them from starting work.
    """
    part = policy.part_of(trigger.source)
    if part is None or trigger.actor.actor_class is not ActorClass.PERSON:
        return True
    if part.listens_to(trigger.scope) is Audience.EVERYONE:
        return True
    return is_admitted_person(trigger, policy)


def may_resume(trigger: Trigger, policy: Policy) -> bool:
    """Say whether ``trigger`` may resume an ended Ticket of its Threads (SUB-5)."""
    if not trigger.from_person:
        return False
    part = policy.part_of(trigger.source)
    if part is None:
        return False
    if part.resumed_by(trigger.scope) is Audience.EVERYONE:
        return True
    return is_admitted_person(trigger, policy)
