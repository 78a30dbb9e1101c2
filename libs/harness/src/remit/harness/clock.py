"""Time, ids and waiting, as things that are passed in."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

IdSource = Callable[[], str]
"""Gives a new id at each call; no two are equal."""

Sleep = Callable[[float], Awaitable[None]]
"""Waits that many seconds; cancelling it ends the wait at once."""


class Clock(Protocol):
    """Tells the time of day."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, as an integer."""
        ...


@dataclass(frozen=True, slots=True)
class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        """Milliseconds since the epoch, as an integer."""
        return time.time_ns() // 1_000_000


def random_id() -> str:
    """A random UUID in its usual text form."""
    return str(uuid.uuid4())


async def wait_seconds(seconds: float) -> None:
    """Wait on the running event loop."""
    await asyncio.sleep(seconds)
