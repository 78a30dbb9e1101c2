from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from remit.bus import deadletters, subjects
from remit.bus.clock import ManualClock
from remit.bus.memory import MemoryBus
from remit.bus.message import Message
from remit.bus.relay import Relay
from support.counting import add, count_log
from support.driving import work_off
from support.faulty import FaultyBus


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def bus(clock: ManualClock) -> MemoryBus:
    return MemoryBus(clock=clock)


def ask(thread: str, name: str) -> Message:
    return Message(
        subject=subjects.eval_request(thread),
        id=f"{thread}:{name}",
        type="remit.eval.request",
        source="/remit/test",
        data=name.encode(),
    )


def relay_of(bus: MemoryBus | FaultyBus, clock: ManualClock) -> Relay:
    return Relay(bus, stream="THREAD", name="thread-relay", clock=clock)


async def test_every_message_of_a_commit_is_published_with_the_commits_sequence(
    bus: MemoryBus, clock: ManualClock
) -> None:
    log = count_log(bus, clock=clock)
    first = await log.transact("th", "c1", add("ann", (ask("th", "1"), ask("th", "2"))))
    second = await log.transact("th", "c2", add("ben", (ask("th", "3"),)))
    await work_off(bus, relay_of(bus, clock))
    published = [one.message for one in bus.stored("eval.>")]
    assert published == [
        replace(ask("th", "1"), commit=first.sequence),
        replace(ask("th", "2"), commit=first.sequence),
        replace(ask("th", "3"), commit=second.sequence),
    ]


async def test_a_relay_that_died_half_way_repeats_without_effect(
    bus: MemoryBus, clock: ManualClock
) -> None:
    outbox = tuple(ask("th", str(n)) for n in range(4))
    await count_log(bus).transact("th", "c1", add("ann", outbox))
    dying = FaultyBus(bus)
    published = 0

    async def publish_all(messages: list[Message]) -> None:
        nonlocal published
        for message in messages[:2]:
            await bus.publish(message)
            published += 1
        await asyncio.Event().wait()

    dying.publish_all = publish_all  # type: ignore[method-assign, assignment]
    running = asyncio.ensure_future(relay_of(dying, clock).run())
    await clock.advance(1)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert published == 2
    await clock.advance(40)
    await work_off(bus, relay_of(bus, clock))
    assert [one.message.data for one in bus.stored("eval.>")] == [b"0", b"1", b"2", b"3"]


async def test_a_timer_in_the_outbox_is_set(bus: MemoryBus, clock: ManualClock) -> None:
    limit = Message(
        subject=subjects.command_thread("th"),
        id="limit",
        type="remit.thread.command",
        source="/remit/test",
        data=b"{}",
        deliver_at=clock.now() + timedelta(minutes=2),
    )
    await count_log(bus).transact("th", "c1", add("ann", (limit,)))
    await work_off(bus, relay_of(bus, clock))
    assert bus.stored("command.>") == []
    await clock.advance(121)
    assert len(bus.stored(subjects.command_thread("th"))) == 1


async def test_a_message_that_no_stream_takes_keeps_its_commit_until_it_is_given_up_on(
    bus: MemoryBus, clock: ManualClock
) -> None:
    stray = replace(ask("th", "1"), subject="nowhere.at.all")
    await count_log(bus).transact("th", "c1", add("ann", (stray, ask("th", "2"))))
    relay = relay_of(bus, clock)
    with capture_logs() as logs:
        running = asyncio.ensure_future(relay.run())
        await clock.advance(3600)
        await asyncio.gather(relay.stop(), running)
    assert [one.message.data for one in bus.stored("eval.>")] == [b"2"]
    assert logs[-1]["event"] == "gave up on a message"
    assert "nowhere.at.all" in deadletters.read(bus.stored("deadletter.THREAD")[0]).reason


async def test_a_commit_without_a_readable_outbox_goes_to_the_dead_letters(
    bus: MemoryBus, clock: ManualClock
) -> None:
    await bus.publish(replace(ask("th", "1"), subject=subjects.thread("th"), data=b"no json"))
    with capture_logs():
        await work_off(bus, relay_of(bus, clock))
    assert len(bus.stored("deadletter.THREAD")) == 1


async def test_it_has_a_name_and_says_whether_it_moves(bus: MemoryBus, clock: ManualClock) -> None:
    relay = relay_of(bus, clock)
    assert (relay.name, relay.progressing()) == ("thread-relay", True)
    assert relay.last_progress == clock.now()
