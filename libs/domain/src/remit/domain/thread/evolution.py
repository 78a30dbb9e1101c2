"""What an event makes of a Thread."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from remit.domain.decision import Outcome
from remit.domain.subscription import Subscription
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
from remit.domain.thread.state import (
    CORRELATED,
    RECENT,
    DecisionSummary,
    FanOut,
    Pending,
    RunningEval,
    Thread,
)
from remit.domain.trigger import in_time_order


def evolve(thread: Thread, event: ThreadEvent) -> Thread:
    """Return ``thread`` after ``event``."""
    match event:
        case TriggerAppended():
            return _after_append(thread, event)
        case TriggerReturned(ref=ref):
            return thread.but(pending=_waiting(thread, Pending(ref=ref, returned=True)))
        case DeliverySettled():
            return thread.but(fan_outs=_after_settling(thread.fan_outs, event))
        case EvalStarted():
            running = RunningEval(id=event.eval_id, batch=event.batch, started_at=event.at)
            return thread.but(running=running, pending=(), evals=thread.evals + 1)
        case EvalDiscarded():
            return _after_discard(thread, event)
        case DecisionRecorded():
            return _after_decision(thread, event)
        case TicketSubscribed(subscription=subscription):
            dropped = tuple(one for one in thread.dropped if one != subscription.ticket)
            return thread.but(subscriptions=(*thread.subscriptions, subscription), dropped=dropped)
        case StandingNoted():
            return thread.but(subscriptions=_with_standing(thread.subscriptions, event))
        case SubscriptionDropped(ticket=ticket):
            kept = tuple(sub for sub in thread.subscriptions if sub.ticket != ticket)
            dropped = (*thread.dropped, ticket)[-RECENT:]
            return thread.but(subscriptions=kept, dropped=dropped)


def evolve_all(thread: Thread, events: Sequence[ThreadEvent]) -> Thread:
    """Return ``thread`` after all of ``events``."""
    return reduce(evolve, events, thread)


def _after_append(thread: Thread, event: TriggerAppended) -> Thread:
    fan_outs = thread.fan_outs
    if event.ref.person and len(event.reached) > 1:
        fan_outs = (*fan_outs, FanOut(ref=event.ref, waiting=event.reached))
    correlated = tuple(dict.fromkeys((*thread.correlated, *event.correlated)))[-CORRELATED:]
    return thread.but(
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
            kept.append(fan_out.but(waiting=waiting, reached=reached))
    return tuple(kept)


def _after_discard(thread: Thread, event: EvalDiscarded) -> Thread:
    batch = thread.running.batch if thread.running else ()
    if event.counts:
        batch = tuple(pending.but(tries=pending.tries + 1) for pending in batch)
    return thread.but(running=None, pending=_waiting(thread, *batch))


def _after_decision(thread: Thread, event: DecisionRecorded) -> Thread:
    """What the Decision does not name stays for the next Eval (EVL-10)."""
    decision = event.decision
    batch = thread.running.batch if thread.running else ()
    left = tuple(pending for pending in batch if pending.ref.id not in decision.triggers)
    if decision.outcome is Outcome.UNAVAILABLE:
        left = tuple(pending.but(tries=pending.tries + 1) for pending in left)
    summary = DecisionSummary(
        id=decision.id,
        outcome=decision.outcome,
        triggers=decision.triggers,
        reason=decision.reason,
        ticket=event.ticket,
        decided_at=decision.decided_at,
    )
    return thread.but(
        running=None,
        pending=_waiting(thread, *left),
        decisions=(*thread.decisions, summary)[-RECENT:],
    )


def _with_standing(
    subscriptions: tuple[Subscription, ...], event: StandingNoted
) -> tuple[Subscription, ...]:
    return tuple(
        sub.but(standing=event.standing, turn=event.turn) if sub.ticket == event.ticket else sub
        for sub in subscriptions
    )
