"""`remit-agent` with MCP servers of the official SDK, over pipes and over HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import acp
import pytest
from acp.schema import EnvVariable, HttpHeader, HttpMcpServer, McpServerStdio

from remit.harness.mcp import public_name
from support.acp_client import Agent, RecordingClient, running_agent

PROGRAM = Path(__file__).parents[2] / "support/mcp_server.py"
PROGRESS = public_name("tools", "report.progress")
Call = tuple[str, dict[str, Any]]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def over_pipes(name: str = "tools", **environment: str) -> McpServerStdio:
    return McpServerStdio(
        name=name,
        command=sys.executable,
        args=[str(PROGRAM), "stdio"],
        env=[EnvVariable(name=key, value=value) for key, value in environment.items()],
    )


def over_http(port: int, name: str = "tools", **headers: str) -> HttpMcpServer:
    return HttpMcpServer(
        type="http",
        name=name,
        url=f"http://127.0.0.1:{port}/mcp",
        headers=[HttpHeader(name=key, value=value) for key, value in headers.items()],
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@asynccontextmanager
async def http_server() -> AsyncIterator[int]:
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(PROGRAM), "http", str(port), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        for _ in range(2000):
            if answers(port):
                break
            await asyncio.sleep(0.01)
        yield port
    finally:
        process.kill()
        await process.wait()


@asynccontextmanager
async def agent_that_calls(
    tmp_path: Path,
    *calls: Call,
    mode: str = "workspace-write",
    client: RecordingClient | None = None,
) -> AsyncIterator[Agent]:
    """An agent whose model asks for these tools and then stops."""
    tools = [{"name": name, "args": arguments} for name, arguments in calls]
    steps: list[dict[str, Any]] = [{"tools": tools}] if tools else []
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"steps": [*steps, {"text": "ok"}]}))
    arguments = ("--model-kind", "scripted", "--script", str(script), "--permission-mode", mode)
    environment = {"REMIT_AGENT_API_KEY": "s3cret-key", "GITHUB_TOKEN": "s3cret-token"}
    async with running_agent(
        tmp_path / "home", *arguments, client=client, environment=environment
    ) as agent:
        yield agent


CALLS: list[Call] = [
    (PROGRESS, {"text": "half", "share": 50}),
    (PROGRESS, {"text": 7}),
    ("mcp__tools__refuse", {}),
    ("mcp__tools__nothing", {}),
]


@pytest.mark.rule("WSC-6")
@pytest.mark.parametrize("transport", ["pipes", "http"])
async def test_a_sessions_servers_offer_their_tools_to_its_model(
    tmp_path: Path, work: Path, transport: str
) -> None:
    async with http_server() as port, agent_that_calls(tmp_path, *CALLS) as agent:
        server = over_pipes() if transport == "pipes" else over_http(port)
        session = await agent.new(work, server)
        await agent.prompt(session, "report")
        good, bad, refused, unknown = agent.client.results(session)
    assert good == ("completed", "reported: half (50 %)")
    assert bad[0] == "failed"
    assert "text: 7 is not of type 'string'" in bad[1]
    assert refused[0] == "failed"
    assert refused[1].startswith("Error: Error executing tool refuse")
    assert unknown == ("failed", 'Error: unknown tool "mcp__tools__nothing"')
    header = next(
        json.loads(line)
        for line in next((tmp_path / "home").rglob("session.v4.jsonl")).read_text().splitlines()
        if '"request/header"' in line
    )
    names = [tool["name"] for tool in header["data"]["header"]["tools"]]
    assert PROGRESS in names
    assert "mcp__tools__refuse" in names


@pytest.mark.rule("AGS-3")
async def test_a_sessions_tools_are_its_own_and_go_with_it(tmp_path: Path, work: Path) -> None:
    async with agent_that_calls(tmp_path, (PROGRESS, {"text": "hi"})) as agent:
        first, second = await agent.new(work, over_pipes()), await agent.new(work)
        await agent.prompt(first, "report")
        await agent.prompt(second, "report")
        assert agent.client.results(first)[0][0] == "completed"
        assert agent.client.results(second) == [("failed", f'Error: unknown tool "{PROGRESS}"')]
        await agent.connection.close_session(session_id=first)
        await agent.connection.load_session(cwd=str(work), session_id=first, mcp_servers=[])
        await agent.prompt(second, "again")


@pytest.mark.rule("ENV-2")
async def test_a_server_gets_its_own_variables_and_no_secret(tmp_path: Path, work: Path) -> None:
    calls: list[Call] = [("mcp__tools__variables", {}), ("mcp__tools__where", {})]
    async with agent_that_calls(tmp_path, *calls) as agent:
        session = await agent.new(work, over_pipes(COLOUR="red"))
        await agent.prompt(session, "look")
        (_, variables), (_, where) = agent.client.results(session)
    assert "COLOUR" in variables.split()
    assert not {"GITHUB_TOKEN", "REMIT_AGENT_API_KEY"} & set(variables.split())
    assert where == str(work)


async def test_reading_tools_are_free_and_others_asked_for_where_only_reading_is(
    tmp_path: Path, work: Path
) -> None:
    calls: list[Call] = [("mcp__tools__variables", {}), ("mcp__tools__where", {})]
    async with agent_that_calls(tmp_path, *calls, mode="read-only") as agent:
        session = await agent.new(work, over_pipes())
        await agent.prompt(session, "look")
        assert [asked.title for asked in agent.client.asked] == ["mcp__tools__where"]


async def test_a_cancel_inside_a_servers_tool_settles_fast(tmp_path: Path, work: Path) -> None:
    async with agent_that_calls(tmp_path, ("mcp__tools__wait", {})) as agent:
        session = await agent.new(work, over_pipes())
        prompt = asyncio.create_task(agent.prompt(session, "wait"))
        await agent.client.until(session, "tool_call")
        started = time.monotonic()
        await agent.connection.cancel(session_id=session)
        assert (await prompt).stop_reason == "cancelled"
        assert time.monotonic() - started < 1


async def test_a_server_that_dies_fails_its_tools_and_not_the_session(
    tmp_path: Path, work: Path
) -> None:
    calls: list[Call] = [("mcp__tools__leave", {}), ("mcp__tools__where", {})]
    async with agent_that_calls(tmp_path, *calls) as agent:
        session = await agent.new(work, over_pipes())
        response = await agent.prompt(session, "go")
        results = agent.client.results(session)
    assert response.stop_reason == "end_turn"
    assert [status for status, _ in results] == ["failed", "failed"]
    assert all("the MCP server tools failed" in text for _, text in results)


UNUSABLE = [
    (over_http(1), "MCP server tools: it cannot be used"),
    (
        McpServerStdio(name="tools", command="/nowhere/server", args=[], env=[]),
        "MCP server tools: it cannot be used",
    ),
    (
        McpServerStdio(name="tools", command="/bin/true", args=[], env=[]),
        "MCP server tools: it cannot be used",
    ),
    (over_http(1, name="a__b"), "MCP server a__b: a name has"),
]


@pytest.mark.parametrize(("server", "problem"), UNUSABLE)
async def test_a_server_that_cannot_be_used_refuses_the_session_by_its_name(
    tmp_path: Path, work: Path, server: Any, problem: str
) -> None:
    async with agent_that_calls(tmp_path) as agent:
        with pytest.raises(acp.RequestError, match=problem):
            await agent.new(work, server)
        session = await agent.new(work)
        await agent.prompt(session, "still there?")
    assert len(list((tmp_path / "home").glob("sessions/*/*"))) == 1


async def test_one_bad_server_leaves_none_of_the_others_tools(tmp_path: Path, work: Path) -> None:
    async with agent_that_calls(tmp_path, (PROGRESS, {"text": "hi"})) as agent:
        with pytest.raises(acp.RequestError, match="MCP server other"):
            await agent.new(work, over_pipes(), over_http(1, name="other"))
        session = await agent.new(work, over_pipes())
        await agent.prompt(session, "report")
        assert agent.client.results(session)[0][0] == "completed"


async def test_what_a_server_is_told_in_secret_is_not_on_record(tmp_path: Path, work: Path) -> None:
    async with (
        http_server() as port,
        agent_that_calls(tmp_path, (PROGRESS, {"text": "hi"})) as agent,
    ):
        session = await agent.new(work, over_http(port, authorization="Bearer s3cret-header"))
        await agent.prompt(session, "report")
        log = agent.log()
    assert "s3cret" not in log
    assert "s3cret" not in next((tmp_path / "home").rglob("session.v4.jsonl")).read_text()


async def test_memory_stays_low_with_servers(tmp_path: Path, work: Path) -> None:
    async with agent_that_calls(tmp_path, (PROGRESS, {"text": "hi"})) as agent:
        session = await agent.new(work, over_pipes())
        await agent.prompt(session, "report")
        status = read_status(agent.process.pid)
    assert int(status.split("VmRSS:")[1].split()[0]) < 100_000


def read_status(process_id: int) -> str:
    return Path(f"/proc/{process_id}/status").read_text()
