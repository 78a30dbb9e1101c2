"""Taking an Assignment that was offered, and confirming a stop that a lost host cannot (ASG-1, ASG-7)."""

from __future__ import annotations

import asyncio

from remit.bus.ports import Publisher
from remit.domain.assignment import AssignmentState
from remit.domain.ids import HostName
from remit.domain.messages import FromAssignment, Offer
from remit.domain.ticket import ConfirmStop, TakeAssignment, Ticket, TicketStatus
from remit.executor.speaking import SOURCE
from remit.executor.watching import TicketWatch
from remit.runtime.wire import message_of

TAKE_LIMIT = 30.0
"""Seconds that the Ticket has to say whose the Assignment is."""


def is_open(ticket: Ticket, offer: Offer) -> bool:
    """Say whether there is anything left to do for ``offer``."""
    current = ticket.assignment
    return (
        current is not None
        and current.offer == offer.assignment
        and current.state is not AssignmentState.ENDED
        and ticket.status is TicketStatus.OPEN
    )


def is_hosted_by(ticket: Ticket, offer: Offer, host: HostName) -> bool:
    """Say whether the Assignment that came of ``offer`` runs on ``host``."""
    current = ticket.assignment
    return is_open(ticket, offer) and current is not None and current.host == host


async def take(
    bus: Publisher, watch: TicketWatch, offer: Offer, host: HostName, *, trace: str | None
) -> Ticket | None:
    """Take the Assignment; return the Ticket once it is ours, None where it will not be.

    Args:
        bus: Where it is asked for.
        watch: The Ticket.
        offer: What was offered.
        host: Who takes it.
        trace: The trace that the offer came on.

    Raises:
        TimeoutError: The Ticket did not say within `TAKE_LIMIT`.
        BusUnavailable: The bus did not take the request.
    """
    asked = FromAssignment(
        ticket=offer.ticket, said=TakeAssignment(assignment=offer.assignment, host=host)
    )
    id = f"{offer.assignment}/take/{host}"
    await bus.publish(message_of(asked, id=id, source=SOURCE, trace=trace))
    async with asyncio.timeout(TAKE_LIMIT):
        ticket = await watch.until(
            lambda ticket: (
                is_hosted_by(ticket, offer, host) or ticket.stopped or not is_open(ticket, offer)
            )
        )
    return ticket if is_hosted_by(ticket, offer, host) else None


async def confirm_for_the_lost(
    bus: Publisher, watch: TicketWatch, offer: Offer, host: HostName
) -> None:
    """Confirm a person's stop in place of a host that died before it could (field report C7).

    A stopped Ticket gives its Assignment to nobody. That the offer came up again and the Session's
    lease was free says that its host is gone, and the agent with it.

    Raises:
        TimeoutError: The Ticket did not take it within `TAKE_LIMIT`.
        BusUnavailable: The bus did not take it.
    """
    async with asyncio.timeout(TAKE_LIMIT):
        while is_open(watch.ticket, offer) and watch.ticket.assignment is not None:
            current = watch.ticket.assignment
            said = ConfirmStop(assignment=current.id, message=current.heard + 1)
            await bus.publish(
                message_of(
                    FromAssignment(ticket=offer.ticket, said=said),
                    id=f"{current.id}/stop/{host}/{said.message}",
                    source=SOURCE,
                )
            )
            # A message that the lost host had sent before may take this number first.
            await watch.until(
                lambda ticket, heard=current.heard: (  # type: ignore[misc]
                    not is_open(ticket, offer)
                    or (ticket.assignment is not None and ticket.assignment.heard > heard)
                )
            )
