"""What both embedded servers have in common."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, TypeVar

from remit.cli.embedded.folder import FolderLock
from remit.cli.embedded.process import ServerProcess

HOST = "127.0.0.1"
_POLL_SECONDS = 0.005
_START_SECONDS = 15.0

S = TypeVar("S", bound="EmbeddedServer")


class Kind(Protocol):
    """How one kind of server is started."""

    @property
    def name(self) -> str:
        """What it is called."""
        ...

    def command(self, folder: Path, port: int | None) -> Sequence[str]:
        """Return what to run; without a port, on a free one."""
        ...

    async def port_of(self, folder: Path, pid: int) -> int | None:
        """Return the port once the server answers there, None before."""
        ...


class EmbeddedServer:
    """A server with a private data folder that lives no longer than this process.

    Its data survives `stop`, `kill` and `restart`. After the first start the port stays the
    same, so that clients find it again.

    Args:
        kind: How it is started.
        data_dir: Where its data is. One server at a time may use it.
        port: Its port; a free one unless given.
    """

    def __init__(self, kind: Kind, *, data_dir: Path, port: int | None = None) -> None:
        self._kind = kind
        self._folder = FolderLock(data_dir)
        self._port = port
        self._process: ServerProcess | None = None

    @property
    def port(self) -> int:
        """Its port.

        Raises:
            RuntimeError: It was never started.
        """
        if self._port is None:
            raise RuntimeError(f"{self._kind.name} was not started yet")
        return self._port

    @property
    def pid(self) -> int | None:
        """Its process, None where it does not run."""
        return self._process.pid if self.running else None  # type: ignore[union-attr]

    @property
    def running(self) -> bool:
        """It runs, though perhaps paused."""
        return self._process is not None and self._process.alive()

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return self._folder.path / f"{self._kind.name}.log"

    async def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            DataFolderBusy: Another process uses the data folder.
            ServerFailed: It does not start.
        """
        await self._folder.acquire()
        try:
            await self._run()
        except BaseException:
            self._folder.release()
            raise

    async def stop(self) -> None:
        """Stop it and give the folder back."""
        if self._process is not None:
            await self._process.stop()
            self._process = None
        self._folder.release()

    async def kill(self) -> None:
        """End it as a crash would. `restart` starts it again."""
        if self._process is not None:
            await self._process.kill()

    async def restart(self) -> None:
        """Stop it if it runs, and start it on the same data and the same port.

        Raises:
            ServerFailed: It does not start.
        """
        if self._process is not None:
            await self._process.stop()
        await self._run()

    def pause(self) -> None:
        """Let it stand still: connections stay, nothing is answered."""
        if self._process is not None:
            self._process.signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        if self._process is not None:
            self._process.signal(signal.SIGCONT)

    async def __aenter__(self: S) -> S:
        """Start it."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop it."""
        await self.stop()

    async def _run(self) -> None:
        folder = self._folder.path
        process = ServerProcess(
            self._kind.command(folder, self._port), log=self.log, hold=self._folder.descriptor
        )
        try:
            async with asyncio.timeout(_START_SECONDS):
                self._port = await self._until_it_answers(process)
        except TimeoutError:
            await process.kill()
            raise process.failed(f"did not answer within {_START_SECONDS:g} s") from None
        except BaseException:
            await process.kill()
            raise
        self._process = process

    async def _until_it_answers(self, process: ServerProcess) -> int:
        while process.alive():
            port = await self._kind.port_of(self._folder.path, process.pid)
            if port is not None:
                return port
            await asyncio.sleep(_POLL_SECONDS)
        raise process.failed("ended at once")


def scripts_folder() -> Path:
    """Return where programs of this Python environment are."""
    return Path(sys.executable).parent


async def ask(port: int, request: bytes) -> bytes:
    """Return what a server on ``port`` says to ``request``, nothing where none answers."""
    try:
        reader, writer = await asyncio.open_connection(HOST, port)
    except OSError:
        return b""
    try:
        writer.write(request)
        async with asyncio.timeout(1):
            return await reader.read(4096)
    except (OSError, TimeoutError):
        return b""
    finally:
        writer.close()
