"""Threads and Tickets on the bus: where their commits are, and in which shape."""

from __future__ import annotations

from remit.bus import subjects
from remit.bus.clock import Clock
from remit.bus.commit_log import JsonCommitLog
from remit.bus.ports import Bus
from remit.domain.thread import Thread, ThreadEvent
from remit.domain.ticket import Ticket, TicketEvent

OWNED = 1024
"""States that the service which commits keeps at hand."""
READ_ONLY = 0
"""A service that only reads keeps none: they would be stale before they were looked at again."""


def thread_log(
    bus: Bus, *, service: str, clock: Clock | None = None, keeps: int = READ_ONLY
) -> JsonCommitLog[Thread, ThreadEvent]:
    """Return the commits of Threads."""
    return JsonCommitLog(
        bus,
        kind="thread",
        stream="THREAD",
        subject_of=subjects.thread,
        state_type=Thread,
        event_type=ThreadEvent,
        source=f"/remit/{service}",
        clock=clock,
        cache_size=keeps,
    )


def ticket_log(
    bus: Bus, *, service: str, clock: Clock | None = None, keeps: int = READ_ONLY
) -> JsonCommitLog[Ticket, TicketEvent]:
    """Return the commits of Tickets."""
    return JsonCommitLog(
        bus,
        kind="ticket",
        stream="TICKET",
        subject_of=subjects.ticket,
        state_type=Ticket,
        event_type=TicketEvent,
        source=f"/remit/{service}",
        clock=clock,
        cache_size=keeps,
    )
