"""A client of the official ACP package, and a `remit-agent` process at the other end."""

from __future__ import annotations

import asyncio
import os
import sys
import sysconfig
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import acp
from acp import schema
from acp.client import ClientSideConnection

PROGRAM = str(Path(sysconfig.get_path("scripts")) / "remit-agent")


@dataclass
class RecordingClient:
    """Remembers what it is told, and answers questions as it is set to.

    `answer` is the kind of option it chooses, `cancelled` for none, or an exception it raises; with
    `hold` set it answers only when that event is.
    """

    answer: str | Exception = "allow_once"
    hold: asyncio.Event | None = None
    updates: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    asked: list[schema.ToolCallUpdate] = field(default_factory=list)
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def on_connect(self, conn: Any) -> None:
        """It asks nothing of its own accord."""

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        shown = update.model_dump(mode="json", by_alias=True, exclude_none=True)
        self.updates.append((session_id, shown))
        self.news.set()

    async def request_permission(
        self,
        session_id: str,
        tool_call: schema.ToolCallUpdate,
        options: list[schema.PermissionOption],
        **_: Any,
    ) -> schema.RequestPermissionResponse:
        self.asked.append(tool_call)
        self.news.set()
        if self.hold is not None:
            await self.hold.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        chosen = [option for option in options if option.kind == self.answer]
        if not chosen:
            return acp.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen[0].option_id)
        return acp.RequestPermissionResponse(outcome=outcome)

    def of(self, session_id: str, kind: str | None = None) -> list[dict[str, Any]]:
        """The updates of one session, of one kind or of all."""
        return [
            update
            for session, update in self.updates
            if session == session_id and kind in (None, update["sessionUpdate"])
        ]

    def said(self, session_id: str) -> list[str]:
        """The texts the agent said in one session."""
        return [u["content"]["text"] for u in self.of(session_id, "agent_message_chunk")]

    def results(self, session_id: str) -> list[tuple[str, str]]:
        """The state and the text of every tool result of one session."""
        return [
            (update["status"], update["content"][0]["content"]["text"])
            for update in self.of(session_id, "tool_call_update")
        ]

    async def until(self, session_id: str, kind: str, count: int = 1) -> None:
        """Wait until so many updates of a kind have come."""
        async with asyncio.timeout(20):
            while len(self.of(session_id, kind)) < count:
                self.news.clear()
                await self.news.wait()

    async def until_asked(self, count: int = 1) -> None:
        """Wait until it was asked so often."""
        async with asyncio.timeout(20):
            while len(self.asked) < count:
                self.news.clear()
                await self.news.wait()


@dataclass
class Agent:
    """A running agent and its client."""

    client: RecordingClient
    connection: ClientSideConnection
    process: asyncio.subprocess.Process
    errors: bytearray
    greeting: schema.InitializeResponse

    async def new(self, cwd: Path, *servers: Any, **meta: Any) -> str:
        response = await self.connection.new_session(
            cwd=str(cwd), mcp_servers=list(servers), **meta
        )
        return response.session_id

    async def prompt(self, session_id: str, text: str) -> schema.PromptResponse:
        async with asyncio.timeout(30):
            return await self.connection.prompt(
                session_id=session_id, prompt=[acp.text_block(text)]
            )

    def log(self) -> str:
        """What it wrote to its errors' stream."""
        return self.errors.decode()


@asynccontextmanager
async def running_agent(
    home: Path,
    *arguments: str,
    client: RecordingClient | None = None,
    environment: dict[str, str] | None = None,
    program: Sequence[str] = (PROGRAM,),
) -> AsyncIterator[Agent]:
    """Start `remit-agent`, greet it, and end it."""
    follower = client or RecordingClient()
    variables = {
        "PATH": os.environ["PATH"],
        "HOME": str(home.parent),
        "REMIT_AGENT_HOME": str(home),
        **(environment or {}),
    }
    as_client: Any = follower
    async with acp.spawn_agent_process(
        as_client,
        program[0],
        *program[1:],
        *arguments,
        env=variables,
        use_unstable_protocol=True,
    ) as (connection, process):
        errors = bytearray()
        reading = asyncio.create_task(_read_errors(process, errors))
        try:
            async with asyncio.timeout(30):
                greeting = await connection.initialize(
                    protocol_version=acp.PROTOCOL_VERSION,
                    client_info=schema.Implementation(name="tests", version="1"),
                )
            yield Agent(follower, connection, process, errors, greeting)
        finally:
            if sys.exc_info()[0] is not None:
                sys.stderr.write(errors.decode())
            reading.cancel()


async def _read_errors(process: asyncio.subprocess.Process, errors: bytearray) -> None:
    assert process.stderr is not None
    while piece := await process.stderr.read(65536):
        errors.extend(piece)
