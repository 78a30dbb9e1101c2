from __future__ import annotations

import asyncio

import pytest

from remit.bus.clock import ManualClock
from remit.bus.commits import Step
from remit.bus.memory import MemoryBus
from support.contracts.bus import World
from support.contracts.commit_log import CommitLogContract
from support.counting import Count, add, count_log
from support.faulty import FaultyBus


@pytest.fixture
def world() -> World:
    clock = ManualClock()
    bus = MemoryBus(clock=clock)

    async def store_raw(subject: str, headers: dict[str, str], data: bytes) -> int:
        return bus.store_raw(subject, headers, data)

    return World(bus=bus, other=bus, pass_time=clock.advance, now=clock.now, store_raw=store_raw)


class TestCommitLogInMemory(CommitLogContract):
    """The shared suite over the bus in memory."""


async def test_an_event_that_is_not_of_the_aggregate_is_refused(world: World) -> None:
    with pytest.raises(ValueError, match="events"):
        await count_log(world.bus).transact(
            "a",
            "c1",
            lambda count: Step(events=[Count()], state=Count()),  # type: ignore[list-item]
        )


async def test_transactions_on_one_aggregate_in_one_process_take_turns(world: World) -> None:
    bus = FaultyBus(world.bus)
    log = count_log(bus)
    await asyncio.gather(*(log.transact("a", f"c{n}", add(str(n))) for n in range(10)))
    assert bus.calls["replace"] == 10
