"""Agents for tests of the executor that play what a test tells them, with a memory of their own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from remit.executor.agents import AgentFailed, Opening, Trouble, Turn, TurnEnd
from remit.executor.product_tools import ProductTools, ToolResult
from remit.executor.tool_server import ToolServer

Play = Callable[["FakeTurn"], Awaitable[str | TurnEnd | None]]
"""What the agent does in one turn; returns its last words, or why it ended."""


class LocalToolServer(ToolServer):
    """Hands the tools over in the process: no HTTP."""

    async def url(self, path: str) -> str:
        return path


@dataclass
class FakeTurn:
    """One turn, as a play sees it.

    Attributes:
        session: The session's id.
        texts: What the agent was told.
        tools: The product's tools.
        sign: Shows that the agent works on what it was told, which it has read.
        read: Puts what it was told on the agent's own record, and shows nothing.
        results: What the tools answered so far.
    """

    session: str
    texts: list[str]
    tools: ProductTools
    sign: Callable[[], None]
    read: Callable[[], None]
    results: list[ToolResult] = field(default_factory=list)

    @property
    def said(self) -> str:
        return "\n".join(self.texts)

    async def call(self, name: str, **arguments: Any) -> ToolResult:
        self.sign()
        result = await self.tools.call(name, arguments)
        self.results.append(result)
        return result


async def ready(turn: FakeTurn) -> None:
    """Report a result that is final."""
    await turn.call("report", kind="ready", text="It is done.", final=True)


async def quiet(turn: FakeTurn) -> str:
    """Work, and tell nobody."""
    turn.sign()
    return "I looked around."


async def crash(turn: FakeTurn) -> None:
    """Die after having read everything."""
    turn.sign()
    raise AgentFailed("fake", Trouble.DIED, "it was killed")


async def crash_unread(turn: FakeTurn) -> None:
    """Die before anything was read."""
    raise AgentFailed("fake", Trouble.DIED, "it was killed at once")


class FakeAgents:
    """Agents whose sessions play what was queued; see `remit.executor.agents.Agents`.

    What a session was told is kept in ``histories`` once it shows a sign, as an agent's own log
    would: share it to stand for agents of several hosts on one disk.

    Attributes:
        plays: What the next turns do, in order; the last one is played again.
        turns: Every turn that was had.
        can_load: Sessions can be loaded.
    """

    name = "fake"

    def __init__(
        self,
        server: ToolServer,
        *plays: Play,
        histories: dict[str, list[str]] | None = None,
        can_load: bool = True,
    ) -> None:
        self._server = server
        self.plays = list(plays) or [ready]
        self.turns: list[FakeTurn] = []
        self.histories = {} if histories is None else histories
        self.can_load = can_load
        self.opened: list[Opening] = []
        self.cancelled = 0
        self.closed: list[str] = []
        self.refuse_to_open: list[AgentFailed] = []

    async def start(self) -> None:
        """There is no process."""

    async def open(self, opening: Opening) -> FakeSession:
        self.opened.append(opening)
        if self.refuse_to_open:
            raise self.refuse_to_open.pop(0)
        session = opening.session
        if session is None or not self.can_load or session not in self.histories:
            session = f"session-{len(self.histories) + 1}"
            self.histories[session] = []
        tools = self._server.tools_at(opening.tools_url)
        assert tools is not None
        return FakeSession(self, session, tools)

    def next_play(self) -> Play:
        return self.plays.pop(0) if len(self.plays) > 1 else self.plays[0]


class FakeSession:
    """One session; see `remit.executor.agents.AgentSession`."""

    def __init__(self, agents: FakeAgents, session: str, tools: ProductTools) -> None:
        self._agents = agents
        self._tools = tools
        self.id = session
        self.history = "\n".join(agents.histories[session])

    async def prompt(self, texts: Sequence[str], *, on_sign: Callable[[], None]) -> Turn:
        told = False

        def read() -> None:
            nonlocal told
            if not told:
                told = True
                self._agents.histories[self.id].extend(texts)

        def sign() -> None:
            read()
            on_sign()

        turn = FakeTurn(self.id, list(texts), self._tools, sign, read)
        self._agents.turns.append(turn)
        try:
            ended = await self._agents.next_play()(turn)
        except asyncio.CancelledError:
            self._agents.cancelled += 1
            raise
        if isinstance(ended, TurnEnd):
            return Turn(end=ended)
        sign()
        return Turn(end=TurnEnd.END_TURN, last_words=ended or "")

    async def close(self) -> None:
        self._agents.closed.append(self.id)


class Held:
    """A play that works until it is let go.

    Attributes:
        began: The turn is there.
        go_on: Lets it go.
        signs: Whether it shows that it works. Either way the agent has read what it was told.
    """

    def __init__(self, then: Play = ready, *, signs: bool = True) -> None:
        self.began = asyncio.Event()
        self.go_on = asyncio.Event()
        self.signs = signs
        self._then = then

    async def __call__(self, turn: FakeTurn) -> str | TurnEnd | None:
        (turn.sign if self.signs else turn.read)()
        self.began.set()
        await self.go_on.wait()
        return await self._then(turn)
