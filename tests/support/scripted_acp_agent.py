"""An ACP agent that plays a plan: ``python scripted_acp_agent.py PLAN HOME``.

The plan is a JSON list of turns, each a list of steps; the n-th prompt that any process of this home
gets plays the n-th turn, and the last one is played again. Steps are objects with one key:

- ``{"say": TEXT}``, ``{"shell": COMMAND}``: speak; run a command in the session's directory
- ``{"tool": NAME, "args": {...}}``: call a tool of the session's MCP server, and speak its answer
- ``{"die": STATUS}``, ``{"die_unread": STATUS}``: end the process, in the latter case before the prompt
  is on the session's record
- ``{"wait": SECONDS}``, ``{"stubborn": SECONDS}``: wait; the latter heeds no cancel
- ``{"ask": KIND}``: ask for permission to make a tool call of that kind, and speak the answer
- ``{"end": STOP_REASON}``: end the turn so

HOME keeps ``turns`` (how many prompts came), ``<session>.jsonl`` (what each session was told) and
``environment.json`` (the variables of the process).
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import acp
from acp import schema
from mcp import Client


class ScriptedAgent:
    """Plays a plan; the methods are those of the `acp` package's `Agent`."""

    def __init__(self, plan: list[list[dict[str, Any]]], home: Path, capabilities: str) -> None:
        self._plan = plan
        self._home = home
        self._capabilities = capabilities
        self._client: Any = None
        self._open: dict[str, tuple[str, str]] = {}
        self._cancelled: dict[str, asyncio.Event] = {}

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> schema.InitializeResponse:
        return schema.InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=schema.AgentCapabilities(
                load_session="no-load" not in self._capabilities,
                mcp_capabilities=schema.McpCapabilities(http="no-http" not in self._capabilities),
                session_capabilities=schema.SessionCapabilities(
                    close=schema.SessionCloseCapabilities()
                ),
            ),
        )

    async def new_session(
        self, cwd: str, mcp_servers: list[Any] | None = None, **meta: Any
    ) -> schema.NewSessionResponse:
        session = f"s-{uuid4().hex[:8]}"
        self._begin(session, cwd, mcp_servers, meta)
        return schema.NewSessionResponse(session_id=session)

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: list[Any] | None = None, **meta: Any
    ) -> schema.LoadSessionResponse:
        record = self._record(session_id)
        if not record.exists():
            raise acp.RequestError(-32002, f"no session {session_id}")
        self._begin(session_id, cwd, mcp_servers, meta)
        for line in record.read_text().splitlines():
            await self._client.session_update(
                session_id=session_id,
                update=schema.UserMessageChunk(
                    session_update="user_message_chunk",
                    content=schema.TextContentBlock(type="text", text=json.loads(line)),
                ),
            )
        return schema.LoadSessionResponse()

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        self._open.pop(session_id, None)
        return schema.CloseSessionResponse()

    async def cancel(self, session_id: str, **_: Any) -> None:
        self._cancelled.setdefault(session_id, asyncio.Event()).set()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        cancelled = self._cancelled[session_id] = asyncio.Event()
        steps = self._next_turn()
        for step in steps:
            if "die_unread" in step:
                os._exit(step["die_unread"])
        with self._record(session_id).open("a") as record:
            for block in prompt:
                record.write(json.dumps(block.text) + "\n")
        playing = asyncio.create_task(self._play(session_id, steps))
        stopping = asyncio.create_task(cancelled.wait())
        await asyncio.wait({playing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not playing.done():
            if not any("stubborn" in step for step in steps):
                playing.cancel()
            await asyncio.wait({playing})
            return schema.PromptResponse(stop_reason="cancelled")
        return schema.PromptResponse(stop_reason=playing.result())

    async def _play(self, session: str, steps: list[dict[str, Any]]) -> Any:
        cwd, url = self._open[session]
        for step in steps:
            if "say" in step:
                await self._speak(session, step["say"])
            elif "shell" in step:
                await self._speak(session, await self._run(step["shell"], cwd))
            elif "tool" in step:
                async with Client(url) as client:
                    answer: Any = await client.call_tool(step["tool"], step.get("args", {}))
                await self._speak(session, f"{step['tool']}: {answer.content[0].text}")
            elif "die" in step:
                os._exit(step["die"])
            elif "wait" in step or "stubborn" in step:
                await self._speak(session, "waiting")
                await asyncio.sleep(step["wait"] if "wait" in step else step["stubborn"])
            elif "ask" in step:
                await self._speak(session, await self._ask(session, step["ask"]))
            elif "end" in step:
                return step["end"]
        return "end_turn"

    async def _ask(self, session: str, kind: Any) -> str:
        call = f"call-{uuid4().hex[:6]}"
        await self._client.session_update(
            session_id=session,
            update=schema.ToolCallStart(
                session_update="tool_call", tool_call_id=call, title="a call", kind=kind
            ),
        )
        answered = await self._client.request_permission(
            session_id=session,
            tool_call=schema.ToolCallUpdate(tool_call_id=call),
            options=[
                schema.PermissionOption(option_id="yes", name="Yes", kind="allow_once"),
                schema.PermissionOption(option_id="no", name="No", kind="reject_once"),
            ],
        )
        return f"permission: {answered.outcome.option_id}"

    async def _speak(self, session: str, text: str) -> None:
        with (self._home / "spoken").open("a") as spoken:
            spoken.write(text + "\n")
        await self._client.session_update(
            session_id=session,
            update=schema.AgentMessageChunk(
                session_update="agent_message_chunk",
                content=schema.TextContentBlock(type="text", text=text),
            ),
        )

    async def _run(self, command: str, cwd: str) -> str:
        process = await asyncio.create_subprocess_shell(
            command, cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        output, _ = await process.communicate()
        return output.decode()

    def _begin(
        self, session: str, cwd: str, servers: list[Any] | None, meta: dict[str, Any]
    ) -> None:
        self._open[session] = (cwd, servers[0].url if servers else "")
        (self._home / f"{session}.meta.json").write_text(json.dumps(meta))

    def _record(self, session: str) -> Path:
        return self._home / f"{session}.jsonl"

    def _next_turn(self) -> list[dict[str, Any]]:
        counted = self._home / "turns"
        number = int(counted.read_text()) if counted.exists() else 0
        counted.write_text(str(number + 1))
        return self._plan[min(number, len(self._plan) - 1)]


def main(plan: Path, home: Path) -> None:
    """Serve one client on the standard streams."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "environment.json").write_text(json.dumps(dict(os.environ)))
    (home / "pid").write_text(str(os.getpid()))
    agent: Any = ScriptedAgent(
        json.loads(plan.read_text()), home, os.environ.get("AGENT_CAPABILITIES", "")
    )
    print("scripted agent starts", file=sys.stderr, flush=True)
    asyncio.run(acp.run_agent(agent, use_unstable_protocol=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
