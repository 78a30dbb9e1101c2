"""Programs that a test plays by hand, for what supervises processes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import count

from remit.cli.supervisor import Program

KILLED = -9
TERMINATED = -15


class PlayedProcess:
    """A process whose lines and end a test decides.

    Args:
        pid: Its process id.
        stubborn: It does not end when it is asked to.
    """

    def __init__(self, pid: int, *, stubborn: bool = False) -> None:
        self.pid = pid
        self.asked_to_stop = False
        self._stubborn = stubborn
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._status: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def say(self, event: str, **fields: object) -> None:
        """Put a log line on its output."""
        self._lines.put_nowait(json.dumps({"event": event, **fields}).encode() + b"\n")

    def say_raw(self, line: bytes) -> None:
        """Put any line on its output."""
        self._lines.put_nowait(line)

    def end(self, status: int) -> None:
        """Let it end."""
        if not self._status.done():
            self._status.set_result(status)
            self._lines.put_nowait(None)

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield what was said."""
        while (line := await self._lines.get()) is not None:
            yield line

    async def wait(self) -> int:
        """Wait for the end."""
        return await asyncio.shield(self._status)

    def terminate(self) -> None:
        """Note that it was asked; end unless stubborn."""
        self.asked_to_stop = True
        if not self._stubborn:
            self.end(TERMINATED)

    def kill(self) -> None:
        """End."""
        self.end(KILLED)


class Stage:
    """Spawns played processes and keeps them for the test to play.

    Args:
        stubborn: Names of programs that do not end when asked to.
    """

    def __init__(self, *, stubborn: frozenset[str] = frozenset()) -> None:
        self.started: dict[str, list[PlayedProcess]] = {}
        self.order: list[str] = []
        self.refusals: dict[str, OSError] = {}
        self._stubborn = stubborn
        self._pids = count(100)

    async def spawn(self, program: Program) -> PlayedProcess:
        """Start a played process, or refuse as the test asked."""
        if refusal := self.refusals.get(program.name):
            raise refusal
        process = PlayedProcess(next(self._pids), stubborn=program.name in self._stubborn)
        self.started.setdefault(program.name, []).append(process)
        self.order.append(program.name)
        return process

    def latest(self, name: str) -> PlayedProcess:
        """Return the process that a program runs in now."""
        return self.started[name][-1]
