"""Processes under measurement: started, waited for, looked at, ended."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from bench.figures import Idle

READY_WITHIN = 30.0
"""Seconds that a process has to become ready."""


class Program:
    """One process."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self.name = name
        self._process = process
        self._log = log
        self._started = time.perf_counter()
        self.ready_after = 0.0
        self.port = 0

    @classmethod
    async def start(
        cls, name: str, command: Sequence[str], environment: Mapping[str, str], log: Path
    ) -> Program:
        """Start a process whose lines go to ``log``."""
        with log.open("wb") as out:
            process = await asyncio.create_subprocess_exec(
                *command, stdout=out, stderr=out, env={**os.environ, **environment}
            )
        return cls(name, process, log)

    async def until_ready(self) -> None:
        """Wait for the line that says that it is ready.

        Raises:
            RuntimeError: It ended, or took too long.
        """
        if self.ready_after:
            return
        while time.perf_counter() - self._started < READY_WITHIN:
            if self._says_ready():
                self.ready_after = time.perf_counter() - self._started
                return
            if self._process.returncode is not None:
                break
            await asyncio.sleep(0.02)
        raise RuntimeError(f"{self.name} is not ready:\n{self._log.read_text()[-2000:]}")

    def _says_ready(self) -> bool:
        for line in self._log.read_text().splitlines():
            if line == "ready":
                return True
            if line.startswith("{"):
                said = json.loads(line)
                self.port = said.get("port", self.port)
                if said.get("event") == "ready":
                    return True
        return False

    def idle(self) -> Idle:
        """Return what it takes now."""
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        [line] = [row for row in status.splitlines() if row.startswith("VmRSS")]
        return Idle(self.name, int(line.split()[1]) / 1024, self.ready_after)

    def cpu_seconds(self) -> float:
        """Return the processor time it has used."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async def stop(self) -> None:
        """End it."""
        if self._process.returncode is None:
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), 10)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()


@asynccontextmanager
async def running(programs: Sequence[Program]) -> AsyncIterator[Sequence[Program]]:
    """Wait until all are ready; end them at the end."""
    try:
        for program in programs:
            await program.until_ready()
        yield programs
    finally:
        await asyncio.gather(*(program.stop() for program in programs))


def python(*arguments: str) -> list[str]:
    """Return the command that runs a module."""
    return [sys.executable, "-m", *arguments]
