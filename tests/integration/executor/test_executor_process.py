"""The executor service as processes on a real bus: lean, and replaced when one is lost."""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from remit.cli.embedded import NatsServer, ValkeyServer
from remit.domain.assignment import AssignmentState
from remit.domain.ids import SourceName
from remit.domain.ticket import Ticket
from support.acp_agents import PlannedAgents
from support.deployment import ServiceProcess
from support.domain import trigger
from support.executor_world import ExecutorWorld, executor_world, until
from support.servers import bus_on, running, running_nats

SESSIONS = 20
DONE = {"tool": "report", "args": {"kind": "ready", "text": "It is done.", "final": True}}
ACK_WAIT = 2.0


@pytest.fixture
def nats(tmp_path: Path) -> Iterator[NatsServer]:
    with running_nats(tmp_path / "nats") as server:
        yield server


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[ValkeyServer]:
    with running(ValkeyServer(data_dir=tmp_path / "valkey")) as server:
        yield server


@pytest.fixture
async def work(nats: NatsServer, tmp_path: Path) -> AsyncIterator[ExecutorWorld]:
    async with bus_on(nats) as bus, executor_world(bus, tmp_path / "tickets") as world:
        yield world


class Executors:
    """Executor processes of one deployment."""

    def __init__(
        self, nats: NatsServer, valkey: ValkeyServer, planned: PlannedAgents, folder: Path
    ) -> None:
        command = planned.command().command
        self._folder = folder
        self._environment = {
            "REMIT_NATS_URL": nats.url,
            "REMIT_REDIS_URL": valkey.url,
            "REMIT_WORK_ROOT": str(folder / "tickets"),
            "REMIT_AGENT_COMMAND": " ".join(command),
            "REMIT_ACK_WAIT_SECONDS": str(ACK_WAIT),
            "REMIT_LEASE_SECONDS": str(ACK_WAIT),
            "REMIT_CAPACITY": str(SESSIONS),
        }

    async def start(self, name: str) -> ServiceProcess:
        """Start one and wait until it is ready."""
        process = ServiceProcess("executor", self._environment, self._folder / f"{name}.log")
        await process.start()
        await process.until("ready")
        return process


@pytest.fixture
def executors(
    nats: NatsServer, valkey: ValkeyServer, planned: PlannedAgents, tmp_path: Path
) -> Executors:
    return Executors(nats, valkey, planned, tmp_path)


def is_over(ticket: Ticket) -> bool:
    return ticket.assignment is not None and ticket.assignment.state is AssignmentState.ENDED


def memory_of(process: ServiceProcess) -> float:
    """Return the resident memory of a process, in MB."""
    assert process._process is not None
    for line in Path(f"/proc/{process._process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no memory is told")


class TestIdle:
    @pytest.fixture
    def planned(self, tmp_path: Path) -> PlannedAgents:
        return PlannedAgents(tmp_path / "agent", [[DONE]])

    @pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
    async def test_an_idle_executor_is_lean_and_stops_at_once(self, executors: Executors) -> None:
        started = time.monotonic()
        idle = await executors.start("idle")
        took = time.monotonic() - started
        status, _ = await idle.readiness()
        assert status == 200
        assert memory_of(idle) < 90
        assert took < 10, "a bound for slow machines; the benchmark measures it"
        stopping = time.monotonic()
        assert await idle.stop() == 0
        assert time.monotonic() - stopping < 5


class TestLost:
    @pytest.fixture
    def planned(self, tmp_path: Path) -> PlannedAgents:
        hangs = [{"wait": 120}]
        return PlannedAgents(tmp_path / "agent", [*[hangs] * SESSIONS, [DONE]])

    @pytest.mark.slow
    @pytest.mark.rule("ASG-7")
    @pytest.mark.rule("INP-1")
    @pytest.mark.field("C15")
    @pytest.mark.timeout(120)
    async def test_every_session_of_a_lost_host_is_taken_over_and_each_input_read_once(
        self, executors: Executors, work: ExecutorWorld, planned: PlannedAgents
    ) -> None:
        first = await executors.start("first")
        tickets = [
            await work.open(trigger(n, source=SourceName("lost"))) for n in range(1, SESSIONS + 1)
        ]
        await until(lambda: planned.turns >= SESSIONS, 60)
        second = await executors.start("second")
        orphan = planned.pid
        await first.kill()
        lost = time.monotonic()
        for ticket in tickets:
            state = await work.until(ticket, is_over, 60)
            assert state.assignment is not None
            assert state.assignment.number == 2
            assert state.delivered == 1
        took = time.monotonic() - lost
        assert took < 30, "with the work itself; slow machines need some of it"
        assert planned.times_read(1) == SESSIONS
        assert len(planned.sessions) == SESSIONS
        with pytest.raises(ProcessLookupError):
            os.kill(orphan, 0)
        assert await second.stop() == 0

    @pytest.mark.field("D10")
    @pytest.mark.field("D11")
    async def test_a_host_that_is_asked_to_stop_hands_over_at_once(
        self, executors: Executors, work: ExecutorWorld, planned: PlannedAgents
    ) -> None:
        (planned.home.parent / "home").mkdir(exist_ok=True)
        (planned.home / "turns").write_text(str(SESSIONS - 1))
        first = await executors.start("first")
        ticket = await work.open(trigger(1, source=SourceName("leaving")))
        await work.until(ticket, lambda t: t.delivered == 1)
        second = await executors.start("second")
        assert await first.stop() == 0
        ended = await work.until(ticket, is_over)
        assert ended.assignment is not None
        assert ended.assignment.number == 2
        assert planned.times_read(1) == 1
        assert await second.stop() == 0
