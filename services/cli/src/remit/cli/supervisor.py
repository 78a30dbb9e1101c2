"""Keeps programs running: each is started again when it dies, and all stop in order.

What a program says on its output goes to its log, and the lines that tell where it stands
(``serving``, ``ready``, see `remit.runtime.service`) move it from starting to ready.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from remit.bus.clock import Clock, sleep_unless


class State(StrEnum):
    """Where a program stands."""

    STARTING = "starting"
    SERVING = "serving"
    """It listens, and waits for what it needs."""
    READY = "ready"
    DIED = "died"
    """It is started again after a delay."""
    STOPPING = "stopping"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """Something to keep running.

    Attributes:
        name: What people call it.
        command: What is run.
        environment: Its variables.
        stage: When it is stopped: programs of a lower stage go first, those of one stage together.
        cwd: Where it runs; None is here.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stage: int = 0
    cwd: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What is known of a program.

    Attributes:
        name: The program.
        state: Where it stands.
        pid: Its process, while it has one.
        port: Where it listens, once it said so.
        starts: How often it was started.
        detail: What it waits for, or how it died; for people.
    """

    name: str
    state: State
    pid: int | None = None
    port: int | None = None
    starts: int = 0
    detail: str = ""


class Process(Protocol):
    """A program that runs."""

    @property
    def pid(self) -> int:
        """Its process id."""
        ...

    def lines(self) -> AsyncIterator[bytes]:
        """Yield the lines of its output until it closes it."""
        ...

    async def wait(self) -> int:
        """Wait for its end; return its exit status, negative for a signal."""
        ...

    def terminate(self) -> None:
        """Ask it to stop. Does nothing once it ended."""
        ...

    def kill(self) -> None:
        """End it now. Does nothing once it ended."""
        ...


Spawn = Callable[[Program], Awaitable[Process]]
"""Starts a program.

Raises:
    OSError: It cannot be started.
"""

Line = Callable[[str, bytes], None]
"""Takes a line that a program said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long the supervisor waits.

    Attributes:
        first: Before the first restart.
        most: Before a restart, at most: no program is started more often than this for long.
        settled: A program that ran this long is restarted without delay again.
        grace: For a program to stop before it is killed.
    """

    first: timedelta = timedelta(milliseconds=200)
    most: timedelta = timedelta(seconds=20)
    settled: timedelta = timedelta(seconds=30)
    grace: timedelta = timedelta(seconds=25)


class Supervisor:
    """Runs programs until it is stopped.

    Args:
        programs: What to run.
        spawn: Starts one.
        clock: Measures delays.
        on_change: Called with each change of a program.
        on_line: Called with each line a program says.
        patience: How long to wait for what.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        *,
        spawn: Spawn,
        clock: Clock,
        on_change: Callable[[Status], None] = lambda _: None,
        on_line: Line = lambda _, __: None,
        patience: Patience | None = None,
    ) -> None:
        self._programs = tuple(programs)
        self._spawn = spawn
        self._clock = clock
        self._on_change = on_change
        self._on_line = on_line
        self._patience = patience or Patience()
        self._status = {
            one.name: Status(name=one.name, state=State.STARTING) for one in self._programs
        }
        self._processes: dict[str, Process] = {}
        self._stopping = {one.name: asyncio.Event() for one in self._programs}
        self._at_once = asyncio.Event()
        self._changed = asyncio.Condition()
        self._keepers: dict[str, asyncio.Task[None]] = {}

    def status(self) -> dict[str, Status]:
        """Return what is known of each program, in the order given."""
        return dict(self._status)

    def start(self) -> None:
        """Start every program; returns at once."""
        for program in self._programs:
            self._keepers[program.name] = asyncio.create_task(
                self._keep(program), name=f"keep {program.name}"
            )

    async def all_ready(self) -> None:
        """Wait until every program is ready at the same time."""
        async with self._changed:
            await self._changed.wait_for(
                lambda: all(one.state is State.READY for one in self._status.values())
            )

    async def stop(self) -> None:
        """Stop all, stage by stage, and wait for their ends."""
        for stage in sorted({one.stage for one in self._programs}):
            leaving = [one for one in self._programs if one.stage == stage]
            await asyncio.gather(*(self._stop(one.name) for one in leaving))

    def stop_at_once(self) -> None:
        """Kill all, and start none again; `stop` then returns soon."""
        for stopping in self._stopping.values():
            stopping.set()
        self._at_once.set()
        for process in self._processes.values():
            process.kill()

    def kill(self, name: str) -> int | None:
        """Kill one program as a crash would, and let it be restarted; return the process it was."""
        process = self._processes.get(name)
        if process is None:
            return None
        process.kill()
        return process.pid

    # -- one program ------------------------------------------------------------------------

    async def _keep(self, program: Program) -> None:
        stopping = self._stopping[program.name]
        delays = self._delays()
        starts = 0
        while not stopping.is_set():
            starts += 1
            began = self._clock.now()
            await self._set(program.name, state=State.STARTING, starts=starts, port=None, detail="")
            ended = await self._run_once(program)
            if stopping.is_set():
                break
            if self._clock.now() - began >= self._patience.settled:
                delays = self._delays()
            delay = next(delays)
            detail = f"{ended}; started again in {delay.total_seconds():g} s"
            await self._set(program.name, state=State.DIED, pid=None, port=None, detail=detail)
            await sleep_unless(stopping, self._clock, delay.total_seconds())
        await self._set(program.name, state=State.STOPPED, pid=None, port=None, detail="")

    def _delays(self) -> Iterator[timedelta]:
        delay = self._patience.first
        while True:
            yield delay
            delay = min(delay * 2, self._patience.most)

    async def _run_once(self, program: Program) -> str:
        """Run a program to its end; return how it ended, in words."""
        try:
            process = await self._spawn(program)
        except OSError as error:
            return f"cannot be started: {error.strerror or error}"
        self._processes[program.name] = process
        try:
            await self._set(program.name, pid=process.pid)
            if self._at_once.is_set():
                process.kill()
            elif self._stopping[program.name].is_set():
                process.terminate()
            async for line in process.lines():
                self._on_line(program.name, line)
                await self._hear(program.name, line)
            return ending(await process.wait())
        finally:
            del self._processes[program.name]

    async def _hear(self, name: str, line: bytes) -> None:
        said = event_in(line)
        if self._status[name].state is State.STOPPING:
            return
        match said.get("event"):
            case "serving":
                port = said.get("port")
                await self._set(
                    name, state=State.SERVING, port=port if isinstance(port, int) else None
                )
            case "waiting":
                await self._set(name, detail=str(said.get("reason", "")))
            case "ready":
                await self._set(name, state=State.READY, detail="")

    async def _stop(self, name: str) -> None:
        self._stopping[name].set()
        keeper = self._keepers.get(name)
        if keeper is None:
            return
        process = self._processes.get(name)
        if process is not None:
            await self._set(name, state=State.STOPPING)
            process.terminate()
        killing = asyncio.create_task(self._kill_after_grace(name))
        try:
            await keeper
        finally:
            killing.cancel()

    async def _kill_after_grace(self, name: str) -> None:
        await sleep_unless(self._at_once, self._clock, self._patience.grace.total_seconds())
        process = self._processes.get(name)
        if process is not None:
            process.kill()

    async def _set(self, name: str, **changes: Any) -> None:
        status = replace(self._status[name], **changes)
        if status == self._status[name]:
            return
        self._status[name] = status
        self._on_change(status)
        async with self._changed:
            self._changed.notify_all()


def ending(status: int) -> str:
    """Say in words how a process ended."""
    return f"ended by signal {-status}" if status < 0 else f"ended with status {status}"


def event_in(line: bytes) -> Mapping[str, Any]:
    """Return the log event on a line; empty where it is something else."""
    if not line.startswith(b"{"):
        return {}
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
