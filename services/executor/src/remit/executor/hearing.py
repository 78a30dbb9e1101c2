"""Reading a Ticket's Inputs: in order, each once, without gaps (INP-1).

Relays may repeat Inputs and change their order; the numbers put that right. A person's stop is
heeded at once, whatever is still missing before it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from remit.bus import subjects
from remit.bus.errors import BusUnavailable
from remit.bus.ports import Reader
from remit.domain.ids import TicketId
from remit.domain.inputs import Input, InputKind
from remit.runtime.wire import PayloadUnreadable, read, trace_of
from remit.telemetry.logs import logger

STREAM = "INPUT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrived:
    """An Input and the trace it came on."""

    input: Input
    trace: str | None

    @property
    def number(self) -> int:
        """Its place."""
        return self.input.number

    @property
    def from_person(self) -> bool:
        """Whether a person wants something, as opposed to a bot, a provider or the Policy."""
        trigger = self.input.trigger
        if trigger is not None:
            return trigger.from_person
        return self.input.kind in (InputKind.TEXT, InputKind.RESUME)


class InputFeed:
    """The Inputs of one Ticket from a number on, while the feed is open.

    Args:
        bus: Where they are.
        ticket: The Ticket.
        first: The first number that is wanted.
    """

    def __init__(self, bus: Reader, ticket: TicketId, *, first: int) -> None:
        self._bus = bus
        self._ticket = ticket
        self._next = first
        self._early: dict[int, Arrived] = {}
        self._ready: list[Arrived] = []
        self._changed = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self._log = logger("remit.executor.hearing").bind(ticket_id=ticket)
        self.stopped = asyncio.Event()

    async def __aenter__(self) -> InputFeed:
        """Start to read."""
        self._following = asyncio.create_task(self._follow(), name=f"inputs {self._ticket}")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop to read."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    @property
    def waiting(self) -> tuple[Arrived, ...]:
        """The Inputs that can be taken now, in order."""
        return tuple(self._ready)

    def take(self) -> tuple[Arrived, ...]:
        """Take the Inputs that can be taken now, in order."""
        taken, self._ready = tuple(self._ready), []
        return taken

    async def wait(self, *, beyond: int = 0) -> None:
        """Wait until more than ``beyond`` Inputs can be taken.

        Raises:
            BusUnavailable: The bus was closed.
        """
        await self._until(lambda: len(self._ready) > beyond)

    async def wait_for(self, number: int) -> None:
        """Wait until every Input up to ``number`` has come.

        Raises:
            BusUnavailable: The bus was closed.
        """
        await self._until(lambda: self._next > number)

    async def _until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            if self._following is not None and self._following.done():
                self._following.result()
                raise BusUnavailable(f"read the Inputs of {self._ticket}")
            changed = self._changed
            await changed.wait()

    async def _follow(self) -> None:
        try:
            async for delivery in self._bus.follow(STREAM, subjects.input_(self._ticket)):
                try:
                    arrived = Arrived(input=read(delivery, Input), trace=trace_of(delivery))
                except PayloadUnreadable as error:
                    # Its number is missing from now on, which the Ticket shows as undelivered.
                    self._log.error("an Input cannot be read", reason=str(error))
                    continue
                self._arrive(arrived)
        finally:
            self._wake()

    def _arrive(self, arrived: Arrived) -> None:
        if arrived.input.kind is InputKind.STOP:
            self.stopped.set()
        if arrived.number < self._next:
            return
        self._early.setdefault(arrived.number, arrived)
        while (following := self._early.pop(self._next, None)) is not None:
            self._next += 1
            if following.input.kind is not InputKind.STOP:
                self._ready.append(following)
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


async def earlier_inputs(bus: Reader, ticket: TicketId, *, before: int) -> tuple[Arrived, ...]:
    """Return the Inputs with numbers below ``before`` that the stream still holds, in order."""
    found: dict[int, Arrived] = {}
    async for delivery in bus.history(STREAM, subjects.input_(ticket)):
        arrived = Arrived(input=read(delivery, Input), trace=trace_of(delivery))
        if arrived.number < before and arrived.input.kind is not InputKind.STOP:
            found.setdefault(arrived.number, arrived)
    return tuple(found[number] for number in sorted(found))
