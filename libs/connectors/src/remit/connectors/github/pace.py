"""One account's turns to write, and the times in which it must leave GitHub alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from remit.connectors.clock import Clock


class Pace:
    """Keeps an account within GitHub's wishes.

    GitHub asks for one write at a time with at least a second between two, and for silence
    after it answered that a limit was reached. See
    https://docs.github.com/en/rest/using-the-rest-api/best-practices-for-using-the-rest-api.

    Args:
        interval: Time between two writes.
        clock: Tells the time and waits.
    """

    def __init__(self, interval: timedelta, clock: Clock) -> None:
        self._interval = interval
        self._clock = clock
        self._turn = asyncio.Lock()
        self._next_write: datetime | None = None
        self._silent_until: datetime | None = None

    def silence(self) -> timedelta:
        """Return how much longer GitHub is to be left alone."""
        if self._silent_until is None:
            return timedelta(0)
        return max(self._silent_until - self._clock.now(), timedelta(0))

    def fall_silent(self, wait: timedelta) -> None:
        """Leave GitHub alone for ``wait``."""
        self._silent_until = self._clock.now() + wait

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the account's next turn to write, and keep it while writing."""
        async with self._turn:
            if self._next_write is not None:
                wait = (self._next_write - self._clock.now()).total_seconds()
                if wait > 0:
                    await self._clock.sleep(wait)
            try:
                yield
            finally:
                self._next_write = self._clock.now() + self._interval
