"""Running parts of a service over a bus in memory until nothing is left to do."""

from __future__ import annotations

import asyncio
from typing import Protocol

from remit.bus.memory import MemoryBus

_QUIET_TURNS = 20
_MOST_TURNS = 100_000


class Runs(Protocol):
    """A worker, a relay, or anything with the same two verbs."""

    async def run(self) -> None: ...

    async def stop(self) -> None: ...


async def work_off(bus: MemoryBus, *parts: Runs) -> None:
    """Run the parts until no message waits to be taken now and none is in work."""
    tasks = [asyncio.ensure_future(part.run()) for part in parts]
    quiet = 0
    for _ in range(_MOST_TURNS):
        await asyncio.sleep(0)
        if any(task.done() for task in tasks):
            break
        quiet = 0 if bus.busy() else quiet + 1
        if quiet == _QUIET_TURNS:
            break
    else:
        raise AssertionError("there is always something left to do")
    await asyncio.gather(*(part.stop() for part in parts))
    await asyncio.gather(*tasks)
