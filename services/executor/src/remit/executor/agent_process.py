"""The agent's process: one per host and kind of agent, with many sessions in it.

It is started when the first session is wanted, and again, with back-off, after it died; its sessions
are then loaded again by whoever has them. Its environment holds what the configuration names and
nothing else of the Executor's.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import os
import shutil
import signal
import sys
import sysconfig
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from remit.bus.clock import Clock
from remit.executor.agents import AgentFailed, AgentSession, Opening, Trouble
from remit.executor.redaction import without
from remit.executor.untraced import untraced
from remit.runtime.backoff import delays
from remit.telemetry.logs import logger

if TYPE_CHECKING:
    from remit.executor.acp_session import Link

_CALM = 60.0
"""Seconds that a process must have lived for its death to count as the first one again."""
_LINE = 2_000
"""Characters of a line of the agent's error output that are logged."""
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCommand:
    """How an agent is started.

    Attributes:
        name: The agent's name.
        command: The program and its arguments.
        environment: All of its environment.
        directory: Where it runs; each session has a directory of its own beside that.
        allow: Kinds of tool calls that its permission requests get allowed.
        secrets: Values that must not show in the log.
        start_limit: How long it may take to answer for the first time, in seconds.
        stop_limit: How long it may take to end, and to stop a cancelled turn, in seconds.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    directory: Path
    allow: frozenset[str] = frozenset()
    secrets: tuple[str, ...] = field(default=(), repr=False)
    start_limit: float = 60.0
    stop_limit: float = 10.0


class AgentProcesses:
    """The agents of this host; see `remit.executor.agents.Agents`.

    Args:
        command: How the agent is started.
        clock: Paces starts.
    """

    def __init__(self, command: AgentCommand, clock: Clock) -> None:
        self._command = command
        self._clock = clock
        self._process: AgentProcess | None = None
        self._starting = asyncio.Lock()
        self._delays: Iterator[float] = delays(first=0.5, most=30)
        self._delay = 0.0
        self._started_at = 0.0

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._command.name

    async def start(self) -> None:
        """Start the process, if it does not run; see `remit.executor.agents.Agents.start`."""
        await self._running()

    async def open(self, opening: Opening) -> AgentSession:
        """Open a session; see `remit.executor.agents.Agents.open`."""
        process = await self._running()
        return await process.link.open(opening)

    async def close(self) -> None:
        """End the process."""
        async with self._starting:
            if self._process is not None:
                await self._process.end()
                self._process = None

    async def _running(self) -> AgentProcess:
        async with self._starting:
            if self._process is not None:
                if self._process.usable:
                    return self._process
                # It may have closed its pipes only: two of one agent would share its sessions.
                await self._process.end()
                self._process = None
            await self._wait_for_next_start()
            self._started_at = self._now()
            starting = asyncio.create_task(started(self._command), context=untraced())
            self._process = await starting
            return self._process

    async def _wait_for_next_start(self) -> None:
        """Wait before a start that follows soon on another one."""
        if self._started_at == 0.0 or self._now() - self._started_at > _CALM:
            self._delays = delays(first=0.5, most=30)
            return
        await self._clock.sleep(next(self._delays))

    def _now(self) -> float:
        return self._clock.now().timestamp()


class AgentProcess:
    """One running process of an agent.

    Attributes:
        link: The conversation with it.
        ended: It does not run any more, or is being ended.
    """

    def __init__(self, command: AgentCommand, process: asyncio.subprocess.Process) -> None:
        self._command = command
        self._process = process
        self._log = logger("remit.executor.agent").bind(agent=command.name, pid=process.pid)
        self._errors = asyncio.create_task(self._log_errors(), name=f"errors {command.name}")
        self._watching = asyncio.create_task(self._watch(), name=f"watch {command.name}")
        self._link: Link | None = None
        self.ended = False

    @property
    def link(self) -> Link:
        """The conversation with it."""
        if self._link is None:
            raise AgentFailed(self._command.name, Trouble.CANNOT_START, "it was not greeted yet")
        return self._link

    @property
    def usable(self) -> bool:
        """Whether it runs and listens."""
        return not self.ended and self._link is not None and not self._link.broken

    async def greet(self, acp_session: ModuleType) -> None:
        """Begin the conversation.

        Raises:
            AgentFailed: It does not answer, or not as it must.
        """
        try:
            async with asyncio.timeout(self._command.start_limit):
                self._link = await acp_session.connect(self._command, self._process, self.end)
        except TimeoutError as error:
            seconds = self._command.start_limit
            raise AgentFailed(
                self._command.name, Trouble.CANNOT_START, f"no answer within {seconds:g} s"
            ) from error

    async def end(self) -> None:
        """End it with all it started: its input first, then by signal, then at once."""
        self.ended = True
        if self._link is not None:
            await self._link.close()
        if self._process.stdin is not None:
            self._process.stdin.close()
        for number in (None, signal.SIGTERM, signal.SIGKILL):
            if number is not None:
                self._signal_group(number)
            with suppress(TimeoutError):
                async with asyncio.timeout(self._command.stop_limit / 3):
                    await self._process.wait()
                    break
        self._signal_group(signal.SIGKILL)
        await asyncio.gather(self._errors, self._watching)

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    async def _watch(self) -> None:
        status = await self._process.wait()
        if self.ended:
            self._log.info("agent ended", status=status)
        else:
            self.ended = True
            self._log.warning("agent died", status=status)
            if self._link is not None:
                await self._link.close()

    async def _log_errors(self) -> None:
        if self._process.stderr is None:
            return
        async for line in _lines(self._process.stderr):
            self._log.info("agent says", line=without(line, self._command.secrets)[:_LINE])


async def _lines(stream: asyncio.StreamReader) -> AsyncIterator[str]:
    while True:
        try:
            line = await stream.readline()
        except ValueError:
            continue  # Longer than the buffer: the rest of it follows.
        if not line:
            return
        yield line.decode(errors="replace").rstrip()


async def started(command: AgentCommand) -> AgentProcess:
    """Return an agent's process, started and greeted.

    Raises:
        AgentFailed: It cannot be started, or does not answer as it must.
    """
    # The protocol's package takes a second to load, so it is loaded when it is first needed, and
    # beside the event loop.
    acp_session = await asyncio.to_thread(importlib.import_module, "remit.executor.acp_session")
    command.directory.mkdir(parents=True, exist_ok=True)
    try:
        spawned = await asyncio.create_subprocess_exec(
            located(command.command[0]),
            *command.command[1:],
            cwd=command.directory,
            env=dict(command.environment),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            limit=acp_session.BUFFER,
            start_new_session=True,
            preexec_fn=_end_with_parent(),
        )
    except OSError as error:
        reason = f"{command.command[0]}: {error.strerror or error}"
        raise AgentFailed(command.name, Trouble.CANNOT_START, reason) from error
    process = AgentProcess(command, spawned)
    try:
        await process.greet(acp_session)
    except BaseException:
        await process.end()
        raise
    return process


def located(program: str) -> str:
    """Return the path of a program: one beside this Python comes first, then the search path."""
    if os.sep in program:
        return program
    beside = Path(sysconfig.get_path("scripts")) / program
    return str(beside) if beside.exists() else shutil.which(program) or program


def _end_with_parent() -> Callable[[], None] | None:
    """Return what makes a new process end when this one dies, where the system can do that.

    Elsewhere an agent ends when its input does.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl

    def end_with_parent() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    return end_with_parent
