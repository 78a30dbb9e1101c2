"""Time, injected: the system's own, or one that a test moves by hand."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for ``seconds``."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""
        return datetime.now(UTC)

    async def sleep(self, seconds: float) -> None:
        """Wait for ``seconds``."""
        await asyncio.sleep(seconds)


class ManualClock:
    """A clock that stands still until a test moves it.

    Args:
        start: What it shows at first.
    """

    _TURNS = 25
    """Turns of the event loop that woken tasks get before the clock moves on. Enough for a
    chain of some awaits; a test that needs more can advance by 0."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = start
        self._order = count()
        self._sleepers: list[tuple[datetime, int, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        """Return the time it was moved to."""
        return self._now

    async def sleep(self, seconds: float) -> None:
        """Wait until a test has moved the clock by ``seconds``; 0 only yields."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        due = self._now + timedelta(seconds=seconds)
        heapq.heappush(self._sleepers, (due, next(self._order), woken))
        await woken

    async def advance(self, seconds: float) -> None:
        """Move on, waking every sleeper at its own time and letting it run."""
        end = self._now + timedelta(seconds=seconds)
        await self._let_run()
        while self._sleepers and self._sleepers[0][0] <= end:
            due, _, woken = heapq.heappop(self._sleepers)
            self._now = max(self._now, due)
            if not woken.done():
                woken.set_result(None)
                await self._let_run()
        self._now = end
        await self._let_run()

    async def _let_run(self) -> None:
        for _ in range(self._TURNS):
            await asyncio.sleep(0)


async def sleep_unless(stopping: asyncio.Event, clock: Clock, seconds: float) -> None:
    """Wait for ``seconds``, or until ``stopping`` is set if that is sooner."""
    sleeping = asyncio.ensure_future(clock.sleep(seconds))
    stopped = asyncio.ensure_future(stopping.wait())
    try:
        await asyncio.wait({sleeping, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        sleeping.cancel()
        stopped.cancel()
