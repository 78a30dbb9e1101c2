"""Numbers on both ways: what is said is stored once and in order, what is read comes once and in order."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.bus import subjects
from remit.bus.clock import ManualClock, SystemClock
from remit.bus.errors import BusUnavailable
from remit.bus.memory import MemoryBus
from remit.bus.message import Message, Stored
from remit.coordination import CoordinationUnavailable, LeaseHeld, MemoryLeases, MemoryStore
from remit.domain.ids import AssignmentId, TicketId
from remit.domain.inputs import Input, InputKind
from remit.domain.messages import FromAssignment
from remit.domain.ticket import ReplyToPerson
from remit.executor.hearing import InputFeed
from remit.executor.leasing import SessionLease
from remit.executor.speaking import Say, Spokesman, Unheard
from remit.runtime.wire import message_of
from support.domain import NOW
from support.executor_world import until

TICKET = TicketId("t-1")
ASSIGNMENT = AssignmentId("t-1/assignment/1")


class FlakyBus(MemoryBus):
    """Does not answer some publishes: what was sent may or may not have been stored."""

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = list(answers)

    async def publish(self, message: Message) -> Stored:
        answer = self.answers.pop(0) if self.answers else "ok"
        if answer == "lost":
            raise BusUnavailable("publish")
        stored = await super().publish(message)
        if answer == "unsure":
            raise BusUnavailable("publish")
        return stored


def reply(text: str) -> Say:
    def say(assignment: AssignmentId, message: int) -> ReplyToPerson:
        return ReplyToPerson(assignment=assignment, message=message, text=text)

    return say


def spokesman(
    bus: MemoryBus, *, patience: float = 60, clock: ManualClock | None = None
) -> Spokesman:
    return Spokesman(
        bus, TICKET, ASSIGNMENT, heard=4, clock=clock or SystemClock(), patience=patience
    )


def said(bus: MemoryBus) -> list[tuple[int, str]]:
    messages = [
        FromAssignment.model_validate_json(one.message.data).said
        for one in bus.stored(subjects.REPORTS)
    ]
    return [(one.message, one.text) for one in messages if isinstance(one, ReplyToPerson)]


# -- speaking -------------------------------------------------------------------------------


async def test_what_is_said_together_is_numbered_in_the_order_it_was_asked_in() -> None:
    bus = MemoryBus()
    speaking = spokesman(bus)
    numbers = await asyncio.gather(*(speaking.say(reply(f"{n}")) for n in range(5)))
    assert numbers == [5, 6, 7, 8, 9]
    assert said(bus) == [(5, "0"), (6, "1"), (7, "2"), (8, "3"), (9, "4")]


@pytest.mark.parametrize("answers", [("lost",), ("unsure",), ("unsure", "lost", "unsure")])
async def test_a_message_that_may_have_been_stored_is_sent_again_under_its_number(
    answers: tuple[str, ...],
) -> None:
    bus, clock = FlakyBus(*answers), ManualClock()
    speaking = spokesman(bus, clock=clock)
    both = asyncio.gather(speaking.say(reply("one")), speaking.say(reply("two")))
    await clock.advance(5)
    assert list(await both) == [5, 6]
    assert said(bus) == [(5, "one"), (6, "two")]


async def test_after_a_message_that_nobody_took_nothing_more_is_said() -> None:
    bus, clock = FlakyBus(*["lost"] * 50), ManualClock()
    speaking = spokesman(bus, patience=10, clock=clock)
    saying = asyncio.create_task(speaking.say(reply("one")))
    await clock.advance(30)
    with pytest.raises(Unheard):
        await saying
    assert speaking.unheard.is_set()
    bus.answers.clear()
    with pytest.raises(Unheard):
        await speaking.say(reply("two"))
    assert said(bus) == []


# -- hearing --------------------------------------------------------------------------------


def an_input(number: int, kind: InputKind = InputKind.TEXT) -> Input:
    return Input(ticket=TICKET, number=number, kind=kind, text=f"text {number}", at=NOW)


async def publish(bus: MemoryBus, *inputs: Input) -> None:
    for place, one in enumerate(inputs):
        await bus.publish(message_of(one, id=f"{one.number}/{place}", source="test"))


@pytest.mark.rule("INP-1")
@given(order=st.lists(st.integers(1, 6), max_size=20), first=st.integers(1, 4), seed=st.integers())
async def test_inputs_come_once_in_order_and_without_gaps(
    order: list[int], first: int, seed: int
) -> None:
    bus, rng = MemoryBus(), Random(seed)
    split = rng.randint(0, len(order))
    await publish(bus, *(an_input(number) for number in order[:split]))
    taken: list[int] = []
    async with InputFeed(bus, TICKET, first=first) as feed:
        for place, number in enumerate(order[split:]):
            taken.extend(one.number for one in feed.take())
            await bus.publish(message_of(an_input(number), id=f"later/{place}", source="test"))
        expected = []
        while first in order:
            expected.append(first)
            first += 1
        for _ in range(60):
            await asyncio.sleep(0)
        taken.extend(one.number for one in feed.take())
    assert taken == expected


async def test_a_stop_is_heard_over_a_gap() -> None:
    bus = MemoryBus()
    async with InputFeed(bus, TICKET, first=1) as feed:
        await publish(bus, an_input(1), an_input(3, InputKind.STOP))
        async with asyncio.timeout(5):
            await feed.stopped.wait()
        await until(lambda: bool(feed.waiting))
        assert [one.number for one in feed.waiting] == [1]


async def test_an_input_that_cannot_be_read_does_not_stop_the_feed() -> None:
    bus = MemoryBus()
    broken = message_of(an_input(1), id="broken", source="test")
    await bus.publish(type(broken)(subject=broken.subject, id="b", type="t", source="s", data=b"{"))
    await publish(bus, an_input(1))
    async with InputFeed(bus, TICKET, first=1) as feed, asyncio.timeout(5):
        await feed.wait()


async def test_a_feed_ends_with_its_bus() -> None:
    bus = MemoryBus()
    async with InputFeed(bus, TICKET, first=1) as feed:
        waiting = asyncio.create_task(feed.wait())
        await asyncio.sleep(0)
        await bus.close()
        with pytest.raises(BusUnavailable):
            async with asyncio.timeout(5):
                await waiting


# -- the lease ------------------------------------------------------------------------------

TTL = timedelta(seconds=9)


def lease(store: MemoryStore, clock: ManualClock) -> SessionLease:
    return SessionLease(MemoryLeases(store, clock=clock), TICKET, ttl=TTL, clock=clock)


async def test_a_lease_that_another_host_has_is_refused() -> None:
    store, clock = MemoryStore(), ManualClock()
    async with lease(store, clock):
        with pytest.raises(LeaseHeld):
            async with lease(store, clock):
                pass
    async with lease(store, clock):
        assert store.leases


async def test_a_lease_that_redis_forgot_is_taken_again() -> None:
    store, clock = MemoryStore(), ManualClock()
    async with lease(store, clock) as held:
        store.flush()
        await clock.advance(4)
        assert f"session:{TICKET}" in store.leases
        assert not held.lost.is_set()


async def test_a_lease_outlasts_a_redis_that_is_away() -> None:
    store, clock = MemoryStore(), ManualClock()
    async with lease(store, clock) as held:
        store.away = True
        await clock.advance(60)
        assert not held.lost.is_set()
        store.away = False
        await clock.advance(4)
        assert f"session:{TICKET}" in store.leases
        assert not held.lost.is_set()


async def test_a_lease_that_somebody_else_took_is_lost() -> None:
    store, clock = MemoryStore(), ManualClock()
    async with lease(store, clock) as held:
        store.flush()
        async with MemoryLeases(store, clock=clock).hold(f"session:{TICKET}", ttl=TTL):
            await clock.advance(4)
            assert held.lost.is_set()


async def test_without_redis_nothing_is_taken() -> None:
    store, clock = MemoryStore(away=True), ManualClock()
    with pytest.raises(CoordinationUnavailable):
        async with lease(store, clock):
            pass
