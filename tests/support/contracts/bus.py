"""What every bus must do, whichever way it is built.

A test module subclasses `BusContract` and provides the fixture ``world``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from remit.bus import subjects
from remit.bus.errors import Conflict, PublishRefused, StreamMismatch
from remit.bus.message import Delivery, Message
from remit.bus.ports import Bus, Consumer, Pull, Taken


@dataclass(frozen=True, kw_only=True)
class World:
    """One bus under test.

    Attributes:
        bus: A connection.
        other: A second connection to the same streams.
        pass_time: Lets seconds pass.
        now: Tells the bus's time.
        store_raw: Stores headers and a body that no `Message` could say.
    """

    bus: Bus
    other: Bus
    pass_time: Callable[[float], Awaitable[None]]
    now: Callable[[], datetime]
    store_raw: Callable[[str, dict[str, str], bytes], Awaitable[int]]


def message(subject: str, message_id: str | None = None, data: bytes = b"{}") -> Message:
    return Message(
        subject=subject,
        id=message_id or uuid4().hex,
        type="remit.test",
        source="/remit/test",
        data=data,
    )


def unique() -> str:
    return uuid4().hex


def work_of(source: str, **settings: Any) -> Consumer:
    consumer = Consumer(
        stream="CHANNEL", name=f"test-{source}", subject=subjects.channels_of(source)
    )
    return replace(consumer, **settings)


async def taken(pull: Pull, world: World, within: float = 5) -> list[Taken]:
    """Take what there is, letting time pass while nothing is."""
    taking = asyncio.ensure_future(pull.take())
    for _ in range(int(within / 0.05)):
        await world.pass_time(0.05)
        if taking.done():
            return list(taking.result())
    taking.cancel()
    return []


async def first(
    deliveries: AsyncIterator[Delivery], count: int, within: float = 5
) -> list[Delivery]:
    found: list[Delivery] = []
    async with asyncio.timeout(within):
        async with aclosing(deliveries):  # type: ignore[type-var]
            async for delivery in deliveries:
                found.append(delivery)
                if len(found) == count:
                    break
    return found


def data_of(deliveries: list[Delivery]) -> list[bytes]:
    return [delivery.message.data for delivery in deliveries]


class BusContract:
    """The shared suite."""

    # -- publish ------------------------------------------------------------------------

    async def test_a_message_is_read_back_as_it_was_sent(self, world: World) -> None:
        sent = Message(
            subject=subjects.thread(unique()),
            id='Ünï code "quoted" 100% = 人\n',
            type="remit.test",
            source="/remit/test",
            data=b"\x00\xff\r\nbytes",
            content_type="application/octet-stream",
            schema=3,
            trace={"traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01", "tracestate": "x=1"},
            commit=7,
            headers={"X-Hub-Event": "issues"},
        )
        stored = await world.bus.publish(sent)
        found = await world.bus.last("THREAD", sent.subject)
        assert found is not None
        assert found.message == sent
        assert (found.stream, found.sequence) == ("THREAD", stored.sequence)
        assert (stored.stream, stored.duplicate) == ("THREAD", False)
        assert abs(found.stored_at - world.now()) < timedelta(seconds=30)

    async def test_a_repeated_id_is_stored_once_and_says_so(self, world: World) -> None:
        sent = message(subjects.ticket(unique()))
        one = await world.bus.publish(sent)
        again = await world.other.publish(sent)
        assert (one.duplicate, again.duplicate) == (False, True)
        assert one.sequence == again.sequence

    @pytest.mark.field("B12")
    async def test_the_answer_tells_when_an_id_was_used_for_something_else(
        self, world: World
    ) -> None:
        one = message(subjects.ticket(unique()))
        await world.bus.publish(one)
        other = replace(one, subject=subjects.ticket(unique()))
        assert (await world.bus.publish(other)).duplicate
        assert await world.bus.last("TICKET", other.subject) is None

    async def test_a_subject_of_no_stream_is_refused(self, world: World) -> None:
        with pytest.raises(PublishRefused) as refused:
            await world.bus.publish(message("nowhere.at.all"))
        assert refused.value.subject == "nowhere.at.all"
        assert refused.value.code == 0

    async def test_a_message_too_large_is_refused_and_the_bus_goes_on(self, world: World) -> None:
        subject = subjects.ticket(unique())
        with pytest.raises(PublishRefused, match="larger"):
            await world.bus.publish(message(subject, data=b"x" * 70_000_000))
        await world.bus.publish(message(subject))

    @pytest.mark.parametrize("name", ["ce-id", "Nats-Msg-Id", "traceparent", "Content-Type", "a b"])
    async def test_headers_of_the_bus_itself_are_not_for_senders(
        self, world: World, name: str
    ) -> None:
        with pytest.raises(PublishRefused, match="not for senders"):
            await world.bus.publish(
                replace(message(subjects.ticket(unique())), headers={name: "x"})
            )

    async def test_many_are_stored_in_order_with_one_answer_each(self, world: World) -> None:
        subject = subjects.thread(unique())
        sent = [message(subject, data=b"%d" % number) for number in range(200)]
        stored = await world.bus.publish_all([*sent, sent[0]])
        assert [one.duplicate for one in stored] == [False] * 200 + [True]
        assert stored[-1].sequence == stored[0].sequence
        found = [one async for one in world.bus.history("THREAD", subject)]
        assert data_of(found) == [one.data for one in sent]
        assert [one.sequence for one in found] == [one.sequence for one in stored[:-1]]

    async def test_one_refused_among_many_is_told_and_the_rest_are_stored(
        self, world: World
    ) -> None:
        subject = subjects.thread(unique())
        sent = [message(subject), message("nowhere.at.all"), message(subject)]
        with pytest.raises(PublishRefused, match=r"nowhere\.at\.all"):
            await world.bus.publish_all(sent)
        again = await world.bus.publish_all([sent[0], sent[2]])
        assert [one.duplicate for one in again] == [True, True]

    # -- create -------------------------------------------------------------------------

    async def test_create_stores_once_for_a_scope_whatever_the_id(self, world: World) -> None:
        source = unique()
        scope = subjects.trigger_scope(source, "1")
        one = await world.bus.create(message(subjects.trigger(source, "1", "home")), scope=scope)
        again = await world.other.create(
            message(subjects.trigger(source, "1", "elsewhere")), scope=scope
        )
        apart = await world.bus.create(
            message(subjects.trigger(source, "2", "home")),
            scope=subjects.trigger_scope(source, "2"),
        )
        assert [one.duplicate, again.duplicate, apart.duplicate] == [False, True, False]
        assert again.sequence == one.sequence

    async def test_create_without_a_scope_looks_at_its_own_subject(self, world: World) -> None:
        subject = subjects.disposition(unique())
        assert not (await world.bus.create(message(subject))).duplicate
        assert (await world.bus.create(message(subject))).duplicate

    @pytest.mark.field("B2")
    async def test_of_five_creates_at_once_on_two_replicas_one_wins(self, world: World) -> None:
        source = unique()
        scope = subjects.trigger_scope(source, "1")
        stored = await asyncio.gather(
            *(
                bus.create(message(subjects.trigger(source, "1", f"home{i}")), scope=scope)
                for i, bus in enumerate([world.bus, world.other, world.bus, world.other, world.bus])
            )
        )
        assert sorted(one.duplicate for one in stored) == [False, True, True, True, True]
        assert len({one.sequence for one in stored}) == 1

    # -- replace ------------------------------------------------------------------------

    async def test_replace_follows_the_last_message_only(self, world: World) -> None:
        subject = subjects.thread(unique())
        one = await world.bus.replace(message(subject), expected=0)
        two = await world.bus.replace(message(subject), expected=one.sequence)
        for stale in (0, one.sequence, two.sequence + 1):
            with pytest.raises(Conflict) as conflict:
                await world.bus.replace(message(subject), expected=stale)
            assert (conflict.value.subject, conflict.value.expected) == (subject, stale)

    @pytest.mark.field("D3")
    async def test_of_many_that_follow_the_same_message_one_commits(self, world: World) -> None:
        subject = subjects.thread(unique())
        outcomes = await asyncio.gather(
            *(bus.replace(message(subject), expected=0) for bus in [world.bus, world.other] * 4),
            return_exceptions=True,
        )
        assert sum(isinstance(one, Conflict) for one in outcomes) == 7
        assert len([one async for one in world.bus.history("THREAD", subject)]) == 1

    async def test_a_repeated_replace_is_a_conflict_and_with_a_fresh_fence_a_duplicate(
        self, world: World
    ) -> None:
        sent = message(subjects.thread(unique()))
        stored = await world.bus.replace(sent, expected=0)
        with pytest.raises(Conflict):
            await world.bus.replace(sent, expected=0)
        again = await world.bus.replace(sent, expected=stored.sequence)
        assert (again.duplicate, again.sequence) == (True, stored.sequence)

    # -- reading ------------------------------------------------------------------------

    async def test_what_is_not_there_is_none(self, world: World) -> None:
        subject = subjects.thread(unique())
        assert await world.bus.last("THREAD", subject) is None
        assert await world.bus.last("THREAD", subject, leader=True) is None
        assert await world.bus.at("THREAD", 10**9) is None
        assert await world.bus.next("THREAD", subject, after=0) is None
        assert [one async for one in world.bus.history("THREAD", subject)] == []

    async def test_a_stream_that_is_missing_is_told(self, world: World) -> None:
        with pytest.raises(StreamMismatch) as missing:
            await world.bus.last("NOPE", "thread.x")
        assert missing.value.stream == "NOPE"
        with pytest.raises(StreamMismatch):
            await world.bus.last("NOPE", "thread.x", leader=True)
        with pytest.raises(StreamMismatch):
            await world.bus.ensure_consumer(Consumer(stream="NOPE", name="x", subject="thread.x"))

    @pytest.mark.parametrize("leader", [False, True])
    async def test_the_last_message_is_found_by_subject_and_by_pattern(
        self, world: World, leader: bool
    ) -> None:
        source = unique()
        for number in (1, 2, 3):
            await world.bus.publish(
                message(subjects.trigger(source, str(number), "home"), data=b"%d" % number)
            )
        exact = await world.bus.last(
            "TRIGGER", subjects.trigger(source, "2", "home"), leader=leader
        )
        under = await world.bus.last("TRIGGER", subjects.triggers_of(source), leader=leader)
        assert exact is not None
        assert under is not None
        assert (exact.message.data, under.message.data) == (b"2", b"3")

    async def test_messages_are_found_by_place_and_in_order(self, world: World) -> None:
        subject = subjects.thread(unique())
        stored = [await world.bus.publish(message(subject, data=b"%d" % n)) for n in range(3)]
        found = await world.bus.at("THREAD", stored[1].sequence)
        following = await world.bus.next("THREAD", subject, after=stored[1].sequence)
        assert found is not None
        assert following is not None
        assert (found.message.data, following.message.data) == (b"1", b"2")
        rest = [o async for o in world.bus.history("THREAD", subject, after=stored[0].sequence)]
        assert data_of(rest) == [b"1", b"2"]

    async def test_a_history_of_many_messages_is_whole(self, world: World) -> None:
        source = unique()
        for start in range(0, 1200, 300):
            await world.bus.publish_all(
                [
                    message(subjects.trigger(source, str(n), "h"), data=b"%d" % n)
                    for n in range(start, start + 300)
                ]
            )
        found = [o async for o in world.bus.history("TRIGGER", subjects.triggers_of(source))]
        assert data_of(found) == [b"%d" % n for n in range(1200)]

    async def test_following_yields_what_is_there_and_what_comes(self, world: World) -> None:
        source = unique()
        here = [subjects.trigger(source, str(n), "h") for n in range(4)]
        one = await world.bus.publish(message(here[0], data=b"0"))
        await world.bus.publish(message(here[1], data=b"1"))
        following = asyncio.ensure_future(
            first(
                world.other.follow("TRIGGER", subjects.triggers_of(source), after=one.sequence), 3
            )
        )
        await world.pass_time(0.1)
        await world.bus.publish(message(here[2], data=b"2"))
        await world.bus.publish(message(subjects.trigger(unique(), "0", "h"), data=b"other"))
        await world.bus.publish(message(here[3], data=b"3"))
        assert data_of(await following) == [b"1", b"2", b"3"]

    # -- timers -------------------------------------------------------------------------

    async def test_a_timer_fires_on_its_target_at_its_time_and_once(self, world: World) -> None:
        key = unique()
        target = subjects.command_thread(key)
        due = world.now() + timedelta(seconds=0.6)
        sent = replace(message(target, "limit:1", b"ring"), deliver_at=due, headers={"X-A": "b"})
        await world.bus.publish(sent)
        await world.pass_time(0.2)
        held = subjects.timer("thread", key, "limit:1")
        assert await world.bus.last("COMMAND", target) is None
        assert await world.bus.last("COMMAND", held) is not None
        await world.pass_time(1)
        fired = [one async for one in world.bus.history("COMMAND", target)]
        assert len(fired) == 1
        found = fired[0].message
        assert (found.id, found.data, found.headers["X-A"]) == ("limit:1", b"ring", "b")
        assert fired[0].stored_at >= due - timedelta(milliseconds=1)
        assert await world.bus.last("COMMAND", held) is None

    async def test_a_timer_set_again_replaces_the_first(self, world: World) -> None:
        key = unique()
        target = subjects.command_ticket(key)
        soon, later = (world.now() + timedelta(seconds=s) for s in (0.3, 0.6))
        await world.bus.publish(replace(message(target, "n", b"1"), deliver_at=soon))
        await world.bus.publish(replace(message(target, "n", b"2"), deliver_at=later))
        await world.pass_time(1.2)
        assert data_of([one async for one in world.bus.history("COMMAND", target)]) == [b"2"]

    async def test_a_cancelled_timer_never_fires(self, world: World) -> None:
        key = unique()
        target = subjects.command_thread(key)
        due = world.now() + timedelta(seconds=0.4)
        await world.bus.publish(replace(message(target, "n"), deliver_at=due))
        await world.bus.cancel(subjects.timer("thread", key, "n"))
        await world.bus.cancel(subjects.timer("thread", key, "n"))
        await world.pass_time(1)
        assert await world.bus.last("COMMAND", target) is None

    async def test_a_timer_that_is_relayed_again_after_it_fired_does_not_fire_again(
        self, world: World
    ) -> None:
        target = subjects.command_thread(unique())
        timer = replace(message(target), deliver_at=world.now() - timedelta(seconds=5), commit=9)
        await world.bus.publish(timer)
        await world.pass_time(0.5)
        assert (await world.bus.publish(timer)).duplicate
        await world.pass_time(0.5)
        assert len([one async for one in world.bus.history("COMMAND", target)]) == 1

    async def test_a_timer_set_to_the_same_time_by_a_later_commit_is_set(
        self, world: World
    ) -> None:
        key = unique()
        target = subjects.command_thread(key)
        due = world.now() + timedelta(seconds=0.4)
        await world.bus.publish(replace(message(target, key), deliver_at=due, commit=1))
        await world.bus.cancel(subjects.timer("thread", key, key))
        await world.bus.publish(replace(message(target, key), deliver_at=due, commit=2))
        await world.pass_time(1)
        assert await world.bus.last("COMMAND", target) is not None

    @pytest.mark.parametrize("subject", ["channel.gh.th", "thread.a"])
    async def test_only_commands_take_timers(self, world: World, subject: str) -> None:
        with pytest.raises(PublishRefused):
            await world.bus.publish(replace(message(subject), deliver_at=world.now()))

    async def test_a_timer_needs_a_time_zone(self, world: World) -> None:
        naive = world.now().replace(tzinfo=None)
        with pytest.raises(PublishRefused, match="time zone"):
            await world.bus.publish(
                replace(message(subjects.command_thread(unique())), deliver_at=naive)
            )

    # -- consumers ----------------------------------------------------------------------

    async def test_what_is_done_never_comes_again(self, world: World) -> None:
        source = unique()
        consumer = work_of(source, ack_wait=timedelta(seconds=0.5))
        sent = await world.bus.publish(message(subjects.channel(source, "th"), data=b"1"))
        pull = await world.bus.pull(consumer, window=10)
        (one,) = await taken(pull, world)
        assert (one.delivery.message.data, one.delivery.attempt) == (b"1", 1)
        assert (one.delivery.stream, one.delivery.sequence) == ("CHANNEL", sent.sequence)
        await one.done()
        assert await taken(pull, world, within=1) == []
        assert await world.bus.at("CHANNEL", sent.sequence) is None
        await pull.stop()

    async def test_what_is_put_back_comes_again_after_its_delay(self, world: World) -> None:
        source = unique()
        await world.bus.publish(message(subjects.channel(source, "th")))
        pull = await world.bus.pull(work_of(source), window=10)
        (one,) = await taken(pull, world)
        await one.put_back(timedelta(seconds=0.5))
        assert await taken(pull, world, within=0.3) == []
        (again,) = await taken(pull, world)
        assert again.delivery.attempt == 2
        await again.done()
        await pull.stop()

    async def test_silence_gives_the_delivery_to_another_replica(self, world: World) -> None:
        source = unique()
        consumer = work_of(source, ack_wait=timedelta(seconds=0.4))
        await world.bus.publish(message(subjects.channel(source, "th")))
        silent = await world.bus.pull(consumer, window=1)
        assert len(await taken(silent, world)) == 1
        other = await world.other.pull(consumer, window=1)
        (again,) = await taken(other, world)
        assert again.delivery.attempt == 2
        await again.done()
        await silent.stop()
        await other.stop()

    @pytest.mark.field("D1")
    async def test_who_says_working_keeps_the_delivery(self, world: World) -> None:
        source = unique()
        consumer = work_of(source, ack_wait=timedelta(seconds=0.5))
        await world.bus.publish(message(subjects.channel(source, "th")))
        pull = await world.bus.pull(consumer, window=1)
        (one,) = await taken(pull, world)
        other = await world.other.pull(consumer, window=1)
        for _ in range(6):
            await one.working()
            assert await taken(other, world, within=0.2) == []
        await one.done()
        assert await taken(other, world, within=0.8) == []
        await pull.stop()
        await other.stop()

    async def test_what_is_dropped_never_comes_again(self, world: World) -> None:
        source = unique()
        sent = await world.bus.publish(message(subjects.channel(source, "th")))
        pull = await world.bus.pull(work_of(source, ack_wait=timedelta(seconds=0.3)), window=1)
        (one,) = await taken(pull, world)
        await one.drop("because\r\nof this")
        assert await taken(pull, world, within=0.8) == []
        assert await world.bus.at("CHANNEL", sent.sequence) is None
        await pull.stop()

    @pytest.mark.field("D1")
    async def test_no_more_is_asked_for_than_there_is_room(self, world: World) -> None:
        source = unique()
        await world.bus.publish_all([message(subjects.channel(source, str(n))) for n in range(10)])
        narrow = await world.bus.pull(work_of(source), window=3)
        held = await taken(narrow, world)
        held += await taken(narrow, world, within=0.3)
        assert len(held) == 3
        wide = await world.other.pull(work_of(source), window=100)
        rest = await taken(wide, world)
        while len(rest) < 7:
            rest += await taken(wide, world)
        assert len({one.delivery.sequence for one in held + rest}) == 10
        assert await taken(narrow, world, within=0.3) == []
        for one in held + rest:
            await one.done()
        await narrow.stop()
        await wide.stop()

    async def test_settling_makes_room_for_the_next(self, world: World) -> None:
        source = unique()
        pull = await world.bus.pull(work_of(source), window=2)
        await world.bus.publish_all([message(subjects.channel(source, str(n))) for n in range(50)])
        seen: set[int] = set()
        while len(seen) < 50:
            for one in await taken(pull, world):
                seen.add(one.delivery.sequence)
                await one.done()
        assert await taken(pull, world, within=0.2) == []
        await pull.stop()

    async def test_the_bound_over_all_replicas_holds(self, world: World) -> None:
        source = unique()
        consumer = work_of(source, max_ack_pending=2)
        await world.bus.publish_all([message(subjects.channel(source, str(n))) for n in range(5)])
        one = await world.bus.pull(consumer, window=10)
        held = await taken(one, world)
        held += await taken(one, world, within=0.2)
        assert len(held) == 2
        other = await world.other.pull(consumer, window=10)
        assert await taken(other, world, within=0.3) == []
        await held[0].done()
        freed = await taken(other, world, within=1) + await taken(one, world, within=1)
        assert len(freed) == 1
        await one.stop()
        await other.stop()

    @pytest.mark.field("D11")
    async def test_after_stop_nothing_is_asked_for_and_nothing_is_kept(self, world: World) -> None:
        source = unique()
        consumer = work_of(source, ack_wait=timedelta(seconds=20))
        pull = await world.bus.pull(consumer, window=5)
        await world.bus.publish_all([message(subjects.channel(source, str(n))) for n in range(3)])
        left = [*await pull.stop(), *await pull.take()]
        await world.bus.publish_all([message(subjects.channel(source, str(n))) for n in range(3)])
        for one in left:
            await one.put_back(timedelta(0))
        other = await world.other.pull(consumer, window=10)
        found: list[Taken] = []
        while len(found) < 6:
            found += await taken(other, world, within=3)
        assert len({one.delivery.sequence for one in found}) == 6
        await other.stop()

    async def test_a_consumer_is_made_once_and_keeps_its_place(self, world: World) -> None:
        source = unique()
        consumer = work_of(source)
        await world.bus.ensure_consumer(consumer)
        await world.other.ensure_consumer(consumer)
        await world.bus.publish(message(subjects.channel(source, "th")))
        pull = await world.bus.pull(consumer, window=1)
        (one,) = await taken(pull, world)
        await one.done()
        await world.bus.ensure_consumer(replace(consumer, ack_wait=timedelta(seconds=7)))
        assert await taken(pull, world, within=0.3) == []
        await pull.stop()

    async def test_consumers_of_one_work_queue_must_not_overlap(self, world: World) -> None:
        source = unique()
        await world.bus.ensure_consumer(work_of(source))
        overlapping = Consumer(
            stream="CHANNEL", name=f"test-{unique()}", subject=subjects.channel(source, "th")
        )
        with pytest.raises(StreamMismatch, match="CHANNEL"):
            await world.bus.ensure_consumer(overlapping)

    async def test_a_stream_that_keeps_messages_serves_each_consumer(self, world: World) -> None:
        key = unique()
        sent = await world.bus.publish(message(subjects.thread(key)))
        for _ in range(2):
            consumer = Consumer(
                stream="THREAD", name=f"test-{unique()}", subject=subjects.thread(key)
            )
            pull = await world.bus.pull(consumer, window=1)
            (one,) = await taken(pull, world)
            await one.done()
            await pull.stop()
        assert await world.bus.at("THREAD", sent.sequence) is not None

    @pytest.mark.field("D2")
    async def test_a_late_answer_settles_transport_only_and_the_commit_stays_fenced(
        self, world: World
    ) -> None:
        source, subject = unique(), subjects.thread(unique())
        consumer = work_of(source, ack_wait=timedelta(seconds=0.4))
        await world.bus.publish(message(subjects.channel(source, "th")))
        slow = await world.bus.pull(consumer, window=1)
        (late,) = await taken(slow, world)
        quick = await world.other.pull(consumer, window=1)
        (second,) = await taken(quick, world)
        assert second.delivery.sequence == late.delivery.sequence
        await world.other.replace(message(subject, data=b"second"), expected=0)
        await late.done()
        with pytest.raises(Conflict):
            await world.bus.replace(message(subject, data=b"late"), expected=0)
        await second.done()
        commits = [one async for one in world.bus.history("THREAD", subject)]
        assert data_of(commits) == [b"second"]
        await slow.stop()
        await quick.stop()

    async def test_what_cannot_be_read_is_delivered_with_its_fault(self, world: World) -> None:
        source = unique()
        subject = subjects.channel(source, "th")
        await world.store_raw(subject, {"X-Foreign": "yes"}, b"\x00raw")
        pull = await world.bus.pull(work_of(source), window=1)
        (one,) = await taken(pull, world)
        assert one.fault is not None
        assert one.fault.subject == subject
        assert one.delivery.message.data == b"\x00raw"
        assert one.delivery.message.headers["X-Foreign"] == "yes"
        await one.drop("foreign")
        await pull.stop()

    # -- the rest -----------------------------------------------------------------------

    async def test_listeners_hear_what_is_published_while_they_listen(self, world: World) -> None:
        subject = subjects.policy(unique())
        await world.bus.publish(message(subject, data=b"before"))
        heard = await world.other.subscribe(subject)
        await world.bus.publish(message(subject, data=b"now"))
        async with asyncio.timeout(5):
            async for one in heard:
                assert (one.subject, one.data) == (subject, b"now")
                break

    async def test_a_closed_bus_is_not_ready(self, world: World) -> None:
        assert world.other.ready()
        await world.other.close()
        await world.other.close()
        assert not world.other.ready()
