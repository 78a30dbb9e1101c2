from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from remit.bus.clock import ManualClock, SystemClock


async def test_sleepers_wake_in_order_each_at_its_own_time() -> None:
    clock = ManualClock()
    start = clock.now()
    woken: list[float] = []

    async def sleeper(seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append((clock.now() - start).total_seconds())

    tasks = [asyncio.ensure_future(sleeper(seconds)) for seconds in (3, 1, 2, 9)]
    await clock.advance(5)
    assert woken == [1, 2, 3]
    assert clock.now() == start + timedelta(seconds=5)
    await clock.advance(4)
    assert woken == [1, 2, 3, 9]
    await asyncio.gather(*tasks)


async def test_a_sleeper_that_sleeps_again_is_woken_on_the_way() -> None:
    clock = ManualClock()
    beats: list[datetime] = []

    async def beat() -> None:
        for _ in range(3):
            await clock.sleep(1)
            beats.append(clock.now())

    task = asyncio.ensure_future(beat())
    await clock.advance(3)
    await task
    assert len(set(beats)) == 3


async def test_a_cancelled_sleeper_stops_nobody() -> None:
    clock = ManualClock()
    cancelled = asyncio.ensure_future(clock.sleep(1))
    other = asyncio.ensure_future(clock.sleep(2))
    await clock.advance(0.5)
    cancelled.cancel()
    await clock.advance(2)
    assert other.done()


async def test_the_system_clock_tells_aware_time_and_sleeping_nothing_returns() -> None:
    clock = SystemClock()
    before = datetime.now(UTC)
    await clock.sleep(0)
    assert before <= clock.now()
