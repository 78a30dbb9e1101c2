"""Services of Remit as real processes, which a test may kill and start again."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

READY_WITHIN = 30.0


class ServiceProcess:
    """One service, in one process after another.

    Attributes:
        name: The service.
        port: Where it listens: the same one after a restart.
    """

    def __init__(self, name: str, environment: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.port = 0
        self._environment = environment
        self._log = log
        self._seen = 0
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    async def start(self) -> None:
        """Start it; does not wait."""
        await self.start_module(f"remit.{self.name}")

    async def start_module(self, module: str, *, cwd: Path | None = None) -> None:
        """Start any module as this service; does not wait."""
        self._seen = len(self.lines())
        with self._log.open("ab") as out:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                module,
                stdout=out,
                stderr=out,
                cwd=cwd,
                env={**os.environ, **self._environment, "REMIT_PORT": str(self.port)},
            )

    def lines(self) -> list[dict[str, object]]:
        """Return what it has logged, of all its lives."""
        if not self._log.exists():
            return []
        text = self._log.read_text()
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    async def until(self, event: str, within: float = READY_WITHIN) -> None:
        """Wait until this life of it logs ``event``.

        Raises:
            AssertionError: It does not in time.
        """
        deadline = time.monotonic() + within
        while time.monotonic() < deadline:
            for line in self.lines()[self._seen :]:
                if line["event"] == "serving":
                    port = line["port"]
                    assert isinstance(port, int)
                    self.port = port
                if line["event"] == event:
                    return
            await asyncio.sleep(0.02)
        raise AssertionError(f"{self.name} did not say {event!r}:\n{self._log.read_text()[-3000:]}")

    async def kill(self) -> None:
        """End it at once, as a lost machine does."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> int:
        """Ask it to stop and return its exit status."""
        return await self._end(signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    async def wait(self) -> int:
        """Wait for its end and return its exit status."""
        assert self._process is not None
        return await self._process.wait()

    async def _end(self, number: int) -> int:
        assert self._process is not None
        if self._process.returncode is None:
            self._process.send_signal(number)
        return await asyncio.wait_for(self._process.wait(), 30)

    async def readiness(self) -> tuple[int, dict[str, object]]:
        """Ask whether it is ready."""
        async with httpx.AsyncClient() as http:
            answer = await http.get(f"{self.url}/readyz")
        return answer.status_code, answer.json()


class Deployment:
    """Some services over given servers.

    Attributes:
        services: The services by name.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = environment
        self.services: dict[str, ServiceProcess] = {}

    async def start(self, *names: str) -> None:
        """Start services and wait until they are ready."""
        for name in names:
            log = self._folder / f"{name}.log"
            self.services.setdefault(name, ServiceProcess(name, self._environment, log))
            await self.services[name].start()
        for name in names:
            await self.services[name].until("ready")

    async def kill(self, name: str) -> None:
        """Kill a service and start it again."""
        await self.services[name].kill()
        await self.services[name].start()

    async def stop(self) -> None:
        """Stop everything."""
        await asyncio.gather(*(service.stop() for service in self.services.values()))


@asynccontextmanager
async def deployed(
    folder: Path, environment: Mapping[str, str], *names: str
) -> AsyncIterator[Deployment]:
    """Run services for the length of a block."""
    deployment = Deployment(folder, environment)
    try:
        await deployment.start(*names)
        yield deployment
    finally:
        await deployment.stop()
