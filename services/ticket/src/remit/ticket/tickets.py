"""Tickets on the bus: commands in, one fenced commit out."""

from __future__ import annotations

from remit.bus import subjects
from remit.bus.clock import Clock
from remit.bus.commits import CommitLog, Step
from remit.bus.ports import Reader
from remit.domain import effects
from remit.domain.disposition import Disposition
from remit.domain.ids import TicketId
from remit.domain.ticket import (
    DeliverTrigger,
    InputAdded,
    InputRefused,
    OpenTicket,
    Ticket,
    TicketCommand,
    TicketEvent,
    TicketHistoryNeeded,
    TicketUnknown,
    decide,
    evolve_all,
    open_ticket,
)
from remit.runtime.wire import message_of_effect
from remit.ticket.dispositions import Dispositions
from remit.ticket.history import was_taken
from remit.ticket.threads import SOURCE


class Tickets:
    """The Tickets, as the ticket service owns them.

    Args:
        log: Their commits.
        bus: Their earlier commits, for what a Ticket no longer remembers.
        dispositions: Told of every Disposition that a commit settled.
        clock: The time of the events.
    """

    def __init__(
        self,
        log: CommitLog[Ticket, TicketEvent],
        bus: Reader,
        dispositions: Dispositions,
        clock: Clock,
    ) -> None:
        self._log = log
        self._bus = bus
        self._dispositions = dispositions
        self._clock = clock

    async def ask(self, ticket: TicketId, command: TicketCommand, *, commit_id: str) -> None:
        """Carry out ``command`` in one commit.

        Raises:
            TicketUnknown: No Eval's accept has opened it, or not yet.
            MessageTooEarly: An Executor's earlier message has not come yet.
            Contended: Other replicas kept coming first.
            BusUnavailable: It may have been committed; the same call again is safe.
        """
        try:
            await self._commit(ticket, command, commit_id)
        except TicketHistoryNeeded as unsure:
            if not isinstance(command, DeliverTrigger):
                raise
            known = await self._was_taken(ticket, unsure.ref.position)
            knowing = command.model_copy(update={"known": known})
            await self._commit(ticket, knowing, commit_id)

    async def _was_taken(self, ticket: TicketId, position: int) -> bool:
        subject = subjects.ticket(ticket)
        return await was_taken(
            self._bus, "TICKET", subject, InputAdded, position
        ) or await was_taken(self._bus, "TICKET", subject, InputRefused, position)

    async def _commit(self, ticket: TicketId, command: TicketCommand, commit_id: str) -> None:
        now = self._clock.now()
        settled: list[tuple[Disposition, str | None]] = []

        def step(state: Ticket | None) -> Step[Ticket, TicketEvent] | None:
            settled.clear()
            if state is not None:
                events = decide(state, command, now)
            elif isinstance(command, OpenTicket):
                events = open_ticket(ticket, command, now)
            else:
                raise TicketUnknown(ticket, command.command)
            after = evolve_all(state, events)
            if after is None or not events:
                return None
            caused = effects.of_ticket(after, command, events)
            settled.extend(
                (effect.payload, effect.trace)
                for effect in caused
                if isinstance(effect.payload, Disposition)
            )
            return Step(
                events=events,
                state=after,
                outbox=[message_of_effect(effect, source=SOURCE) for effect in caused],
            )

        committed = await self._log.transact(ticket, commit_id, step)
        if committed.changed:
            self._dispositions.settled(settled)
