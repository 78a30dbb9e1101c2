"""Threads: Triggers in time order, their Subscriptions, one Eval at a time (THR-1..5).

A decider: `decide` says what a command leads to, `evolve` what an event makes of the Thread. The
Thread keeps references and the last few of everything; its full history is its earlier commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import reduce
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from remit.domain.decision import DecidedBy, Decision, Outcome
from remit.domain.gate import Verdict
from remit.domain.ids import (
    DecisionId,
    EvalId,
    PolicyVersion,
    ThreadKey,
    TicketId,
    TriggerId,
    decision_id_for,
    eval_id_for,
    ticket_id_for,
)
from remit.domain.model import Model
from remit.domain.positions import Positions
from remit.domain.routing import reached_by
from remit.domain.subscription import Standing, Subscription, SubscriptionKind
from remit.domain.trigger import Trigger, TriggerRef, in_time_order

M = TypeVar("M", bound=Model)

RECENT = 16
"""How many Triggers and Decisions a Thread keeps in sight."""
CORRELATED = 16
"""How many correlated Threads a Thread remembers."""


# -- state ----------------------------------------------------------------------------------


class Pending(Model):
    """A Trigger that waits for an Eval.

    Attributes:
        ref: The Trigger.
        returned: It came back from a Ticket that would not have it, or whose Executor handed
            it back; it enters Eval once, as if it had never been fanned out (SUB-9).
        tries: How many Evals of it ran out of time (EVL-5).
    """

    ref: TriggerRef
    returned: bool = False
    tries: int = 0


class RunningEval(Model):
    """The Eval that runs now; there is never another (THR-2).

    Attributes:
        id: Its id; a result under any other id is discarded.
        batch: What it judges, in time order.
        started_at: When it was asked for.
    """

    id: EvalId
    batch: tuple[Pending, ...]
    started_at: datetime


class DecisionSummary(Model):
    """A Decision as its Thread keeps it in sight; the whole of it is in the commit that took it."""

    id: DecisionId
    outcome: Outcome
    triggers: tuple[TriggerId, ...]
    reason: str
    ticket: TicketId | None = None
    decided_at: datetime


class FanOut(Model):
    """A person's Trigger on its way to several Tickets; it waits for their answers.

    Attributes:
        ref: The Trigger.
        waiting: The Tickets that have not answered.
        reached: One of them took it, so it takes no Eval (SUB-3).
    """

    ref: TriggerRef
    waiting: tuple[TicketId, ...]
    reached: bool = False


class Thread(Model):
    """A Thread as its last commit left it.

    Attributes:
        key: Its key.
        taken: The positions of the Triggers that were appended.
        recent: The last Triggers, in time order.
        pending: What waits for the next Eval, in time order.
        fan_outs: Deliveries whose answers decide whether an Eval is needed.
        running: The Eval that runs now.
        evals: How many were ever started.
        decisions: The last Decisions, oldest first.
        subscriptions: The Tickets on this Thread, ended ones too (THR-4).
        dropped: The last Tickets that were taken off this Thread; news of them is ignored.
        correlated: Threads that share a Trigger with this one: context, never a route (COR-1, COR-2).
    """

    key: ThreadKey
    taken: Positions = Positions()
    recent: tuple[TriggerRef, ...] = ()
    pending: tuple[Pending, ...] = ()
    fan_outs: tuple[FanOut, ...] = ()
    running: RunningEval | None = None
    evals: int = 0
    decisions: tuple[DecisionSummary, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    dropped: tuple[TicketId, ...] = ()
    correlated: tuple[ThreadKey, ...] = ()

    def subscription_of(self, ticket: TicketId) -> Subscription | None:
        """Return the Subscription of ``ticket``, if it has one here."""
        return next((sub for sub in self.subscriptions if sub.ticket == ticket), None)


# -- commands -------------------------------------------------------------------------------


class AppendTrigger(Model):
    """Take a Trigger.

    Attributes:
        trigger: The Trigger.
        ref: Its reference.
        verdict: What the gate says of its actor; it travels with what is fanned out.
        may_resume: The Policy lets its actor resume an ended Ticket from there (SUB-5).
        reach: Tickets that it reaches through its other Threads; the home Thread routes for all.
        known: What the history says, where the Thread itself no longer remembers.
    """

    command: Literal["append_trigger"] = "append_trigger"
    trigger: Trigger
    ref: TriggerRef
    verdict: Verdict
    may_resume: bool = False
    reach: tuple[TicketId, ...] = ()
    known: bool | None = None


class RecordDecision(Model):
    """Take what an Eval proposes.

    Attributes:
        proposal: The proposed Decision.
        current: The Policy version in force now.
        request: The Trigger that an accept rests on, whole.
        ref: Its reference.
    """

    command: Literal["record_decision"] = "record_decision"
    proposal: Decision
    current: PolicyVersion
    request: Trigger | None = None
    ref: TriggerRef | None = None


class EndEval(Model):
    """An attempt of an Eval ran out of time or came to nothing usable (EVL-5, EVL-8).

    Attributes:
        eval_id: The Eval.
        tries: How many attempts the configuration allows.
        current: The Policy version in force now.
        reason: What happened, in a sentence.
    """

    command: Literal["end_eval"] = "end_eval"
    eval_id: EvalId
    tries: int
    current: PolicyVersion
    reason: str


class DiscardEval(Model):
    """The Policy changed under a running Eval: ask again under the new version (POL-5)."""

    command: Literal["discard_eval"] = "discard_eval"
    eval_id: EvalId


class SubscribeTicket(Model):
    """Put a Ticket on this Thread."""

    command: Literal["subscribe_ticket"] = "subscribe_ticket"
    subscription: Subscription


class NoteStanding(Model):
    """A Ticket ended, was stopped, or was resumed.

    Attributes:
        subscription: Its Subscription here with its standing now. Older news than what the
            Thread has is ignored; news of a Ticket that is yet to be subscribed subscribes it.
    """

    command: Literal["note_standing"] = "note_standing"
    subscription: Subscription


class SettleDelivery(Model):
    """A Ticket answered a delivery: it took the Trigger, or would not have it."""

    command: Literal["settle_delivery"] = "settle_delivery"
    ref: TriggerRef
    ticket: TicketId
    taken: bool


class DropSubscriptions(Model):
    """A person drops every Subscription, or an Executor its own Ticket's (SUB-8).

    Attributes:
        executor_of: The Ticket whose Executor asks; None when a person does.
    """

    command: Literal["drop_subscriptions"] = "drop_subscriptions"
    executor_of: TicketId | None = None


ThreadCommand = Annotated[
    AppendTrigger
    | RecordDecision
    | EndEval
    | DiscardEval
    | SubscribeTicket
    | NoteStanding
    | SettleDelivery
    | DropSubscriptions,
    Field(discriminator="command"),
]


# -- events ---------------------------------------------------------------------------------


class TriggerAppended(Model):
    """A Trigger took its place.

    Attributes:
        ref: The Trigger.
        home: This is its home Thread, which routes it.
        reached: The Tickets it fans out to.
        evaluates: It waits for an Eval here.
        correlated: The Trigger's other Threads.
    """

    event: Literal["trigger_appended"] = "trigger_appended"
    ref: TriggerRef
    home: bool
    reached: tuple[TicketId, ...] = ()
    evaluates: bool = False
    correlated: tuple[ThreadKey, ...] = ()


class TriggerReturned(Model):
    """A Trigger that no Ticket would have waits for an Eval after all."""

    event: Literal["trigger_returned"] = "trigger_returned"
    ref: TriggerRef


class DeliverySettled(Model):
    """One of several Tickets answered a delivery."""

    event: Literal["delivery_settled"] = "delivery_settled"
    ref: TriggerRef
    ticket: TicketId
    taken: bool


class EvalStarted(Model):
    """A batch was put before an Eval."""

    event: Literal["eval_started"] = "eval_started"
    eval_id: EvalId
    batch: tuple[Pending, ...]
    at: datetime


class EvalDiscarded(Model):
    """An Eval came to nothing; its batch is judged again.

    Attributes:
        eval_id: The Eval.
        reason: Why.
        counts: It used up a try (EVL-5); a change of Policy does not (POL-5).
    """

    event: Literal["eval_discarded"] = "eval_discarded"
    eval_id: EvalId
    reason: str
    counts: bool = False


class DecisionRecorded(Model):
    """A Decision holds from now on.

    Attributes:
        decision: The Decision.
        ticket: The Ticket that an accept opens.
    """

    event: Literal["decision_recorded"] = "decision_recorded"
    decision: Decision
    ticket: TicketId | None = None


class TicketSubscribed(Model):
    """A Ticket is on this Thread from now on."""

    event: Literal["ticket_subscribed"] = "ticket_subscribed"
    subscription: Subscription


class StandingNoted(Model):
    """The Thread heard what became of a Ticket."""

    event: Literal["standing_noted"] = "standing_noted"
    ticket: TicketId
    standing: Standing
    turn: int


class SubscriptionDropped(Model):
    """A Ticket is on this Thread no longer."""

    event: Literal["subscription_dropped"] = "subscription_dropped"
    ticket: TicketId


ThreadEvent = Annotated[
    TriggerAppended
    | TriggerReturned
    | DeliverySettled
    | EvalStarted
    | EvalDiscarded
    | DecisionRecorded
    | TicketSubscribed
    | StandingNoted
    | SubscriptionDropped,
    Field(discriminator="event"),
]


# -- refusals -------------------------------------------------------------------------------


class ThreadRefusal(Exception):
    """A command that a Thread will not carry out."""


class HistoryNeeded(ThreadRefusal):
    """Only the Thread's history can tell whether it has this Trigger.

    Attributes:
        thread: The Thread.
        ref: The Trigger.
    """

    def __init__(self, thread: ThreadKey, ref: TriggerRef) -> None:
        super().__init__(f"{thread} no longer remembers whether it took {ref.id}")
        self.thread = thread
        self.ref = ref


class RequestMissing(ThreadRefusal):
    """A Decision starts or stops work, but the Trigger that asks for it is not at hand.

    Attributes:
        thread: The Thread.
        decision: The Decision.
    """

    def __init__(self, thread: ThreadKey, decision: DecisionId) -> None:
        super().__init__(f"{decision} came without the Trigger that asks for it")
        self.thread = thread
        self.decision = decision


class SubscriptionKept(ThreadRefusal):
    """An Executor may not drop this Subscription (SUB-8).

    Attributes:
        thread: The Thread.
        ticket: The Ticket.
        kind: Why not: it started there, or a Source made it follow.
    """

    def __init__(self, thread: ThreadKey, ticket: TicketId, kind: SubscriptionKind) -> None:
        super().__init__(f"{ticket} cannot leave {thread}: its Subscription is of kind {kind}")
        self.thread = thread
        self.ticket = ticket
        self.kind = kind


# -- decide ---------------------------------------------------------------------------------


class Taken(Model):
    """What one command of several led to.

    Attributes:
        before: The Thread before it.
        command: The command.
        events: What happened.
    """

    before: Thread
    command: ThreadCommand
    events: tuple[ThreadEvent, ...]


def decide(thread: Thread, command: ThreadCommand, now: datetime) -> list[ThreadEvent]:
    """Return what ``command`` leads to; nothing where it changes nothing.

    Raises:
        HistoryNeeded: The Thread cannot tell whether it has a Trigger already.
        RequestMissing: A Decision starts or stops work, and the Trigger that asks is not at hand.
        SubscriptionKept: An Executor may not drop that Subscription.
    """
    return [event for taken in decide_all(thread, [command], now) for event in taken.events]


def decide_all(thread: Thread, commands: Sequence[ThreadCommand], now: datetime) -> list[Taken]:
    """Return what ``commands`` lead to, one after the other, in one commit.

    What they leave waiting goes before one Eval together (THR-3).

    Raises:
        HistoryNeeded: The Thread cannot tell whether it has a Trigger already.
        RequestMissing: A Decision starts or stops work, and the Trigger that asks is not at hand.
        SubscriptionKept: An Executor may not drop that Subscription.
    """
    taken: list[Taken] = []
    for command in commands:
        events = _decide(thread, command, now)
        if events:
            taken.append(Taken.model_construct(before=thread, command=command, events=events))
            thread = evolve_all(thread, events)
    started = _start_next_eval(thread, now) if taken else ()
    if started:
        last = taken[-1]
        taken[-1] = last.model_copy(update={"events": (*last.events, *started)})
    return taken


def _decide(thread: Thread, command: ThreadCommand, now: datetime) -> tuple[ThreadEvent, ...]:
    match command:
        case AppendTrigger():
            return tuple(_append(thread, command))
        case RecordDecision():
            return tuple(_record(thread, command))
        case EndEval():
            return tuple(_end_eval(thread, command, now))
        case DiscardEval():
            return tuple(_discard(thread, command))
        case SubscribeTicket():
            return tuple(_subscribe(thread, command))
        case NoteStanding():
            return tuple(_note_standing(thread, command))
        case SettleDelivery():
            return tuple(_settle(thread, command))
        case DropSubscriptions():
            return tuple(_drop(thread, command))


def _append(thread: Thread, command: AppendTrigger) -> list[ThreadEvent]:
    held = thread.taken.holds(command.ref.position)
    if held is None:
        held = command.known
    if held is None:
        raise HistoryNeeded(thread.key, command.ref)
    if held:
        return []
    trigger = command.trigger
    home = trigger.home == thread.key
    reached = reached_by(trigger, thread.subscriptions, command.reach) if home else ()
    # Everything but a person's message that reaches a Ticket enters Eval (SUB-3).
    evaluates = home and not (reached and trigger.from_person)
    return [
        TriggerAppended(
            ref=command.ref,
            home=home,
            reached=reached,
            evaluates=evaluates,
            correlated=tuple(key for key in trigger.threads if key != thread.key),
        )
    ]


def _record(thread: Thread, command: RecordDecision) -> list[ThreadEvent]:
    proposal = command.proposal
    running = thread.running
    if running is None or running.id != proposal.eval_id:
        return []
    if proposal.policy_version != command.current:
        return [
            EvalDiscarded(
                eval_id=running.id,
                reason=f"made under {proposal.policy_version}, {command.current} is in force",
            )
        ]
    starts_or_stops = proposal.outcome in (Outcome.ACCEPT, Outcome.STOP)
    if starts_or_stops and (command.request is None or command.ref is None):
        raise RequestMissing(thread.key, proposal.id)
    if proposal.outcome is Outcome.ACCEPT and proposal.mandate is not None:
        ticket = ticket_id_for(proposal.mandate.trigger)
        subscription = Subscription(
            ticket=ticket,
            kind=SubscriptionKind.ORIGIN,
            title=proposal.title or "",
            scope=proposal.mandate.scope,
            since=proposal.decided_at,
        )
        return [
            DecisionRecorded(decision=proposal, ticket=ticket),
            TicketSubscribed(subscription=subscription),
        ]
    return [DecisionRecorded(decision=proposal)]


def _end_eval(thread: Thread, command: EndEval, now: datetime) -> list[ThreadEvent]:
    running = thread.running
    if running is None or running.id != command.eval_id:
        return []
    exhausted = tuple(p.ref.id for p in running.batch if p.tries + 1 >= command.tries)
    if not exhausted:
        return [EvalDiscarded(eval_id=running.id, reason=command.reason, counts=True)]
    return [
        DecisionRecorded(
            decision=Decision(
                id=decision_id_for(running.id),
                eval_id=running.id,
                thread=thread.key,
                outcome=Outcome.UNAVAILABLE,
                policy_version=command.current,
                triggers=exhausted,
                decided_by=DecidedBy.TIME,
                reason=command.reason,
                decided_at=now,
            )
        )
    ]


def _discard(thread: Thread, command: DiscardEval) -> list[ThreadEvent]:
    if thread.running is None or thread.running.id != command.eval_id:
        return []
    return [EvalDiscarded(eval_id=command.eval_id, reason="the Policy changed")]


def _subscribe(thread: Thread, command: SubscribeTicket) -> list[ThreadEvent]:
    if thread.subscription_of(command.subscription.ticket) is not None:
        return _note(thread, command.subscription)
    return [TicketSubscribed(subscription=command.subscription)]


def _note_standing(thread: Thread, command: NoteStanding) -> list[ThreadEvent]:
    ticket = command.subscription.ticket
    if thread.subscription_of(ticket) is None and ticket not in thread.dropped:
        # It overtook the message that subscribes the Ticket.
        return [TicketSubscribed(subscription=command.subscription)]
    return _note(thread, command.subscription)


def _note(thread: Thread, news: Subscription) -> list[ThreadEvent]:
    known = thread.subscription_of(news.ticket)
    if known is None or known.turn >= news.turn:
        return []
    return [StandingNoted(ticket=news.ticket, standing=news.standing, turn=news.turn)]


def _settle(thread: Thread, command: SettleDelivery) -> list[ThreadEvent]:
    fan_out = next((out for out in thread.fan_outs if out.ref.id == command.ref.id), None)
    if fan_out is None:
        if command.taken or _is_settled(thread, command.ref.id):
            return []
        return [TriggerReturned(ref=command.ref)]
    if command.ticket not in fan_out.waiting:
        return []
    settled = DeliverySettled(ref=command.ref, ticket=command.ticket, taken=command.taken)
    last = fan_out.waiting == (command.ticket,)
    if last and not (fan_out.reached or command.taken):
        return [settled, TriggerReturned(ref=command.ref)]
    return [settled]


def _is_settled(thread: Thread, trigger: TriggerId) -> bool:
    """Whether a Trigger that comes back already waits, runs or was decided here."""
    waiting = (*thread.pending, *(thread.running.batch if thread.running else ()))
    return any(pending.ref.id == trigger for pending in waiting) or any(
        trigger in decision.triggers for decision in thread.decisions
    )


def _drop(thread: Thread, command: DropSubscriptions) -> list[ThreadEvent]:
    if command.executor_of is None:
        return [SubscriptionDropped(ticket=sub.ticket) for sub in thread.subscriptions]
    subscription = thread.subscription_of(command.executor_of)
    if subscription is None:
        return []
    if subscription.kind in (SubscriptionKind.ORIGIN, SubscriptionKind.SOURCE):
        raise SubscriptionKept(thread.key, subscription.ticket, subscription.kind)
    return [SubscriptionDropped(ticket=subscription.ticket)]


def _start_next_eval(thread: Thread, now: datetime) -> list[ThreadEvent]:
    """Put everything that waits before one Eval, if none runs (THR-2, THR-3)."""
    if thread.running is not None or not thread.pending:
        return []
    return [
        EvalStarted(
            eval_id=eval_id_for(thread.key, thread.evals + 1),
            batch=thread.pending,
            at=now,
        )
    ]


# -- evolve ---------------------------------------------------------------------------------


def evolve(thread: Thread, event: ThreadEvent) -> Thread:
    """Return ``thread`` after ``event``."""
    match event:
        case TriggerAppended():
            return _after_append(thread, event)
        case TriggerReturned(ref=ref):
            return _update(thread, pending=_waiting(thread, Pending(ref=ref, returned=True)))
        case DeliverySettled():
            return _update(thread, fan_outs=_after_settling(thread.fan_outs, event))
        case EvalStarted():
            running = RunningEval(id=event.eval_id, batch=event.batch, started_at=event.at)
            return _update(thread, running=running, pending=(), evals=thread.evals + 1)
        case EvalDiscarded():
            return _after_discard(thread, event)
        case DecisionRecorded():
            return _after_decision(thread, event)
        case TicketSubscribed(subscription=subscription):
            dropped = tuple(one for one in thread.dropped if one != subscription.ticket)
            return _update(
                thread, subscriptions=(*thread.subscriptions, subscription), dropped=dropped
            )
        case StandingNoted():
            return _update(thread, subscriptions=_with_standing(thread.subscriptions, event))
        case SubscriptionDropped(ticket=ticket):
            kept = tuple(sub for sub in thread.subscriptions if sub.ticket != ticket)
            dropped = (*thread.dropped, ticket)[-RECENT:]
            return _update(thread, subscriptions=kept, dropped=dropped)


def evolve_all(thread: Thread, events: Sequence[ThreadEvent]) -> Thread:
    """Return ``thread`` after all of ``events``."""
    return reduce(evolve, events, thread)


def _after_append(thread: Thread, event: TriggerAppended) -> Thread:
    fan_outs = thread.fan_outs
    if event.ref.person and len(event.reached) > 1:
        fan_outs = (*fan_outs, FanOut(ref=event.ref, waiting=event.reached))
    correlated = tuple(dict.fromkeys((*thread.correlated, *event.correlated)))[-CORRELATED:]
    return _update(
        thread,
        taken=thread.taken.add(event.ref.position),
        recent=in_time_order((*thread.recent, event.ref))[-RECENT:],
        pending=_waiting(thread, Pending(ref=event.ref)) if event.evaluates else thread.pending,
        fan_outs=fan_outs,
        correlated=correlated,
    )


def _waiting(thread: Thread, *more: Pending) -> tuple[Pending, ...]:
    return tuple(sorted((*thread.pending, *more), key=lambda p: (p.ref.occurred_at, p.ref.id)))


def _after_settling(fan_outs: tuple[FanOut, ...], event: DeliverySettled) -> tuple[FanOut, ...]:
    kept: list[FanOut] = []
    for fan_out in fan_outs:
        if fan_out.ref.id != event.ref.id:
            kept.append(fan_out)
            continue
        waiting = tuple(ticket for ticket in fan_out.waiting if ticket != event.ticket)
        if waiting:
            reached = fan_out.reached or event.taken
            kept.append(_update(fan_out, waiting=waiting, reached=reached))
    return tuple(kept)


def _after_discard(thread: Thread, event: EvalDiscarded) -> Thread:
    batch = thread.running.batch if thread.running else ()
    if event.counts:
        batch = tuple(_update(pending, tries=pending.tries + 1) for pending in batch)
    return _update(thread, running=None, pending=_waiting(thread, *batch))


def _after_decision(thread: Thread, event: DecisionRecorded) -> Thread:
    """What the Decision does not name stays for the next Eval (EVL-10)."""
    decision = event.decision
    batch = thread.running.batch if thread.running else ()
    left = tuple(pending for pending in batch if pending.ref.id not in decision.triggers)
    if decision.outcome is Outcome.UNAVAILABLE:
        left = tuple(_update(pending, tries=pending.tries + 1) for pending in left)
    summary = DecisionSummary(
        id=decision.id,
        outcome=decision.outcome,
        triggers=decision.triggers,
        reason=decision.reason,
        ticket=event.ticket,
        decided_at=decision.decided_at,
    )
    return _update(
        thread,
        running=None,
        pending=_waiting(thread, *left),
        decisions=(*thread.decisions, summary)[-RECENT:],
    )


def _with_standing(
    subscriptions: tuple[Subscription, ...], event: StandingNoted
) -> tuple[Subscription, ...]:
    return tuple(
        _update(sub, standing=event.standing, turn=event.turn)
        if sub.ticket == event.ticket
        else sub
        for sub in subscriptions
    )


def _update(model: M, **changes: object) -> M:
    return model.model_copy(update=changes)
