"""What restarts, crashes and pauses of NATS cost: time, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from remit.bus import subjects
from remit.bus.errors import BusUnavailable, PublishRefused
from remit.bus.message import Delivery, Message
from remit.bus.nats import NatsBus
from remit.bus.ports import Consumer, Done, Outcome
from remit.bus.provisioning import apply
from remit.bus.relay import Relay
from remit.bus.worker import Worker
from remit.cli.embedded import NatsServer
from support.contracts.bus import data_of, first, message, unique, work_of
from support.counting import Count, add, count_log
from support.faulty import FaultyBus
from support.servers import bus_on, running_nats


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    """A server of this test's own, to be mistreated."""
    with running_nats(tmp_path / "nats") as server:
        yield server


@pytest.fixture
async def bus(server: NatsServer) -> AsyncIterator[NatsBus]:
    async with bus_on(server) as bus:
        yield bus


class Recorder:
    """A handler that records what it worked on."""

    def __init__(self) -> None:
        self.seen: list[bytes] = []

    async def __call__(self, deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        self.seen += [one.message.data for one in deliveries]
        return [Done()] * len(deliveries)


async def until(condition: Callable[[], bool], within: float = 20) -> None:
    async with asyncio.timeout(within):
        while not condition():  # noqa: ASYNC110 - what it waits for may be anything
            await asyncio.sleep(0.02)


REPORTS = Consumer(
    stream="REPORT",
    name="reports",
    subject=subjects.REPORTS,
    ack_wait=timedelta(seconds=2),
)


def report(number: int) -> Message:
    return message(subjects.report(f"t{number}"), data=b"%d" % number)


@pytest.mark.parametrize("how", ["restart", "crash"])
async def test_publishing_goes_on_through_a_restart_and_stores_each_message_once(
    server: NatsServer, bus: NatsBus, how: str
) -> None:
    subject = subjects.thread(unique())
    sent = [message(subject, data=b"%d" % n) for n in range(300)]

    async def publish() -> None:
        for one in sent:
            await bus.publish(one)

    publishing = asyncio.ensure_future(publish())
    await asyncio.sleep(0.05)
    if how == "crash":
        await server.kill()
        await asyncio.sleep(0.3)
    await server.restart()
    await publishing
    found = [one async for one in bus.history("THREAD", subject)]
    assert data_of(found) == [one.data for one in sent]


async def test_pipelined_publishing_goes_on_through_a_crash(
    server: NatsServer, bus: NatsBus
) -> None:
    source = unique()
    sent = [message(subjects.trigger(source, str(n), "h"), data=b"%d" % n) for n in range(2000)]
    publishing = asyncio.ensure_future(bus.publish_all(sent))
    await asyncio.sleep(0.02)
    await server.kill()
    await server.restart()
    stored = await publishing
    found = [one async for one in bus.history("TRIGGER", subjects.triggers_of(source))]
    assert len(stored) == len(sent)
    assert sorted(data_of(found)) == sorted(one.data for one in sent)


async def test_what_was_acknowledged_survives_a_crash(server: NatsServer, bus: NatsBus) -> None:
    subject = subjects.thread(unique())
    stored = await bus.publish_all([message(subject) for _ in range(500)])
    await server.kill()
    await server.restart()
    found = [one async for one in bus.history("THREAD", subject)]
    assert [one.sequence for one in found] == [one.sequence for one in stored]


@pytest.mark.field("D6")
async def test_a_restart_is_told_in_one_line_each_way(server: NatsServer, bus: NatsBus) -> None:
    recorder = Recorder()
    workers = [Worker(bus, REPORTS, recorder)] + [
        Worker(bus, work_of(unique()), recorder) for _ in range(4)
    ]
    running = [asyncio.ensure_future(worker.run()) for worker in workers]
    await bus.publish(report(1))
    await until(lambda: recorder.seen == [b"1"])
    with capture_logs() as logs:
        await server.kill()
        await until(lambda: not bus.ready())
        await asyncio.sleep(3)
        await server.restart()
        await until(bus.ready)
        await bus.publish(report(2))
        await until(lambda: recorder.seen == [b"1", b"2"])
    assert [line["event"] for line in logs] == ["NATS is away", "NATS is back"]
    assert all(worker.progressing() for worker in workers)
    await asyncio.gather(*(worker.stop() for worker in workers), *running)


async def test_a_worker_goes_on_after_its_consumer_was_deleted(
    server: NatsServer, bus: NatsBus
) -> None:
    recorder = Recorder()
    worker = Worker(bus, REPORTS, recorder)
    running = asyncio.ensure_future(worker.run())
    await bus.publish(report(1))
    await until(lambda: recorder.seen == [b"1"])
    with capture_logs() as logs:
        await bus.api("CONSUMER.DELETE.REPORT.reports")
        await bus.publish(report(2))
        await until(lambda: recorder.seen == [b"1", b"2"])
    assert [line["event"] for line in logs] == ["cannot receive", "receives again"]
    await asyncio.gather(worker.stop(), running)


async def test_nothing_is_lost_and_little_repeated_when_the_server_dies_under_workers(
    server: NatsServer, bus: NatsBus
) -> None:
    recorder = Recorder()
    worker = Worker(bus, REPORTS, recorder)
    running = asyncio.ensure_future(worker.run())
    publishing = asyncio.ensure_future(_publish_slowly(bus, 400))
    for _ in range(2):
        await asyncio.sleep(0.3)
        await server.kill()
        await server.restart()
    await publishing
    await until(lambda: len(set(recorder.seen)) == 400)
    assert len(recorder.seen) < 500
    await asyncio.gather(worker.stop(), running)


async def _publish_slowly(bus: NatsBus, count: int) -> None:
    for number in range(count):
        await bus.publish(report(number))
        await asyncio.sleep(0.002)


async def test_commits_go_on_through_a_crash_and_each_lands_once(
    server: NatsServer, bus: NatsBus
) -> None:
    log, key = count_log(bus), unique()

    async def commit() -> None:
        for number in range(200):
            await log.transact(key, f"c{number}", add(str(number)))

    committing = asyncio.ensure_future(commit())
    await asyncio.sleep(0.05)
    await server.kill()
    await asyncio.sleep(0.2)
    await server.restart()
    await committing
    held = await count_log(bus).load(key, leader=True)
    assert held.state is not None
    assert held.state.by == tuple(str(number) for number in range(200))
    commits = [one async for one in bus.history("THREAD", subjects.thread(key))]
    assert len(commits) == 200


async def test_a_commit_that_lands_late_is_recognised(server: NatsServer, bus: NatsBus) -> None:
    """A paused server stores what it was sent when it goes on, long after the sender gave up."""
    log, key = count_log(bus), unique()
    await log.transact(key, "c1", add("ann"))
    server.pause()
    committing = asyncio.ensure_future(log.transact(key, "c2", add("ben")))
    await asyncio.sleep(6)
    server.resume()
    held = await committing
    assert held.state == Count(total=2, by=("ann", "ben"))
    assert len([one async for one in bus.history("THREAD", subjects.thread(key))]) == 2


async def test_following_resumes_after_restarts_with_each_message_once(
    server: NatsServer, bus: NatsBus
) -> None:
    source = unique()
    following = asyncio.ensure_future(
        first(bus.follow("TRIGGER", subjects.triggers_of(source)), 30, within=30)
    )
    for number in range(30):
        await bus.publish(message(subjects.trigger(source, str(number), "h"), data=b"%d" % number))
        if number in (10, 20):
            await server.kill()
            await server.restart()
    assert data_of(await following) == [b"%d" % number for number in range(30)]


async def test_a_timer_fires_once_also_when_the_server_was_down_at_its_time(
    server: NatsServer, bus: NatsBus
) -> None:
    due = datetime.now(UTC) + timedelta(seconds=1.5)
    during, after = subjects.command_thread(unique()), subjects.command_thread(unique())
    await bus.publish(replace(message(during, "n"), deliver_at=due))
    await bus.publish(replace(message(after, "n2"), deliver_at=due + timedelta(seconds=2)))
    await server.kill()
    await asyncio.sleep(2)
    await server.restart()
    await asyncio.sleep(2.5)
    for subject in (during, after):
        fired = [one async for one in bus.history("COMMAND", subject)]
        assert len(fired) == 1
    await server.restart()
    await asyncio.sleep(0.5)
    for subject in (during, after):
        assert len([one async for one in bus.history("COMMAND", subject)]) == 1


async def test_a_relay_killed_half_way_repeats_without_effect(
    server: NatsServer, bus: NatsBus
) -> None:
    key, source = unique(), unique()
    outbox = tuple(message(subjects.channel(source, str(n)), data=b"%d" % n) for n in range(20))
    await count_log(bus).transact(key, "c1", add("ann", outbox))
    dying = FaultyBus(bus)

    async def publish_half(messages: Sequence[Message]) -> None:
        await bus.publish_all(messages[:10])
        await asyncio.Event().wait()

    dying.publish_all = publish_half  # type: ignore[method-assign, assignment]
    half = asyncio.ensure_future(_relay(dying).run())
    first_half = bus.history("CHANNEL", subjects.channels_of(source))
    await asyncio.sleep(0.5)
    assert len([one async for one in first_half]) == 10
    half.cancel()
    await asyncio.gather(half, return_exceptions=True)
    relay = _relay(bus)
    running = asyncio.ensure_future(relay.run())
    await asyncio.sleep(3)
    await asyncio.gather(relay.stop(), running)
    relayed = [one async for one in bus.history("CHANNEL", subjects.channels_of(source))]
    assert data_of(relayed) == [one.data for one in outbox]


def _relay(bus: NatsBus | FaultyBus) -> Relay:
    relay = Relay(bus, stream="THREAD", name="thread-relay")
    relay._worker._consumer = replace(relay._worker._consumer, ack_wait=timedelta(seconds=1))
    return relay


@pytest.mark.field("D11")
async def test_stopping_a_worker_acknowledges_before_it_leaves(
    server: NatsServer, bus: NatsBus
) -> None:
    gate = asyncio.Event()
    started: list[bytes] = []

    async def slow(deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        started.extend(one.message.data for one in deliveries)
        await gate.wait()
        return [Done()] * len(deliveries)

    leaving = await NatsBus.connect(server.url, name="leaving")
    worker = Worker(leaving, replace(REPORTS, ack_wait=timedelta(seconds=30)), slow, concurrency=4)
    running = asyncio.ensure_future(worker.run())
    await bus.publish_all([report(number) for number in range(60)])
    await until(lambda: len(started) == 4)
    stopping = asyncio.ensure_future(worker.stop())
    await asyncio.sleep(0.1)
    gate.set()
    await asyncio.gather(stopping, running)
    await leaving.close()
    recorder = Recorder()
    successor = Worker(bus, replace(REPORTS, ack_wait=timedelta(seconds=30)), recorder)
    running = asyncio.ensure_future(successor.run())
    # Well before ack_wait: whatever was in hand was acknowledged or put back.
    await until(lambda: len(recorder.seen) >= 56, within=5)
    await asyncio.sleep(0.3)
    assert sorted(recorder.seen + started, key=int) == [b"%d" % number for number in range(60)]
    await asyncio.gather(successor.stop(), running)


async def test_a_server_that_cannot_be_reached_is_told_in_time() -> None:
    with capture_logs(), pytest.raises(BusUnavailable, match="connect"):
        await NatsBus.connect("nats://127.0.0.1:1", name="test", within=0.5)


@pytest.mark.slow
async def test_a_server_that_stays_away_is_told_within_the_bound(
    server: NatsServer, bus: NatsBus
) -> None:
    loop = asyncio.get_running_loop()
    with capture_logs():
        await server.kill()
        start = loop.time()
        results = await asyncio.gather(
            bus.publish(report(1)),
            bus.replace(message(subjects.thread("a")), expected=0),
            bus.last("THREAD", "thread.a"),
            bus.last("THREAD", "thread.a", leader=True),
            return_exceptions=True,
        )
    assert all(isinstance(one, BusUnavailable) for one in results)
    assert 10 < loop.time() - start < 25


async def test_a_password_is_never_logged_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    config = 'authorization { users = [ { user: "svc", password: "right" } ] }'
    async with NatsServer(data_dir=tmp_path, config=config) as server:
        url = server.url.replace("nats://", "nats://svc:wrong@")
        with capture_logs() as logs, pytest.raises(BusUnavailable) as raised:
            await NatsBus.connect(url, name="test", within=1)
        assert "authorization" in str(raised.value).lower()
        assert "wrong" not in repr(logs) + str(raised.value)
        bus = await NatsBus.connect(server.url, name="test", user="svc", password="right")
        assert bus.ready()
        await bus.close()


async def test_a_user_without_the_right_is_refused_by_name(tmp_path: Path) -> None:
    config = """
    authorization { users = [
      { user: "admin", password: "a" },
      { user: "narrow", password: "n", permissions: {
          publish: ["report.>", "$JS.API.>", "_INBOX.>"], subscribe: ["_INBOX.>"] } }
    ] }
    """
    async with NatsServer(data_dir=tmp_path, config=config) as server:
        admin = await NatsBus.connect(server.url, name="admin", user="admin", password="a")
        await apply(admin)
        narrow = await NatsBus.connect(server.url, name="narrow", user="narrow", password="n")
        with capture_logs() as logs:
            await narrow.publish(report(1))
            for _ in range(2):
                with pytest.raises(PublishRefused, match=r"(?i)permissions violation"):
                    await narrow.publish(message(subjects.thread("Secret")))
        assert [line["event"] for line in logs] == ["NATS refused"]
        await admin.close()
        await narrow.close()
