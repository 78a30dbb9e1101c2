"""A part that only one replica runs."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from remit.bus.clock import ManualClock
from remit.coordination import MemoryLeases, MemoryStore
from remit.runtime.leased import LeasedPart

TTL = timedelta(seconds=10)


class Ticking:
    """A part that says whether it runs."""

    name = "ticking"

    def __init__(self, running: set[str], who: str) -> None:
        self._running = running
        self._who = who
        self._stopped = asyncio.Event()

    async def run(self) -> None:
        self._running.add(self._who)
        await self._stopped.wait()
        self._running.discard(self._who)

    async def stop(self) -> None:
        self._stopped.set()

    def progressing(self) -> bool:
        return True


class Replicas:
    """Two replicas of one part over one store."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore()
        self.running: set[str] = set()
        self.parts = {who: self._part(who) for who in ("a", "b")}
        self.tasks = [asyncio.create_task(part.run()) for part in self.parts.values()]

    def _part(self, who: str) -> LeasedPart:
        leases = MemoryLeases(self.store, clock=self.clock)
        return LeasedPart(
            "write", leases, lambda: Ticking(self.running, who), ttl=TTL, clock=self.clock
        )

    async def stop(self) -> None:
        await asyncio.gather(*(part.stop() for part in self.parts.values()))
        await asyncio.gather(*self.tasks)


async def test_one_replica_runs_the_part_and_keeps_it():
    replicas = Replicas()
    await replicas.clock.advance(60)
    assert replicas.running == {"a"}
    await replicas.stop()
    assert replicas.running == set()


async def test_another_replica_goes_on_when_the_first_stops():
    replicas = Replicas()
    await replicas.clock.advance(1)
    await replicas.parts["a"].stop()
    await replicas.clock.advance(5)
    assert replicas.running == {"b"}
    await replicas.stop()


async def test_a_replica_that_lost_its_lease_stops_the_part():
    replicas = Replicas()
    await replicas.clock.advance(1)
    replicas.store.flush()
    await replicas.clock.advance(30)
    assert len(replicas.running) == 1
    await replicas.stop()


async def test_while_redis_is_away_the_part_stops_and_comes_back_with_it():
    replicas = Replicas()
    await replicas.clock.advance(1)
    replicas.store.away = True
    await replicas.clock.advance(30)
    assert replicas.running == set()
    replicas.store.away = False
    await replicas.clock.advance(30)
    assert len(replicas.running) == 1
    await replicas.stop()
