"""Trying again, within a bound: what a lost leader, a restart or a lost packet asks for."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator

WITHIN = 15.0
"""Seconds within which a call gets through or is given up. A stream that lost its leader was seen
to take 5 s for the next one, so nothing gives up before 10 s."""

TRY = 3.0
"""Seconds that one try may take."""

_FIRST_DELAY = 0.05
_LONGEST_DELAY = 1.0


async def tries(rng: random.Random, within: float = WITHIN) -> AsyncIterator[float]:
    """Yield how long each try may take, with jittered back-off in between, until time is up."""
    loop = asyncio.get_running_loop()
    end = loop.time() + within
    delay = _FIRST_DELAY
    while (left := end - loop.time()) > 0:
        yield min(left, TRY)
        await asyncio.sleep(min(rng.uniform(delay / 2, delay), max(end - loop.time(), 0)))
        delay = min(delay * 2, _LONGEST_DELAY)
