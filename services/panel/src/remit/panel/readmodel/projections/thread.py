"""The THREAD stream: Evals, Decisions and Subscriptions of each Thread."""

from __future__ import annotations

from functools import cache

from remit.bus.message import Delivery
from remit.domain.model import Model
from remit.domain.thread import (
    DecisionRecorded,
    DeliverySettled,
    EvalStarted,
    Thread,
    ThreadEvent,
    TriggerAppended,
    TriggerReturned,
)
from remit.panel.live import Change, ChangeKind
from remit.panel.readmodel.projections.commit import (
    CommitReader,
    UnknownEvent,
    moment_rows,
    reader,
)
from remit.panel.readmodel.rows import DecisionRow, Projected, Row, Tally, ThreadRow
from remit.panel.readmodel.times import micros

AGGREGATE = "thread"


class DecisionTaken(Model):
    """A recorded Decision as the timeline keeps it; the Decision itself has a table of its own."""

    decision: str
    ticket: str | None


@cache
def _commits() -> CommitReader[Thread, ThreadEvent]:
    return reader(Thread, ThreadEvent)


def project_thread(delivery: Delivery) -> Projected:
    """Return what a Thread's commit means for the read model."""
    at, events, state = _commits().read(delivery)
    decided = [event for event in events if isinstance(event, DecisionRecorded)]
    rows: list[Row] = [
        ThreadRow(
            key=state.key,
            position=delivery.sequence,
            at=micros(at),
            document=state.model_dump_json(exclude={"taken"}),
        ),
        *(
            DecisionRow(
                id=event.decision.id,
                thread=state.key,
                ticket=event.ticket,
                document=event.decision.model_dump_json(),
            )
            for event in decided
        ),
        *moment_rows(
            AGGREGATE,
            state.key,
            delivery,
            at,
            ((_kept(event), event.event, _triggers(event)) for event in events),
        ),
    ]
    about = {trigger for event in events for trigger in _triggers(event)}
    tickets = {subscription.ticket for subscription in state.subscriptions}
    return Projected(
        rows=tuple(rows),
        tallies=tuple(
            Tally("decision", event.decision.outcome, delivery.stored_at) for event in decided
        ),
        change=Change(
            kind=ChangeKind.THREAD,
            id=state.key,
            at=delivery.stored_at,
            about=(*about, *tickets),
            facts={
                "events": tuple(event.event for event in events),
                "outcome": decided[-1].decision.outcome if decided else None,
                "ticket": decided[-1].ticket if decided else None,
            },
        ),
    )


def _kept(event: ThreadEvent | UnknownEvent) -> Model:
    if isinstance(event, DecisionRecorded):
        return DecisionTaken(decision=event.decision.id, ticket=event.ticket)
    return event


def _triggers(event: ThreadEvent | UnknownEvent) -> tuple[str, ...]:
    match event:
        case TriggerAppended(ref=ref) | TriggerReturned(ref=ref) | DeliverySettled(ref=ref):
            return (ref.id,)
        case EvalStarted(batch=batch):
            return tuple(pending.ref.id for pending in batch)
        case DecisionRecorded(decision=decision):
            return decision.triggers
        case _:
            return ()
