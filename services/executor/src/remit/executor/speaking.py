"""What a host says for its Assignment: numbered from 1, one after the other, each stored once.

The Ticket takes them in order and each once, so a number is used for one message only, and the next
one is sent when the bus has the one before. A message that was begun is sent even if whoever asked
for it is gone: a tool call that is cancelled half-way leaves no gap.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

from remit.bus.clock import Clock
from remit.bus.errors import BusUnavailable
from remit.bus.ports import Publisher
from remit.domain.ids import AssignmentId, TicketId
from remit.domain.messages import FromAssignment
from remit.domain.ticket import ExecutorCommand
from remit.runtime.backoff import delays
from remit.runtime.wire import message_of
from remit.telemetry.logs import logger

SOURCE = "executor"

Say = Callable[[AssignmentId, int], ExecutorCommand]
"""Makes a message of the Assignment and the message's number."""


class Unheard(Exception):
    """A message could not be stored for so long that the host gives the Assignment up.

    Attributes:
        assignment: The Assignment.
        message: The message's number.
    """

    def __init__(self, assignment: AssignmentId, message: int) -> None:
        super().__init__(f"{assignment}: the bus did not take message {message}")
        self.assignment = assignment
        self.message = message


class Spokesman:
    """Says things for one Assignment.

    Args:
        bus: Where it says them.
        ticket: The Ticket.
        assignment: The Assignment.
        heard: The last message that the Ticket has taken from it.
        clock: Paces tries.
        patience: How long the bus may be away, in seconds.

    Attributes:
        unheard: A message could not be stored. Nothing more is said for the Assignment: the number
            may be used up.
    """

    def __init__(
        self,
        bus: Publisher,
        ticket: TicketId,
        assignment: AssignmentId,
        *,
        heard: int,
        clock: Clock,
        patience: float,
    ) -> None:
        self._bus = bus
        self._ticket = ticket
        self._assignment = assignment
        self._said = heard
        self._clock = clock
        self._patience = patience
        self._turn = asyncio.Lock()
        self._under_way: set[asyncio.Task[int]] = set()
        self._log = logger("remit.executor.speaking").bind(ticket_id=ticket)
        self.unheard = asyncio.Event()

    async def say(self, say: Say, *, trace: str | None = None) -> int:
        """Store one message and return its number.

        Args:
            say: Makes the message.
            trace: The trace that it goes on.

        Raises:
            Unheard: The bus was away for too long.
            PublishRefused: The server will not take it, such as one that is too large.
        """
        task = asyncio.create_task(self._say(say, trace))
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    async def flush(self) -> None:
        """Wait until everything that was begun is stored, or was given up on."""
        if self._under_way:
            await asyncio.wait(set(self._under_way))

    def _ended(self, task: asyncio.Task[int]) -> None:
        self._under_way.discard(task)
        if not task.cancelled():
            task.exception()  # Whoever asked may be gone, and what failed is logged and told.

    async def _say(self, say: Say, trace: str | None) -> int:
        async with self._turn:
            number = self._said + 1
            if self.unheard.is_set():
                raise Unheard(self._assignment, number)
            said = say(self._assignment, number)
            message = message_of(
                FromAssignment(ticket=self._ticket, said=said),
                id=f"{self._assignment}/{number}",
                source=SOURCE,
                trace=trace,
            )
            give_up = self._clock.now().timestamp() + self._patience
            for delay in delays():
                with suppress(BusUnavailable):
                    await self._bus.publish(message)
                    self._said = number
                    return number
                if self._clock.now().timestamp() >= give_up:
                    break
                await self._clock.sleep(delay)
            self._log.warning("the bus does not take what is said", message=number)
            self.unheard.set()
            raise Unheard(self._assignment, number)
