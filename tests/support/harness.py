"""Stand-ins for what a session of the harness works with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from remit.harness.log import Event, SessionLog, SessionStore
from remit.harness.log.messages import Source, TextBlock, ToolCallBlock, UserMessage
from remit.harness.log.payloads import ApprovalOutcome
from remit.harness.loop import Retrying, Services, Session, Turn, TurnOutcome
from remit.harness.models import (
    Finish,
    ModelEvent,
    ModelRequest,
    RetryPolicy,
    TextDelta,
    ToolCallDelta,
    ToolSchema,
)
from remit.harness.permission import PRESETS, preset_events
from remit.harness.scope import Scope
from remit.harness.tools import Tool, ToolContext, ToolOutput, ToolRegistry, Workspace
from remit.harness.tools.tool import Effect

START = 1_790_000_000_000


@dataclass
class TickingClock:
    """A clock that moves on by one millisecond each time it is read."""

    now: int = START

    def now_ms(self) -> int:
        self.now += 1
        return self.now


def counting_ids(prefix: str = "id") -> Callable[[], str]:
    numbers = count(1)
    return lambda: f"{prefix}-{next(numbers)}"


def fixture_path() -> Path:
    """The recorded session that the project's specification comes with, beside the repository."""
    return Path(__file__).parents[3] / "shared/fixtures/session-v4.jsonl"


Say = Sequence[ModelEvent] | BaseException
"""What a model answers: events, or a failure."""


def says(text: str) -> list[ModelEvent]:
    return [TextDelta(0, text), Finish("stop")]


def calls(*wanted: tuple[str, str, str], text: str = "") -> list[ModelEvent]:
    """An answer that asks for tools, each as (id, name, JSON arguments)."""
    events: list[ModelEvent] = [TextDelta(0, text)] if text else []
    for index, (call_id, name, arguments) in enumerate(wanted, start=1):
        events.append(ToolCallDelta(index, call_id, name, ""))
        events.append(ToolCallDelta(index, call_id, None, arguments))
    return [*events, Finish("tool-calls")]


@dataclass
class FakeModel:
    """Answers in order, and remembers what it was asked.

    An event of `asyncio` in place of an answer's event makes it wait there.
    """

    answers: list[Sequence[Any] | BaseException]
    requests: list[ModelRequest] = field(default_factory=list)
    provider: str = "fake"
    name: str = "fake-1"
    context_window: int | None = 1000
    max_tokens: int | None = 500

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        for event in answer:
            if isinstance(event, asyncio.Event):
                await event.wait()
            elif isinstance(event, BaseException):
                raise event
            else:
                yield event

    async def aclose(self) -> None:
        """There is nothing to free."""


@dataclass
class FakeAudience:
    """Remembers every event; answers questions as it is told to."""

    answer: ApprovalOutcome | asyncio.Event = "allowed-once"
    events: list[Event] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    on_event: Callable[[Event], None] | None = None

    async def recorded(self, event: Event) -> None:
        self.events.append(event)
        if self.on_event is not None:
            self.on_event(event)

    async def ask(self, call: ToolCallBlock, tool: Tool, arguments: Any) -> ApprovalOutcome:
        self.asked.append(tool.name)
        if isinstance(self.answer, asyncio.Event):
            await self.answer.wait()
            return "allowed-once"
        return self.answer

    def types(self) -> list[str]:
        return [event.type for event in self.events]


def plain_tool(
    name: str,
    run: Callable[[dict[str, Any]], Any],
    *,
    effect: Effect = "read",
    concurrent: bool = False,
    time_limit: float = 10.0,
) -> Tool:
    """A tool whose result is what a function, or a coroutine function, gives."""

    async def running(arguments: dict[str, Any], _: ToolContext) -> ToolOutput:
        result = run(arguments)
        if asyncio.iscoroutine(result):
            result = await result
        return result if isinstance(result, ToolOutput) else ToolOutput(str(result))

    return Tool(
        schema=ToolSchema(name, f"The tool {name}.", {"type": "object", "properties": {}}),
        effect=effect,
        kind="other",
        concurrent=concurrent,
        time_limit=time_limit,
        check=lambda arguments: arguments,
        run=running,
        summary=lambda _: name,
    )


@dataclass
class Bench:
    """A session on a bench: everything around it is in the test's hands."""

    model: FakeModel
    registry: ToolRegistry
    audience: FakeAudience
    session: Session
    store: SessionStore
    workspace: Path
    clock: TickingClock
    new_id: Callable[[], str]
    slept: list[float]
    max_steps: int = 20
    max_retries: int = 2

    def turn(self, text: str = "Do it.") -> Turn:
        prompt = UserMessage(
            content=(TextBlock(text=text),), source=Source(kind="user"), id=self.new_id()
        )

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)

        retrying = Retrying(
            policy=RetryPolicy(max_retries=self.max_retries), sleep=sleep, random=lambda: 0.0
        )
        return Turn(self.session, prompt, retrying=retrying, max_steps=self.max_steps)

    async def prompt(self, text: str = "Do it.") -> TurnOutcome:
        return await self.turn(text).start()

    def reopen(self) -> None:
        """Close the session and resume it from its log, as another process would."""
        session_id = self.session.id
        self.session.close()
        log = self.store.resume(session_id, str(self.workspace))
        self.session = _session(self, log)

    def event_types(self) -> list[str]:
        return [event.type for event in self.session.record.events]

    def lines(self) -> list[str]:
        """The log's file, line by line."""
        return self.log_path().read_text("utf-8").splitlines()

    def log_path(self) -> Path:
        return next((self.workspace.parent / "home").glob("sessions/*/*/session.v4.jsonl"))


def make_bench(
    folder: Path,
    *answers: Sequence[Any] | BaseException,
    tools: Sequence[Tool] = (),
    preset: str = "danger-full-access",
) -> Bench:
    """Put a new session on the bench."""
    workspace = folder / "work"
    workspace.mkdir()
    registry = ToolRegistry()
    for tool in tools:
        registry.register(tool)
    clock = TickingClock()
    store = SessionStore(folder / "home", clock)
    log = store.create("session-1", str(workspace))
    for payload in preset_events(PRESETS[preset], log.record):
        log.append(payload)
    bench = Bench(
        model=FakeModel(list(answers)),
        registry=registry,
        audience=FakeAudience(),
        session=None,  # type: ignore[arg-type] # it is put there on the next line
        store=store,
        workspace=workspace,
        clock=clock,
        new_id=counting_ids(),
        slept=[],
    )
    bench.session = _session(bench, log)
    return bench


def _session(bench: Bench, log: SessionLog) -> Session:
    return Session(
        log,
        services=Services(
            model=bench.model,
            tools=bench.registry,
            clock=bench.clock,
            new_id=bench.new_id,
            system_prompt="Be good.",
        ),
        scope=Scope("test"),
        context=ToolContext(Workspace.at(bench.workspace), {"PATH": "/usr/bin:/bin"}),
        audience=bench.audience,
    )
