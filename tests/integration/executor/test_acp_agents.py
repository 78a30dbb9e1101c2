"""Sessions with a real agent process that speaks ACP, and calls the product's tools over MCP."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from remit.domain.assignment import AssignmentEnd, AssignmentState
from remit.domain.report import ReportKind
from remit.domain.ticket import Ticket, TicketStatus
from remit.executor.conversation import Limits
from support.acp_agents import PlannedAgents, running_agents
from support.domain import trigger
from support.executor_world import ExecutorWorld

pytestmark = pytest.mark.timeout(120)

DONE = {"tool": "report", "args": {"kind": "ready", "text": "It is done.", "final": True}}
FOR_REVIEW = {"tool": "report", "args": {"kind": "ready", "text": "Have a look."}}


def is_over(ticket: Ticket) -> bool:
    return ticket.assignment is not None and ticket.assignment.state is AssignmentState.ENDED


@pytest.mark.rule("ASG-3")
async def test_an_agent_reads_asks_and_reports(world: ExecutorWorld, tmp_path: Path) -> None:
    ask = {"tool": "ask", "args": {"question": "Which colour?", "choices": ["red", "blue"]}}
    planned = PlannedAgents(tmp_path / "agent", [[{"say": "hm"}, ask], [DONE]])
    async with running_agents(planned.command()) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        asked = await world.until(ticket, lambda t: t.attention is not None)
        assert asked.attention is not None
        assert asked.attention.choices == ("red", "blue")
        await world.write(ticket, trigger(2, text="blue"))
        ended = await world.until(ticket, is_over)
        await world.left()
        assert ended.delivered == 2
        assert ended.attention is None
        assert len(planned.sessions) == 1
        assert planned.times_read(1) == planned.times_read(2) == 1
        assert "The work ends here" in planned.spoken
        await world.stop()


@pytest.mark.field("B10")
async def test_a_report_that_is_given_twice_is_told_once(
    world: ExecutorWorld, tmp_path: Path
) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[FOR_REVIEW, {"die": 3}], [FOR_REVIEW, DONE]])
    async with running_agents(planned.command()) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        await world.until(ticket, is_over)
        await world.left()
        told = [report.text for report in await world.reports(ticket)]
        assert told == ["Have a look.", "It is done."]
        assert "not sent a second time" in planned.spoken
        await world.stop()


@pytest.mark.rule("INP-1")
@pytest.mark.rule("ASG-7")
@pytest.mark.parametrize("dies", ["die", "die_unread"])
async def test_an_agent_that_dies_in_its_turn_reads_each_input_once(
    world: ExecutorWorld, tmp_path: Path, dies: str
) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[{"say": "hm"}, {dies: 9}], [DONE]])
    async with running_agents(planned.command()) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        await world.until(ticket, is_over)
        await world.left()
        assert planned.times_read(1) == 1
        assert len(planned.sessions) == 1
        assert planned.turns == 2
        await world.stop()


async def test_an_agent_that_is_killed_from_outside_goes_on(
    world: ExecutorWorld, tmp_path: Path
) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[{"wait": 60}], [DONE]])
    async with running_agents(planned.command()) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        await world.until(ticket, lambda t: t.delivered == 1)
        os.kill(planned.pid, signal.SIGKILL)
        await world.until(ticket, is_over)
        await world.left()
        assert planned.times_read(1) == 1
        await world.stop()


async def test_one_process_hosts_many_sessions(world: ExecutorWorld, tmp_path: Path) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[{"wait": 0.3}, DONE]])
    async with running_agents(planned.command()) as (agents, server):
        world.start_with(agents, server)
        tickets = [await world.open(trigger(n)) for n in range(1, 6)]
        for ticket in tickets:
            await world.until(ticket, is_over)
        assert len(planned.sessions) == 5
        assert agents._process is not None
        assert agents._process._process.pid == planned.pid
        await world.stop()


@pytest.mark.field("C7")
@pytest.mark.parametrize("waits", ["wait", "stubborn"])
async def test_a_stop_ends_the_turn_even_of_an_agent_that_does_not_listen(
    world: ExecutorWorld, tmp_path: Path, waits: str
) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[{waits: 60}]])
    async with running_agents(planned.command()) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        await world.until(ticket, lambda t: t.delivered == 1)
        await world.press_stop(ticket)
        ended = await world.until(ticket, lambda t: t.status is TicketStatus.ENDED)
        assert ended.assignment is not None
        assert ended.assignment.end is AssignmentEnd.STOPPED
        process = agents._process
        assert process is not None
        assert process.ended is (waits == "stubborn")
        await world.stop()


async def test_a_turn_has_a_limit(world: ExecutorWorld, tmp_path: Path) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[{"wait": 60}], [DONE]])
    world.limits = Limits(turn_seconds=3, attempts=2, retry_seconds=0)
    async with running_agents(planned.command()) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        await world.until(ticket, is_over)
        await world.left()
        assert planned.times_read(1) == 1
        await world.stop()


@pytest.mark.parametrize(
    ("program", "capabilities", "words"),
    [
        ("/no/such/agent", "", "does not start"),
        ("true", "", "does not start"),
        (None, "no-http", "does not answer as it should"),
    ],
)
async def test_an_agent_that_cannot_be_used_is_told_in_plain_words(
    world: ExecutorWorld, tmp_path: Path, program: str | None, capabilities: str, words: str
) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[DONE]])
    command = planned.command(environment={"AGENT_CAPABILITIES": capabilities})
    if program is not None:
        command = type(command)(
            name="broken", command=(program,), environment={}, directory=tmp_path
        )
    world.limits = Limits(attempts=2, retry_seconds=0)
    async with running_agents(command) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        told = await world.until(ticket, lambda t: t.report is not None)
        assert told.report is not None
        assert told.report.kind is ReportKind.FAILED
        assert words in told.report.text
        assert told.delivered == 0
        await world.stop()


async def test_an_agent_that_cannot_load_sessions_begins_again(
    world: ExecutorWorld, tmp_path: Path
) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[{"say": "hm"}, {"die": 9}], [DONE]])
    command = planned.command(environment={"AGENT_CAPABILITIES": "no-load"})
    async with running_agents(command) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        await world.until(ticket, is_over)
        await world.left()
        assert len(planned.sessions) == 2
        await world.stop()


@pytest.mark.parametrize(("kind", "given"), [("read", "yes"), ("execute", "no")])
async def test_permission_is_answered_by_configuration(
    world: ExecutorWorld, tmp_path: Path, kind: str, given: str
) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[{"ask": kind}, DONE]])
    async with running_agents(planned.command(allow=frozenset({"read"}))) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        await world.until(ticket, is_over)
        await world.left()
        assert f"permission: {given}" in planned.spoken
        await world.stop()


async def test_an_agent_ends_when_its_host_ends_it(tmp_path: Path) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[DONE]])
    async with running_agents(planned.command()) as (agents, _):
        await agents.start()
        pid = planned.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.rule("INP-1")
@pytest.mark.field("D11")
async def test_a_host_that_stops_in_a_turn_hands_the_session_on(
    world: ExecutorWorld, tmp_path: Path
) -> None:
    planned = PlannedAgents(tmp_path / "agent", [[{"wait": 60}], [DONE]])
    async with (
        running_agents(planned.command()) as first,
        running_agents(planned.command()) as second,
    ):
        leaving = world.start_with(*first)
        ticket = await world.open()
        await world.until(ticket, lambda t: t.delivered == 1)
        world.start_with(*second)
        await leaving.stop()
        ended = await world.until(ticket, is_over)
        await world.left()
        assert ended.assignment is not None
        assert ended.assignment.number == 2
        assert planned.times_read(1) == 1
        assert "continue where you were interrupted" in " ".join(
            next(iter(planned.sessions.values()))[-1].split()
        )
        await world.stop()


async def test_a_tool_that_is_called_wrongly_says_what_is_wrong(
    world: ExecutorWorld, tmp_path: Path
) -> None:
    planned = PlannedAgents(
        tmp_path / "agent",
        [
            [
                {"tool": "report", "args": {"kind": "finished", "text": "x"}},
                {"tool": "report", "args": {"kind": "progress", "text": "x", "final": True}},
                {"tool": "propose_pull_request", "args": {"title": "t", "body": "b"}},
                DONE,
            ]
        ],
    )
    async with running_agents(planned.command()) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        await world.until(ticket, is_over)
        await world.left()
        assert "report: Not done. kind: " in planned.spoken
        assert "cannot be final" in planned.spoken
        assert "nowhere to push to" in planned.spoken
        await world.stop()


async def test_nobody_reaches_tools_without_the_path(world: ExecutorWorld, tmp_path: Path) -> None:
    import httpx

    planned = PlannedAgents(tmp_path / "agent", [[{"wait": 60}]])
    async with running_agents(planned.command()) as (agents, server):
        world.start_with(agents, server)
        ticket = await world.open()
        await world.until(ticket, lambda t: t.delivered == 1)
        token = next(iter(server._sessions))
        base = await server.url("")
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        headers = {"accept": "application/json, text/event-stream"}
        async with httpx.AsyncClient(base_url=base, headers=headers) as client:
            assert (await client.post("/guessed/mcp", json=call)).status_code == 404
            assert (await client.post(f"/{token}", json=call)).status_code == 404
            assert (await client.get(f"/{token}/mcp")).status_code == 405
            rebound = {"host": "evil.example"}
            answer = await client.post(f"/{token}/mcp", json=call, headers=rebound)
            assert answer.status_code == 421
            assert (await client.post(f"/{token}/mcp", json=call)).status_code == 200
        await world.stop()
