"""Following the streams while the demo runs: each hop is told once, in the order of its storing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from remit.bus.errors import BusError
from remit.bus.ports import Reader
from remit.cli.demo.hops import WATCHED, Hop, hops_in

On = Callable[[Hop], Awaitable[None]]


class Travel:
    """Tells every hop of every message.

    Args:
        bus: The streams.
        on_hop: Told of each hop.
    """

    def __init__(self, bus: Reader, on_hop: On) -> None:
        self._bus = bus
        self._on_hop = on_hop
        self._order = asyncio.Lock()

    async def follow(self) -> None:
        """Follow until cancelled."""
        async with asyncio.TaskGroup() as following:
            for stream, subject in WATCHED.items():
                following.create_task(self._follow(stream, subject), name=f"follow {stream}")

    async def _follow(self, stream: str, subject: str) -> None:
        after = 0
        while True:
            try:
                async for delivery in self._bus.follow(stream, subject, after=after):
                    after = delivery.sequence
                    for hop in hops_in(delivery):
                        async with self._order:
                            await self._on_hop(hop)
            except BusError:
                # The bus may be restarted under the demo; it goes on where it was.
                await asyncio.sleep(0.2)
