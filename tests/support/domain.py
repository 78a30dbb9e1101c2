"""Values of the domain for tests, with defaults that make sense together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from remit.domain.channel import Address
from remit.domain.decision import DecidedBy, Decision, GateRecord, Outcome
from remit.domain.gate import GateReason, Verdict
from remit.domain.ids import (
    EvalId,
    MandateId,
    PolicyVersion,
    RuleId,
    SourceName,
    ThreadKey,
    TicketId,
    TriggerId,
    decision_id_for,
    ticket_id_for,
)
from remit.domain.mandate import Mandate, Strength
from remit.domain.policy import AcceptMode, AdmissionRow, AssessmentRule, Policy, SourcePart
from remit.domain.thread import AppendTrigger, Thread
from remit.domain.ticket import DeliverTrigger, OpenTicket, Ticket, evolve_all, open_ticket
from remit.domain.trigger import (
    Actor,
    ActorClass,
    Addressing,
    ReceivingScope,
    Reception,
    ScopeKind,
    Trigger,
    TriggerRef,
)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
GITHUB = SourceName("github")
HOME = ThreadKey("github:1/issue/7")
ADMITTED = Verdict(
    admitted=True, reason=GateReason.ALLOWED_PERSON_ASKED, strength=Strength.EXPLICIT
)
REFUSED = Verdict(admitted=False, reason=GateReason.NOT_ON_LIST)
VERSION = PolicyVersion("p-1")
ALICE = Actor(id="101", actor_class=ActorClass.PERSON, name="alice")
MALLORY = Actor(id="666", actor_class=ActorClass.PERSON, name="mallory")
CI_BOT = Actor(id="900", actor_class=ActorClass.BOT, name="ci-bot")


def at(minutes: float) -> datetime:
    """Return a time ``minutes`` after the tests' epoch."""
    return NOW + timedelta(minutes=minutes)


def actor(
    id: str = "101", actor_class: ActorClass = ActorClass.PERSON, name: str = "alice"
) -> Actor:
    """Return an actor."""
    return Actor(id=id, actor_class=actor_class, name=name)


def trigger(
    number: int = 1,
    *,
    actor: Actor = ALICE,
    addressing: Addressing = Addressing.MENTION,
    threads: tuple[ThreadKey, ...] = (HOME,),
    minutes: float | None = None,
    text: str = "please fix the typo",
    public: bool = False,
    scope_kind: ScopeKind = ScopeKind.REPOSITORY,
    scope: str = "acme/website",
    kind: str = "issue_comment",
    source: SourceName = GITHUB,
    is_message: bool = True,
) -> Trigger:
    """Return a Trigger: by default an allowed person who addresses the agent on an issue."""
    when = at(number if minutes is None else minutes)
    return Trigger(
        id=TriggerId(f"{source}:issue_comment/{number}"),
        source=source,
        kind=kind,
        actor=actor,
        addressing=addressing,
        scope=ReceivingScope(kind=scope_kind, name=scope, public=public),
        occurred_at=when,
        received_at=when,
        received_by=Reception.WEBHOOK,
        threads=threads,
        channels=(
            Address(source=source, thread=threads[0], kind="issue", target="acme/website#7"),
        ),
        title="A typo",
        text=text,
        is_message=is_message,
    )


def ref(of: Trigger, position: int | None = None) -> TriggerRef:
    """Return the reference to a Trigger; its number in its id is its position."""
    number = int(of.id.rpartition("/")[2]) if position is None else position
    return TriggerRef.of(of, position=number)


def append(
    of: Trigger,
    *,
    position: int | None = None,
    verdict: Verdict = ADMITTED,
    reach: tuple[TicketId, ...] = (),
    known: bool | None = None,
    may_resume: bool = True,
) -> AppendTrigger:
    """Return the command that appends a Trigger to a Thread."""
    return AppendTrigger(
        trigger=of,
        ref=ref(of, position),
        verdict=verdict,
        reach=reach,
        known=known,
        may_resume=may_resume,
    )


def policy(
    *,
    allowed: frozenset[str] | None = frozenset({"101"}),
    bots: frozenset[str] = frozenset(),
    admission: tuple[AdmissionRow, ...] = (),
    accept: AcceptMode = AcceptMode.AUTO,
    rules: tuple[AssessmentRule, ...] | None = None,
) -> Policy:
    """Return a Policy whose GitHub part allows Alice."""
    return Policy(
        accept=accept,
        rules=(rule(),) if rules is None else rules,
        sources={GITHUB: SourcePart(allowed=allowed, bots=bots, admission=admission)},
    )


def rule(id: str = "small-fixes", **fields: object) -> AssessmentRule:
    """Return an assessment rule."""
    values: dict[str, object] = {
        "text": "Small fixes are welcome.",
        "scope": "small fixes in the repository",
    }
    return AssessmentRule.model_validate({"id": id, **values, **fields})


def mandate(of: Trigger) -> Mandate:
    """Return a Mandate that rests on a Trigger."""
    return Mandate(
        id=MandateId(f"{ticket_id_for(of.id)}/mandate"),
        policy_version=VERSION,
        scope="small fixes",
        strength=Strength.EXPLICIT,
        rules=(RuleId("small-fixes"),),
        source=of.source,
        actor=of.actor,
        received_by=of.received_by,
        trigger=of.id,
        granted_at=NOW,
    )


def decision(
    eval_id: EvalId,
    *triggers: Trigger,
    outcome: Outcome = Outcome.IGNORE,
    thread: ThreadKey = HOME,
    version: PolicyVersion = VERSION,
    stops: tuple[TicketId, ...] = (),
    verdict: Verdict = ADMITTED,
) -> Decision:
    """Return a Decision on ``triggers``; an accept rests on the first of them."""
    return Decision(
        id=decision_id_for(eval_id),
        eval_id=eval_id,
        thread=thread,
        outcome=outcome,
        policy_version=version,
        triggers=tuple(one.id for one in triggers),
        gate=tuple(GateRecord(trigger=one.id, verdict=verdict) for one in triggers),
        decided_by=DecidedBy.RULES,
        reason="because",
        request=triggers[0].id if outcome in (Outcome.ACCEPT, Outcome.STOP) else None,
        mandate=mandate(triggers[0]) if outcome is Outcome.ACCEPT else None,
        title="Fix the typo" if outcome is Outcome.ACCEPT else None,
        stops=stops,
        decided_at=NOW,
    )


def empty_thread(key: ThreadKey = HOME) -> Thread:
    """Return a Thread that nobody wrote to yet."""
    return Thread(key=key)


def opening(of: Trigger) -> OpenTicket:
    """Return the command that opens a Ticket for a Trigger."""
    return OpenTicket(
        mandate=mandate(of),
        decision=decision_id_for(EvalId(f"{of.home}/eval/1")),
        title="Fix the typo",
        request=of,
        ref=ref(of),
        verdict=ADMITTED,
    )


def opened_ticket(of: Trigger | None = None) -> Ticket:
    """Return a Ticket that was just opened."""
    request = of or trigger(1)
    ticket = evolve_all(None, open_ticket(ticket_id_for(request.id), opening(request), NOW))
    assert ticket is not None
    return ticket


def delivery(
    of: Trigger, *, may_resume: bool = True, several: bool = False, known: bool | None = None
) -> DeliverTrigger:
    """Return the command that delivers a Trigger to a Ticket."""
    return DeliverTrigger(
        trigger=of,
        ref=ref(of),
        verdict=ADMITTED,
        may_resume=may_resume,
        several=several,
        known=known,
    )
