from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from structlog.testing import capture_logs

from remit.bus import deadletters, subjects
from remit.bus.clock import ManualClock
from remit.bus.errors import BusUnavailable
from remit.bus.memory import MemoryBus
from remit.bus.message import Delivery, Message
from remit.bus.ports import Consumer, Done, Later, Never, Outcome, one_by_one
from remit.bus.streams import streams
from remit.bus.worker import Worker
from support.driving import work_off

CONSUMER = Consumer(
    stream="REPORT",
    name="reports",
    subject=subjects.REPORTS,
    attempts=3,
    ack_wait=timedelta(seconds=30),
    backoff=(timedelta(seconds=1), timedelta(seconds=5)),
)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def bus(clock: ManualClock) -> MemoryBus:
    return MemoryBus(clock=clock)


def report(ticket: str, data: str = "") -> Message:
    return Message(
        subject=subjects.report(ticket),
        id=f"{ticket}:{data}",
        type="remit.report",
        source="/remit/executor",
        data=data.encode(),
    )


class Handler:
    """Records batches; answers what it is told to, `Done` by default."""

    def __init__(self, answer: Callable[[Delivery], Outcome | Exception] | None = None) -> None:
        self.batches: list[list[str]] = []
        self.answer = answer or (lambda _: Done())
        self.gate = asyncio.Event()
        self.gate.set()
        self.most = 0
        self._now = 0

    async def __call__(self, deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        self.batches.append([one.message.data.decode() for one in deliveries])
        self._now += 1
        self.most = max(self.most, self._now)
        try:
            await asyncio.sleep(0)
            await self.gate.wait()
        finally:
            self._now -= 1
        outcomes = [self.answer(one) for one in deliveries]
        for outcome in outcomes:
            if isinstance(outcome, Exception):
                raise outcome
        return [one for one in outcomes if not isinstance(one, Exception)]


async def test_done_messages_are_worked_on_once_and_gone(
    bus: MemoryBus, clock: ManualClock
) -> None:
    handler = Handler()
    await bus.publish_all([report("t1", "a"), report("t2", "b")])
    await work_off(bus, Worker(bus, CONSUMER, handler, clock=clock))
    await work_off(bus, Worker(bus, CONSUMER, handler, clock=clock))
    assert sorted(handler.batches) == [["a"], ["b"]]
    assert bus.stored(">") == []


async def test_one_key_is_worked_on_in_order_and_what_waits_together_goes_together(
    bus: MemoryBus, clock: ManualClock
) -> None:
    handler = Handler()
    await bus.publish_all([report("t1", str(n)) for n in range(10)])
    await work_off(bus, Worker(bus, CONSUMER, handler, concurrency=4, batch=3, clock=clock))
    assert [data for batch in handler.batches for data in batch] == [str(n) for n in range(10)]
    assert [len(batch) for batch in handler.batches] == [3, 3, 3, 1]
    assert handler.most == 1


async def test_different_keys_are_worked_on_at_the_same_time_up_to_the_bound(
    bus: MemoryBus, clock: ManualClock
) -> None:
    handler = Handler()
    await bus.publish_all([report(f"t{n}") for n in range(20)])
    await work_off(bus, Worker(bus, CONSUMER, handler, concurrency=4, batch=1, clock=clock))
    assert handler.most == 4
    assert len(handler.batches) == 20


async def test_the_key_is_the_callers_choice(bus: MemoryBus, clock: ManualClock) -> None:
    handler = Handler()
    await bus.publish_all([report(f"t{n}", str(n)) for n in range(4)])
    worker = Worker(bus, CONSUMER, handler, key=lambda one: "all", clock=clock)
    await work_off(bus, worker)
    assert handler.batches == [["0", "1", "2", "3"]]


@pytest.mark.field("D1")
async def test_no_more_is_taken_than_is_worked_on(bus: MemoryBus, clock: ManualClock) -> None:
    slow, quick = Handler(), Handler()
    slow.gate.clear()
    await bus.publish_all([report(f"t{n}") for n in range(10)])
    busy = Worker(bus, CONSUMER, slow, concurrency=2, batch=1, clock=clock)
    running = asyncio.ensure_future(busy.run())
    await clock.advance(0)
    assert len(slow.batches) == 2
    other = Worker(bus, CONSUMER, quick, concurrency=2, batch=1, clock=clock)
    other_running = asyncio.ensure_future(other.run())
    await clock.advance(0.1)
    assert len(quick.batches) == 8
    slow.gate.set()
    await asyncio.gather(busy.stop(), other.stop(), running, other_running)


@pytest.mark.field("D1")
async def test_long_work_keeps_its_message_by_heartbeats(
    bus: MemoryBus, clock: ManualClock
) -> None:
    slow, other = Handler(), Handler()
    slow.gate.clear()
    await bus.publish_all([report("t1", "a"), report("t1", "b")])
    workers = [Worker(bus, CONSUMER, handler, batch=1, clock=clock) for handler in (slow, other)]
    running = [asyncio.ensure_future(workers[0].run())]
    await clock.advance(1)
    running.append(asyncio.ensure_future(workers[1].run()))
    await clock.advance(600)
    assert other.batches == []
    slow.gate.set()
    await clock.advance(1)
    assert slow.batches == [["a"], ["b"]]
    await asyncio.gather(*(worker.stop() for worker in workers), *running)


async def test_a_message_put_back_comes_again_after_its_own_delay_or_the_back_off(
    bus: MemoryBus, clock: ManualClock
) -> None:
    attempts: list[tuple[int, float]] = []
    start = clock.now()

    async def handle(delivery: Delivery) -> Outcome:
        attempts.append((delivery.attempt, (clock.now() - start).total_seconds()))
        if delivery.attempt == 1:
            return Later("not yet", timedelta(seconds=20))
        return Later("not yet") if delivery.attempt == 2 else Done()

    worker = Worker(bus, CONSUMER, one_by_one(handle), clock=clock)
    running = asyncio.ensure_future(worker.run())
    await bus.publish(report("t1"))
    await clock.advance(60)
    await asyncio.gather(worker.stop(), running)
    assert attempts == [(1, 0), (2, 20), (3, 25)]


async def test_what_can_never_be_worked_on_goes_to_the_dead_letters_whole(
    bus: MemoryBus, clock: ManualClock
) -> None:
    sent = replace(
        report("t1", "data"), headers={"X-A": "b"}, trace={"traceparent": "00-1-2-01"}, commit=4
    )
    stored = await bus.publish(sent)
    handler = Handler(lambda _: Never("no such Ticket:\nt1"))
    with capture_logs() as logs:
        await work_off(bus, Worker(bus, CONSUMER, handler, clock=clock))
    (buried,) = bus.stored("deadletter.REPORT")
    letter = deadletters.read(buried)
    assert letter.message == sent
    assert letter.reason == "no such Ticket:\nt1"
    assert (letter.stream, letter.sequence) == ("REPORT", stored.sequence)
    assert (letter.consumer, letter.attempts) == ("reports", 1)
    assert bus.stored("report.>") == []
    assert [line["event"] for line in logs] == ["gave up on a message"]


async def test_a_handler_that_raises_is_logged_once_an_attempt_and_given_up_on_in_the_end(
    bus: MemoryBus, clock: ManualClock
) -> None:
    handler = Handler(lambda _: RuntimeError("broken"))
    worker = Worker(bus, CONSUMER, handler, clock=clock)
    await bus.publish(report("t1"))
    with capture_logs() as logs:
        running = asyncio.ensure_future(worker.run())
        await clock.advance(60)
        await asyncio.gather(worker.stop(), running)
    assert len(handler.batches) == 3
    assert [line["event"] for line in logs] == ["handler failed"] * 3 + ["gave up on a message"]
    letter = deadletters.read(bus.stored("deadletter.REPORT")[0])
    assert letter.reason == "RuntimeError: broken (after 3 attempts)"
    assert letter.attempts == 3


async def test_one_outcome_for_each_delivery_is_checked(bus: MemoryBus, clock: ManualClock) -> None:
    async def forgetful(deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        return [Done()]

    worker = Worker(bus, CONSUMER, forgetful, clock=clock)
    await bus.publish_all([report("t1", "a"), report("t1", "b")])
    with capture_logs() as logs:
        await work_off(bus, worker)
    assert [line["event"] for line in logs] == ["handler failed"]
    assert len(bus.stored("report.>")) == 2


async def test_each_delivery_of_a_batch_has_its_own_end(bus: MemoryBus, clock: ManualClock) -> None:
    ends: dict[str, Outcome] = {"a": Done(), "b": Later("x"), "c": Never("y"), "d": Done()}
    handler = Handler(lambda one: ends[one.message.data.decode()])
    await bus.publish_all([report("t1", data) for data in "abcd"])
    await work_off(bus, Worker(bus, CONSUMER, handler, clock=clock))
    assert [one.message.data for one in bus.stored("report.>")] == [b"b"]
    assert [one.message.data for one in bus.stored("deadletter.>")] == [b"c"]


async def test_a_message_that_cannot_be_read_goes_to_the_dead_letters_whole(
    bus: MemoryBus, clock: ManualClock
) -> None:
    handler = Handler()
    bus.store_raw("report.t1", {"ce-id": "1", "X-Foreign": "yes"}, b"\xffraw")
    await bus.publish(report("t1", "a"))
    await work_off(bus, Worker(bus, CONSUMER, handler, clock=clock))
    assert handler.batches == [["a"]]
    letter = deadletters.read(bus.stored("deadletter.REPORT")[0])
    assert letter.message.data == b"\xffraw"
    assert letter.headers == {"ce-id": "1", "X-Foreign": "yes"}
    assert "ce-specversion" in letter.reason


async def test_a_message_that_kills_its_workers_is_given_up_on_unseen(
    bus: MemoryBus, clock: ManualClock
) -> None:
    await bus.publish(report("t1"))
    for _ in range(3):
        killed = await bus.pull(CONSUMER, window=1)
        await killed.take()
        await clock.advance(31)
    handler = Handler()
    await work_off(bus, Worker(bus, CONSUMER, handler, clock=clock))
    assert handler.batches == []
    assert "no attempt of 3" in deadletters.read(bus.stored("deadletter.>")[0]).reason


async def test_without_its_dead_letter_a_message_is_not_dropped(clock: ManualClock) -> None:
    bus = MemoryBus(clock=clock, streams=[s for s in streams() if s.name != "DEADLETTER"])
    await bus.publish(report("t1"))
    worker = Worker(bus, CONSUMER, Handler(lambda _: Never("x")), clock=clock)
    with capture_logs() as logs:
        await work_off(bus, worker)
    assert [line["event"] for line in logs] == ["a dead letter was not taken"]
    assert len(bus.stored("report.>")) == 1


@pytest.mark.field("D6")
async def test_while_a_neighbour_is_away_work_is_held_told_once_and_nothing_given_up(
    bus: MemoryBus, clock: ManualClock
) -> None:
    class RedisAway(Exception):
        pass

    away: list[Exception] = [RedisAway("gone")]
    handler = Handler(lambda _: away[0] if away else Done())
    worker = Worker(bus, CONSUMER, handler, away=(RedisAway, BusUnavailable), clock=clock)
    await bus.publish_all([report(f"t{n}", str(n)) for n in range(3)])
    with capture_logs() as logs:
        running = asyncio.ensure_future(worker.run())
        await clock.advance(3600)
        tried = len(handler.batches)
        away.clear()
        await clock.advance(30)
        await asyncio.gather(worker.stop(), running)
    assert tried > 3 * CONSUMER.attempts
    assert [line["event"] for line in logs] == [
        "holds its work while a neighbour is away",
        "goes on with its work",
    ]
    assert bus.stored(">") == []


async def test_a_stop_while_a_neighbour_is_away_puts_the_work_back(
    bus: MemoryBus, clock: ManualClock
) -> None:
    handler = Handler(lambda _: BusUnavailable("write"))
    worker = Worker(bus, CONSUMER, handler, clock=clock)
    await bus.publish(report("t1", "a"))
    running = asyncio.ensure_future(worker.run())
    await clock.advance(0.1)
    await asyncio.gather(worker.stop(), running)
    next_handler = Handler()
    await work_off(bus, Worker(bus, CONSUMER, next_handler, clock=clock))
    assert next_handler.batches == [["a"]]


@pytest.mark.field("D11")
async def test_stop_finishes_what_runs_puts_back_what_waits_and_takes_nothing_new(
    bus: MemoryBus, clock: ManualClock
) -> None:
    handler, next_handler = Handler(), Handler()
    handler.gate.clear()
    await bus.publish_all([report("t1", data) for data in "ab"])
    worker = Worker(bus, CONSUMER, handler, batch=1, clock=clock)
    running = asyncio.ensure_future(worker.run())
    await clock.advance(0.1)
    stopping = asyncio.ensure_future(worker.stop())
    await clock.advance(0.1)
    await bus.publish(report("t2", "c"))
    assert not stopping.done()
    handler.gate.set()
    await asyncio.gather(stopping, running)
    assert handler.batches == [["a"]]
    await work_off(bus, Worker(bus, CONSUMER, next_handler, clock=clock))
    assert sorted(next_handler.batches) == [["b"], ["c"]]


@pytest.mark.field("D11")
async def test_stop_waits_no_longer_than_the_drain(bus: MemoryBus, clock: ManualClock) -> None:
    handler, next_handler = Handler(), Handler()
    handler.gate.clear()
    await bus.publish(report("t1", "a"))
    worker = Worker(bus, CONSUMER, handler, drain=timedelta(seconds=5), clock=clock)
    running = asyncio.ensure_future(worker.run())
    await clock.advance(0.1)
    stopping = asyncio.ensure_future(worker.stop())
    await clock.advance(4)
    assert not stopping.done()
    with capture_logs() as logs:
        await clock.advance(2)
        await asyncio.gather(stopping, running)
    assert [line["event"] for line in logs] == ["puts back what it could not finish"]
    await work_off(bus, Worker(bus, CONSUMER, next_handler, clock=clock))
    assert next_handler.batches == [["a"]]


async def test_stop_before_run_lets_run_return(bus: MemoryBus, clock: ManualClock) -> None:
    worker = Worker(bus, CONSUMER, Handler(), clock=clock)
    await worker.stop()
    await worker.run()


@pytest.mark.field("D6")
async def test_a_stream_that_is_not_there_yet_is_waited_for_and_told_once(
    clock: ManualClock,
) -> None:
    empty = MemoryBus(clock=clock, streams=[])
    full = MemoryBus(clock=clock)

    class Growing:
        current = empty

        def __getattr__(self, name: str) -> object:
            return getattr(self.current, name)

    growing, handler = Growing(), Handler()
    worker = Worker(growing, CONSUMER, handler, clock=clock)  # type: ignore[arg-type]
    await full.publish(report("t1", "a"))
    with capture_logs() as logs:
        running = asyncio.ensure_future(worker.run())
        await clock.advance(120)
        growing.current = full
        await clock.advance(11)
        assert worker.progressing()
        await asyncio.gather(worker.stop(), running)
    assert handler.batches == [["a"]]
    assert [line["event"] for line in logs] == ["cannot receive yet", "receives now"]


@pytest.mark.field("D5")
async def test_liveness_is_progress_and_not_the_connection(
    bus: MemoryBus, clock: ManualClock
) -> None:
    class Silent:
        heard_at = clock.now()

        async def take(self) -> Sequence[object]:
            await asyncio.Event().wait()
            return ()

        async def stop(self) -> Sequence[object]:
            return ()

    class SilentBus:
        def ready(self) -> bool:
            return self.up

        up = True

        async def pull(self, consumer: Consumer, *, window: int) -> Silent:
            return Silent()

    silent = SilentBus()
    worker = Worker(silent, CONSUMER, Handler(), clock=clock)  # type: ignore[arg-type]
    running = asyncio.ensure_future(worker.run())
    await clock.advance(50)
    assert worker.progressing()
    await clock.advance(20)
    assert not worker.progressing()
    silent.up = False
    await clock.advance(20)
    assert worker.progressing()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)


async def test_a_handler_that_never_ends_is_no_progress(bus: MemoryBus, clock: ManualClock) -> None:
    handler = Handler()
    handler.gate.clear()
    await bus.publish(report("t1"))
    worker = Worker(bus, CONSUMER, handler, longest=timedelta(minutes=5), clock=clock)
    running = asyncio.ensure_future(worker.run())
    await clock.advance(299)
    assert worker.progressing()
    await clock.advance(2)
    assert not worker.progressing()
    handler.gate.set()
    await asyncio.gather(worker.stop(), running)


async def test_a_full_worker_is_not_stuck_because_it_asks_for_nothing(
    bus: MemoryBus, clock: ManualClock
) -> None:
    handler = Handler()
    handler.gate.clear()
    await bus.publish(report("t1"))
    worker = Worker(bus, CONSUMER, handler, concurrency=1, batch=1, clock=clock)
    running = asyncio.ensure_future(worker.run())
    await clock.advance(120)
    assert worker.progressing()
    handler.gate.set()
    await asyncio.gather(worker.stop(), running)
