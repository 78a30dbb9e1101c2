from __future__ import annotations

from datetime import timedelta

import pytest

from remit.bus import subjects
from remit.bus.clock import ManualClock
from remit.bus.errors import BusUnavailable
from remit.bus.memory import MemoryBus
from remit.bus.ports import Consumer
from remit.bus.streams import Sizing, streams
from support.contracts.bus import BusContract, World, message


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def world(clock: ManualClock) -> World:
    bus = MemoryBus(clock=clock)

    async def store_raw(subject: str, headers: dict[str, str], data: bytes) -> int:
        return bus.store_raw(subject, headers, data)

    return World(bus=bus, other=bus, pass_time=clock.advance, now=clock.now, store_raw=store_raw)


class TestMemoryBus(BusContract):
    """The shared suite over the bus in memory."""


async def test_an_id_is_forgotten_after_the_duplicate_window(clock: ManualClock) -> None:
    bus = MemoryBus(clock=clock)
    sent = message(subjects.ticket("t1"))
    await bus.publish(sent)
    await clock.advance(121)
    assert not (await bus.publish(sent)).duplicate


@pytest.mark.rule("TRG-3")
@pytest.mark.field("B4")
async def test_create_remembers_long_after_the_duplicate_window(clock: ManualClock) -> None:
    bus = MemoryBus(clock=clock)
    sent = message(subjects.trigger("gh", "1", "th"))
    await bus.create(sent, scope=subjects.trigger_scope("gh", "1"))
    for wait in (300, 3600, 6 * 3600, 80 * 86400):
        await clock.advance(wait)
        again = await bus.create(sent, scope=subjects.trigger_scope("gh", "1"))
        assert again.duplicate


async def test_messages_past_the_horizon_are_forgotten(clock: ManualClock) -> None:
    sizing = Sizing(horizon=timedelta(days=1))
    bus = MemoryBus(clock=clock, streams=streams(sizing))
    await bus.publish(message(subjects.disposition("1")))
    await clock.advance(86_401)
    assert bus.stored("disposition.>") == []


async def test_an_aggregate_keeps_its_last_commits(clock: ManualClock) -> None:
    bus = MemoryBus(clock=clock, streams=streams(Sizing(commits_per_aggregate=3)))
    for number in range(5):
        await bus.publish(message(subjects.thread("th"), data=b"%d" % number))
    await bus.publish(message(subjects.thread("other")))
    kept = [one.message.data for one in bus.stored(subjects.thread("th"))]
    assert kept == [b"2", b"3", b"4"]


async def test_it_is_busy_until_everything_was_worked_on(clock: ManualClock) -> None:
    bus = MemoryBus(clock=clock)
    consumer = Consumer(stream="REPORT", name="reports", subject="report.*")
    pull = await bus.pull(consumer, window=10)
    assert not bus.busy()
    await bus.publish(message(subjects.report("t1")))
    assert bus.busy()
    (one,) = await pull.take()
    assert bus.busy()
    await one.done()
    assert not bus.busy()


async def test_a_closed_bus_takes_nothing(clock: ManualClock) -> None:
    bus = MemoryBus(clock=clock)
    await bus.close()
    with pytest.raises(BusUnavailable):
        await bus.publish(message(subjects.report("t1")))
