"""The TICKET stream: the life of each Ticket, its Channel writes and their receipts among it."""

from __future__ import annotations

from functools import cache

from remit.bus.message import Delivery
from remit.domain.ticket import (
    InputAdded,
    InputRefused,
    MessageHeard,
    Ticket,
    TicketEvent,
    TicketOpened,
    WriteSettled,
)
from remit.panel.live import Change, ChangeKind
from remit.panel.readmodel.projections.commit import (
    CommitReader,
    UnknownEvent,
    moment_rows,
    reader,
)
from remit.panel.readmodel.rows import Projected, Row, Tally, TicketRow
from remit.panel.readmodel.search import searchable
from remit.panel.readmodel.times import micros

AGGREGATE = "ticket"


@cache
def _commits() -> CommitReader[Ticket, TicketEvent]:
    return reader(Ticket, TicketEvent)


def project_ticket(delivery: Delivery) -> Projected:
    """Return what a Ticket's commit means for the read model."""
    at, events, state = _commits().read(delivery)
    # That a message was heard says nothing that the event after it does not.
    shown = [event for event in events if not isinstance(event, MessageHeard)]
    attention = state.attention
    rows: list[Row] = [
        TicketRow(
            id=state.id,
            position=delivery.sequence,
            title=state.title,
            searchable=searchable(state.title),
            source=state.mandate.source,
            status=state.status,
            stage=state.stage,
            stopped=int(state.stopped),
            asked_at=micros(attention.asked_at) if attention else None,
            opened_at=micros(state.mandate.granted_at),
            at=micros(at),
            document=state.model_dump_json(exclude={"taken"}),
        ),
        *moment_rows(
            AGGREGATE,
            state.id,
            delivery,
            at,
            ((event, event.event, _triggers(event)) for event in shown),
        ),
    ]
    return Projected(
        rows=tuple(rows),
        tallies=tuple(
            Tally("ticket", "opened", delivery.stored_at)
            for event in events
            if isinstance(event, TicketOpened)
        ),
        change=Change(
            kind=ChangeKind.TICKET,
            id=state.id,
            at=delivery.stored_at,
            about=(
                *(trigger for event in shown for trigger in _triggers(event)),
                *(thread.key for thread in state.threads),
            ),
            facts={
                "title": state.title,
                "status": state.status,
                "stage": state.stage,
                "events": tuple(event.event for event in shown),
                "urls": tuple(
                    event.receipt.url
                    for event in events
                    if isinstance(event, WriteSettled) and event.receipt.url
                ),
            },
        ),
    )


def _triggers(event: TicketEvent | UnknownEvent) -> tuple[str, ...]:
    match event:
        case TicketOpened(mandate=mandate):
            return (mandate.trigger,)
        case InputAdded(ref=ref) if ref.trigger is not None:
            return (ref.trigger,)
        case InputRefused(ref=ref):
            return (ref.id,)
        case _:
            return ()
