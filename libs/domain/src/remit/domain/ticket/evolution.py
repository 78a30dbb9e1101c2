"""What an event makes of a Ticket."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from remit.domain.assignment import Assignment, AssignmentState
from remit.domain.ids import (
    TicketId,
)
from remit.domain.ticket.events import (
    AssignmentEnded,
    AssignmentOffered,
    AssignmentStarted,
    AssignmentTakenOver,
    AttentionClosed,
    AttentionOpened,
    InputAdded,
    InputDelivered,
    InputRefused,
    MessageHeard,
    ReportRecorded,
    ReportTaken,
    ThreadJoined,
    TicketEnded,
    TicketEvent,
    TicketOpened,
    TicketResumed,
    TicketStopped,
    WriteRequested,
    WriteSettled,
)
from remit.domain.ticket.refusals import TicketUnknown
from remit.domain.ticket.state import RECENT, PendingWrite, Settled, Ticket, TicketStatus


def evolve(ticket: Ticket | None, event: TicketEvent) -> Ticket:
    """Return ``ticket`` after ``event``; only an opening makes one out of nothing (TKT-1)."""
    if isinstance(event, TicketOpened):
        return _opened(event)
    if ticket is None:
        raise TicketUnknown(TicketId("?"), event.event)
    return _evolve(ticket, event)


def evolve_all(ticket: Ticket | None, events: Sequence[TicketEvent]) -> Ticket | None:
    """Return ``ticket`` after all of ``events``."""
    return reduce(evolve, events, ticket)


def _opened(event: TicketOpened) -> Ticket:
    return Ticket(
        id=event.ticket,
        mandate=event.mandate,
        decision=event.decision,
        title=event.title,
        language=event.language,
        threads=event.threads,
        channels=event.channels,
        trace=event.trace,
    )


def _evolve(ticket: Ticket, event: TicketEvent) -> Ticket:
    match event:
        case TicketOpened():
            return _opened(event)
        case TicketResumed():
            return ticket.but(status=TicketStatus.OPEN, turns=ticket.turns + 1)
        case TicketStopped():
            return ticket.but(stopped=True, attention=None, turns=ticket.turns + 1)
        case TicketEnded():
            ended_at = ticket.turns + 1
            return ticket.but(status=TicketStatus.ENDED, attention=None, turns=ended_at)
        case InputAdded(ref=ref, position=position):
            return ticket.but(
                inputs=ref.number,
                waiting=(*ticket.waiting, ref),
                taken=ticket.taken.add(position) if position is not None else ticket.taken,
                heard_person=ticket.heard_person or ref.person,
            )
        case InputRefused(position=position):
            return ticket.but(taken=ticket.taken.add(position))
        case InputDelivered(number=number):
            waiting = tuple(ref for ref in ticket.waiting if ref.number > number)
            return ticket.but(delivered=number, waiting=waiting)
        case AssignmentOffered():
            offered = Assignment(
                id=event.assignment, number=event.number, offer=event.assignment, since=event.at
            )
            return ticket.but(assignment=offered)
        case AssignmentTakenOver():
            successor = Assignment(
                id=event.assignment,
                number=event.number,
                offer=event.offer,
                state=AssignmentState.RUNNING,
                host=event.host,
                since=event.at,
            )
            return ticket.but(assignment=successor)
        case AssignmentStarted():
            running = {"state": AssignmentState.RUNNING, "host": event.host, "since": event.at}
            return ticket.but(assignment=_changed(ticket.assignment, running))
        case AssignmentEnded():
            ended = {"state": AssignmentState.ENDED, "end": event.end, "since": event.at}
            return ticket.but(assignment=_changed(ticket.assignment, ended))
        case MessageHeard(message=message):
            return ticket.but(assignment=_changed(ticket.assignment, {"heard": message}))
        case ReportTaken(report=report):
            return ticket.but(report=report, heard_person=False)
        case ReportRecorded():
            return ticket
        case AttentionOpened(attention=attention):
            return ticket.but(attention=attention)
        case AttentionClosed():
            return ticket.but(attention=None)
        case WriteRequested(number=number, write=write, ends=ends):
            pending = PendingWrite(number=number, kind=write.kind, ends=ends)
            return ticket.but(writes=number, unsettled=(*ticket.unsettled, pending))
        case WriteSettled():
            settled = Settled(number=event.number, kind=event.kind, receipt=event.receipt)
            return ticket.but(
                unsettled=tuple(w for w in ticket.unsettled if w.number != event.number),
                settled=(*ticket.settled, settled)[-RECENT:],
            )
        case ThreadJoined(thread=thread):
            return ticket.but(threads=(*ticket.threads, thread))


def _changed(assignment: Assignment | None, changes: dict[str, object]) -> Assignment | None:
    return assignment.but(**changes) if assignment else None
