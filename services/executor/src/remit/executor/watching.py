"""Watching one Ticket: its state as its last commit has it, and each further commit as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType

from pydantic import BaseModel, ConfigDict

from remit.bus import subjects
from remit.bus.errors import BusUnavailable
from remit.bus.message import Delivery
from remit.bus.ports import Reader
from remit.domain.ids import TicketId
from remit.domain.ticket import Ticket
from remit.runtime.wire import read

STREAM = "TICKET"


class _Commit(BaseModel):
    """What is needed of a commit (`remit.bus.commit_log`)."""

    model_config = ConfigDict(extra="ignore")

    state: Ticket


async def load_ticket(bus: Reader, ticket: TicketId) -> tuple[Ticket, int] | None:
    """Return a Ticket and its last commit's sequence, by the stream's leader; None if unknown."""
    last = await bus.last(STREAM, subjects.ticket(ticket), leader=True)
    return (_state_of(last), last.sequence) if last is not None else None


def _state_of(delivery: Delivery) -> Ticket:
    return read(delivery, _Commit).state


class TicketWatch:
    """A Ticket, kept up to date while the watch is open.

    Args:
        bus: Where its commits are.
        ticket: The Ticket as it was loaded.
        sequence: The sequence of the commit it was loaded from.
    """

    def __init__(self, bus: Reader, ticket: Ticket, sequence: int) -> None:
        self._bus = bus
        self._sequence = sequence
        self._changed = asyncio.Event()
        self._following: asyncio.Task[None] | None = None
        self.ticket = ticket

    async def __aenter__(self) -> TicketWatch:
        """Start to follow."""
        self._following = asyncio.create_task(self._follow(), name=f"watch {self.ticket.id}")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop to follow."""
        if self._following is not None:
            self._following.cancel()
            await asyncio.gather(self._following, return_exceptions=True)

    async def until(self, holds: Callable[[Ticket], bool]) -> Ticket:
        """Wait until ``holds`` is true of the Ticket, and return it.

        Raises:
            BusUnavailable: The bus was closed.
        """
        while not holds(self.ticket):
            if self._following is not None and self._following.done():
                self._following.result()
                raise BusUnavailable(f"follow {self.ticket.id}")
            changed = self._changed
            await changed.wait()
        return self.ticket

    async def _follow(self) -> None:
        subject = subjects.ticket(self.ticket.id)
        try:
            async for delivery in self._bus.follow(STREAM, subject, after=self._sequence):
                self.ticket = _state_of(delivery)
                self._wake()
        finally:
            self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
