"""Load: what is poured in, and when it comes out at the other end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

import nats
from nats.aio.msg import Msg

from bench.figures import Flow
from remit.bus.message import Message
from remit.bus.nats import NatsBus

END_WITHIN = 120.0
"""Seconds that the last one has to come out."""


class Meter:
    """Pours messages in and notes when each comes out.

    Args:
        url: The server.
        ends: The subject on which things come out.
        key_of: Which thing a message that came out is about; None for none of ours.
    """

    def __init__(self, url: str, ends: str, key_of: Callable[[Msg], str | None]) -> None:
        self._url = url
        self._ends = ends
        self._key_of = key_of
        self._out: dict[str, float] = {}
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Meter:
        self._listener = await nats.connect(self._url)
        await self._listener.subscribe(self._ends, cb=self._came_out)
        self._bus = await NatsBus.connect(self._url, name="bench")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._listener.close()
        await self._bus.close()

    async def _came_out(self, message: Msg) -> None:
        key = self._key_of(message)
        if key is not None:
            self._out.setdefault(key, time.perf_counter())
            self._changed.set()

    async def pour(self, messages: dict[str, Message]) -> float:
        """Put all in as fast as the server takes them; return how many came out a second."""
        started = time.perf_counter()
        everything = list(messages.values())
        for start in range(0, len(everything), 256):
            await self._bus.publish_all(everything[start : start + 256])
        await self._until_out(messages)
        ended = max(self._out[key] for key in messages)
        return len(messages) / (ended - started)

    async def drip(self, messages: dict[str, Message], per_second: float) -> list[float]:
        """Put them in one at a time; return how long each took, sorted."""
        put_in: dict[str, float] = {}
        start = time.perf_counter()
        for number, (key, message) in enumerate(messages.items()):
            delay = start + number / per_second - time.perf_counter()
            await asyncio.sleep(max(0.0, delay))
            put_in[key] = time.perf_counter()
            await self._bus.publish(message)
        await self._until_out(messages)
        return sorted(self._out[key] - put_in[key] for key in messages)

    async def _until_out(self, keys: Sequence[str] | dict[str, Message]) -> None:
        deadline = time.perf_counter() + END_WITHIN
        while any(key not in self._out for key in keys):
            left = deadline - time.perf_counter()
            if left <= 0:
                missing = [key for key in keys if key not in self._out]
                raise TimeoutError(f"{len(missing)} of {len(keys)} never came out: {missing[:3]}")
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), min(left, 1.0))
            except TimeoutError:
                continue


async def measure(
    name: str,
    meter: Meter,
    make: Callable[[int], tuple[str, Message]],
    *,
    pour: int,
    drip: int,
    per_second: float,
) -> Flow:
    """Measure one kind of work: first at low load, then poured in.

    Args:
        name: What it is called.
        meter: Where it goes in and comes out.
        make: Makes the n-th message and its key.
        pour: How many are poured in together.
        drip: How many are put in one at a time.
        per_second: How many of those a second.
    """
    warm = dict(make(n) for n in range(-20, 0))
    await meter.drip(warm, 50)
    latencies = await meter.drip(dict(make(n) for n in range(drip)), per_second)
    rate = await meter.pour(dict(make(n) for n in range(drip, drip + pour)))
    return Flow(name, rate, latencies)
