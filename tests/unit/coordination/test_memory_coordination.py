from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from remit.bus.clock import ManualClock
from remit.coordination import LeaseHeld, MemoryLeases, MemoryReadPositions, MemoryStore
from remit.coordination.holding import HeldLease, keeping
from support.contracts.coordination import CoordinationContract, Place


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def place(store: MemoryStore, clock: ManualClock) -> Place:
    async def flush() -> None:
        store.flush()

    async def away() -> None:
        store.away = True

    async def back() -> None:
        store.away = False

    return Place(
        leases=MemoryLeases(store, clock=clock),
        other=MemoryLeases(store, clock=clock),
        positions=MemoryReadPositions(store),
        pass_time=clock.advance,
        flush=flush,
        away=away,
        back=back,
    )


class TestCoordinationInMemory(CoordinationContract):
    """The shared suite in memory."""


@pytest.mark.field("D3")
async def test_a_lease_whose_holder_fell_silent_expires_and_passes_on(
    store: MemoryStore,
) -> None:
    paused, running = ManualClock(), ManualClock()
    silent = MemoryLeases(store, clock=paused).hold("th", ttl=timedelta(seconds=10))
    first = await silent.__aenter__()
    other = MemoryLeases(store, clock=running)
    await running.advance(9)
    with pytest.raises(LeaseHeld):
        await other.hold("th", ttl=timedelta(seconds=10)).__aenter__()
    await running.advance(2)
    async with other.hold("th", ttl=timedelta(seconds=10)) as second:
        assert second.token > first.token
        await paused.advance(4)
        assert first.lost.is_set()
    await silent.__aexit__(None, None, None)


async def test_a_renewal_that_hangs_does_not_outlast_the_lease(clock: ManualClock) -> None:
    async def hang() -> bool:
        await asyncio.Event().wait()
        return True

    async def release() -> None:
        pass

    lease = HeldLease("th", 1)
    ttl = timedelta(seconds=9)
    async with keeping(lease, ttl=ttl, renew=hang, release=release, clock=clock):
        await clock.advance(8.9)
        assert not lease.lost.is_set()
        await clock.advance(0.2)
        assert lease.lost.is_set()
