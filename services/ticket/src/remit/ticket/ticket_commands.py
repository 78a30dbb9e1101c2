"""Carry out what other parts ask of a Ticket, and take what Executors say for it."""

from __future__ import annotations

from datetime import timedelta

from remit.bus.errors import Contended
from remit.bus.message import Delivery
from remit.bus.ports import Done, Later, Never, Outcome
from remit.domain.ids import TicketId
from remit.domain.messages import FromAssignment, ToTicket
from remit.domain.ticket import MessageTooEarly, TicketCommand, TicketUnknown
from remit.runtime.wire import PayloadUnreadable, read
from remit.telemetry import names, tracing
from remit.ticket.tickets import Tickets

_SOON = timedelta(milliseconds=20)


class TicketCommands:
    """Handles the commands to Tickets."""

    def __init__(self, tickets: Tickets) -> None:
        self._tickets = tickets

    async def __call__(self, delivery: Delivery) -> Outcome:
        """Carry out one command."""
        try:
            asked = read(delivery, ToTicket)
        except PayloadUnreadable as error:
            return Never(str(error))
        return await carry_out(self._tickets, asked.ticket, asked.ask, delivery)


class TakeReports:
    """Handles what Executor instances say for their Assignments."""

    def __init__(self, tickets: Tickets) -> None:
        self._tickets = tickets

    async def __call__(self, delivery: Delivery) -> Outcome:
        """Take one message of an Assignment."""
        try:
            heard = read(delivery, FromAssignment)
        except PayloadUnreadable as error:
            return Never(str(error))
        return await carry_out(self._tickets, heard.ticket, heard.said, delivery)


async def carry_out(
    tickets: Tickets, ticket: TicketId, command: TicketCommand, delivery: Delivery
) -> Outcome:
    """Put ``command`` to ``ticket``; what comes too early is put back for a moment."""
    tracing.annotate({names.TICKET_ID: ticket})
    try:
        await tickets.ask(ticket, command, commit_id=delivery.message.id)
    except MessageTooEarly as error:
        return Later(str(error), _SOON)
    except (TicketUnknown, Contended) as error:
        return Later(str(error))
    return Done()
