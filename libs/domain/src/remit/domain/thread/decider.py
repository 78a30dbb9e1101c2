"""What a command to a Thread leads to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from remit.domain.decision import DecidedBy, Decision, Outcome
from remit.domain.ids import (
    TriggerId,
    decision_id_for,
    eval_id_for,
    ticket_id_for,
)
from remit.domain.model import Model
from remit.domain.routing import reached_by
from remit.domain.subscription import Subscription, SubscriptionKind
from remit.domain.thread.commands import (
    AppendTrigger,
    DiscardEval,
    DropSubscriptions,
    EndEval,
    NoteStanding,
    RecordDecision,
    SettleDelivery,
    SubscribeTicket,
    ThreadCommand,
)
from remit.domain.thread.events import (
    DecisionRecorded,
    DeliverySettled,
    EvalDiscarded,
    EvalStarted,
    StandingNoted,
    SubscriptionDropped,
    ThreadEvent,
    TicketSubscribed,
    TriggerAppended,
    TriggerReturned,
)
from remit.domain.thread.evolution import evolve_all
from remit.domain.thread.refusals import HistoryNeeded, RequestMissing, SubscriptionKept
from remit.domain.thread.state import Thread


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
