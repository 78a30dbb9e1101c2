from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest

from remit.bus.clock import ManualClock
from remit.cli.supervisor import Patience, Program, State, Status, Supervisor, ending, event_in
from support.programs import Stage

PATIENCE = Patience(
    first=timedelta(seconds=1),
    most=timedelta(seconds=8),
    settled=timedelta(seconds=60),
    grace=timedelta(seconds=5),
)


class Watched:
    """A supervisor on a stage, with everything it told."""

    def __init__(self, *programs: Program, stubborn: frozenset[str] = frozenset()) -> None:
        self.clock = ManualClock()
        self.stage = Stage(stubborn=stubborn)
        self.changes: list[Status] = []
        self.said: list[tuple[str, bytes]] = []
        self.supervisor = Supervisor(
            programs,
            spawn=self.stage.spawn,
            clock=self.clock,
            on_change=self.changes.append,
            on_line=lambda name, line: self.said.append((name, line)),
            patience=PATIENCE,
        )

    async def start(self) -> None:
        self.supervisor.start()
        await self.settle()

    async def settle(self, seconds: float = 0) -> None:
        await self.clock.advance(seconds)

    def state(self, name: str) -> State:
        return self.supervisor.status()[name].state

    def starts(self, name: str) -> int:
        return len(self.stage.started.get(name, []))


def program(name: str, *, stage: int = 0) -> Program:
    return Program(name=name, command=(name,), stage=stage)


async def test_a_program_is_ready_once_it_says_so() -> None:
    watched = Watched(program("source"))
    await watched.start()
    assert watched.state("source") is State.STARTING

    watched.stage.latest("source").say("serving", port=8123, pid=1)
    await watched.settle()
    assert watched.state("source") is State.SERVING
    assert watched.supervisor.status()["source"].port == 8123

    watched.stage.latest("source").say("ready")
    await watched.settle()
    assert watched.state("source") is State.READY


async def test_what_a_program_waits_for_is_told() -> None:
    watched = Watched(program("ticket"))
    await watched.start()
    watched.stage.latest("ticket").say("waiting", reason="NATS cannot be reached")
    await watched.settle()
    assert watched.supervisor.status()["ticket"].detail == "NATS cannot be reached"


async def test_every_line_is_handed_on_also_what_is_no_log_event() -> None:
    watched = Watched(program("source"))
    await watched.start()
    for line in (b"Traceback (most recent call last):\n", b"{broken\n", b"[1]\n", b"\n"):
        watched.stage.latest("source").say_raw(line)
    await watched.settle()
    assert [line for _, line in watched.said] == [
        b"Traceback (most recent call last):\n",
        b"{broken\n",
        b"[1]\n",
        b"\n",
    ]
    assert watched.state("source") is State.STARTING


async def test_a_program_that_dies_is_started_again_after_a_delay() -> None:
    watched = Watched(program("eval"), program("ticket"))
    await watched.start()
    watched.stage.latest("eval").say("ready")
    await watched.settle()

    watched.stage.latest("eval").end(-9)
    await watched.settle()
    status = watched.supervisor.status()["eval"]
    assert status.state is State.DIED
    assert "ended by signal 9" in status.detail
    assert status.port is None
    await watched.settle(0.9)
    assert watched.starts("eval") == 1
    await watched.settle(0.1)
    assert watched.starts("eval") == 2
    assert watched.starts("ticket") == 1, "the others are left alone"


async def test_restarts_come_later_each_time_up_to_a_bound() -> None:
    watched = Watched(program("eval"))
    await watched.start()
    seen = []
    for _ in range(6):
        watched.stage.latest("eval").end(1)
        before, began = watched.starts("eval"), watched.clock.now()
        while watched.starts("eval") == before:
            await watched.settle(0.5)
        seen.append((watched.clock.now() - began).total_seconds())
    assert seen == [1, 2, 4, 8, 8, 8]


async def test_a_program_that_ran_for_long_is_started_again_soon() -> None:
    watched = Watched(program("eval"))
    await watched.start()
    for _ in range(3):
        watched.stage.latest("eval").end(1)
        await watched.settle(8)
    await watched.settle(60)
    watched.stage.latest("eval").end(1)
    await watched.settle(1)
    assert watched.starts("eval") == 5


async def test_a_program_that_cannot_be_started_says_why_and_is_tried_again() -> None:
    watched = Watched(program("eval"))
    watched.stage.refusals["eval"] = FileNotFoundError(2, "No such file or directory")
    await watched.start()
    assert "No such file or directory" in watched.supervisor.status()["eval"].detail
    watched.stage.refusals.clear()
    await watched.settle(1)
    assert watched.starts("eval") == 1


async def test_all_are_ready_only_when_they_are_at_the_same_time() -> None:
    watched = Watched(program("source"), program("eval"))
    await watched.start()
    ready = asyncio.create_task(watched.supervisor.all_ready())
    watched.stage.latest("source").say("ready")
    await watched.settle()
    watched.stage.latest("source").end(1)
    watched.stage.latest("eval").say("ready")
    await watched.settle(1)
    assert not ready.done()
    watched.stage.latest("source").say("ready")
    await watched.settle()
    assert ready.done()


async def test_a_stop_goes_stage_by_stage() -> None:
    order = ["source", "ticket", "panel"]
    watched = Watched(
        *(program(name, stage=stage) for stage, name in reversed(list(enumerate(order)))),
        stubborn=frozenset(order),
    )
    await watched.start()
    stopping = asyncio.create_task(watched.supervisor.stop())
    for place, name in enumerate(order):
        await watched.settle()
        asked = [one for one in order if watched.stage.latest(one).asked_to_stop]
        assert asked == order[: place + 1]
        assert watched.state(name) is State.STOPPING
        watched.stage.latest(name).end(0)
    await watched.settle()
    assert stopping.done()
    assert {watched.state(name) for name in order} == {State.STOPPED}


async def test_a_program_that_does_not_stop_in_time_is_killed() -> None:
    watched = Watched(program("executor"), stubborn=frozenset({"executor"}))
    await watched.start()
    stopping = asyncio.create_task(watched.supervisor.stop())
    await watched.settle(4.9)
    assert not stopping.done()
    await watched.settle(0.2)
    assert stopping.done()
    assert await watched.stage.latest("executor").wait() == -9


async def test_nothing_is_started_again_while_it_stops() -> None:
    watched = Watched(program("eval"))
    await watched.start()
    watched.stage.latest("eval").end(1)
    await watched.settle()
    await watched.supervisor.stop()
    await watched.settle(100)
    assert watched.starts("eval") == 1
    assert watched.state("eval") is State.STOPPED


async def test_a_second_stop_kills_every_stage_at_once() -> None:
    names = frozenset({"source", "ticket"})
    watched = Watched(program("source", stage=0), program("ticket", stage=1), stubborn=names)
    await watched.start()
    stopping = asyncio.create_task(watched.supervisor.stop())
    await watched.settle()
    watched.supervisor.stop_at_once()
    await watched.settle()
    assert stopping.done()
    await watched.settle(100)
    assert watched.starts("source") == watched.starts("ticket") == 1


async def test_a_late_ready_does_not_undo_a_stop() -> None:
    watched = Watched(program("eval"), stubborn=frozenset({"eval"}))
    await watched.start()
    stopping = asyncio.create_task(watched.supervisor.stop())
    await watched.settle()
    watched.stage.latest("eval").say("ready")
    await watched.settle()
    assert watched.state("eval") is State.STOPPING
    watched.stage.latest("eval").end(0)
    await stopping


async def test_a_kill_is_a_crash_and_the_program_comes_back_in_a_new_process() -> None:
    watched = Watched(program("channel"))
    await watched.start()
    first = watched.supervisor.kill("channel")
    await watched.settle(1)
    assert watched.stage.latest("channel").pid != first
    assert watched.supervisor.kill("nobody") is None


@pytest.mark.parametrize(
    ("status", "words"), [(0, "ended with status 0"), (3, "ended with status 3"), (-9, "signal 9")]
)
def test_an_end_is_told_in_words(status: int, words: str) -> None:
    assert words in ending(status)


@pytest.mark.parametrize(
    "line", [b"", b"plain", b"{half", b'["event"]', b"\xff\xfe{", b'{"event": "ready"'[:5]]
)
def test_a_line_without_a_log_event_has_none(line: bytes) -> None:
    assert event_in(line) == {}


def test_a_log_event_is_read() -> None:
    assert event_in(json.dumps({"event": "ready", "port": 1}).encode()) == {
        "event": "ready",
        "port": 1,
    }
