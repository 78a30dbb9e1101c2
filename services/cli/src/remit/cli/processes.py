"""Programs as real processes, which end with this one whatever ends it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import AsyncIterator

from remit.cli import parent
from remit.cli.supervisor import Program

_LONGEST_LINE = 1024 * 1024
_LAST_WORDS_SECONDS = 0.5
"""How long the output of an ended program is still read: what it started may hold it open."""


class RealProcess:
    """A child process; see `remit.cli.supervisor.Process`.

    Args:
        process: The child.
        output: What it says.
        heard: Closes ``output``.
        watchdog: What ends it with this process, where the kernel does not.
    """

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        output: asyncio.StreamReader,
        heard: asyncio.ReadTransport,
        watchdog: subprocess.Popen[bytes] | None = None,
    ) -> None:
        self._process = process
        self._output = output
        self._heard = heard
        self._watchdog = watchdog

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield its lines until it closes its output, or shortly after it ended."""
        ended = asyncio.create_task(self._ended_a_while_ago())
        try:
            while True:
                reading = asyncio.create_task(_line(self._output))
                await asyncio.wait({reading, ended}, return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    reading.cancel()
                    return
                line = reading.result()
                if not line:
                    return
                yield line
        finally:
            ended.cancel()
            self._heard.close()

    async def wait(self) -> int:
        """Wait for its end."""
        status = await self._process.wait()
        if self._watchdog is not None:
            await asyncio.to_thread(self._watchdog.communicate, b".")
            self._watchdog = None
        return status

    def terminate(self) -> None:
        """Ask it to stop."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def _ended_a_while_ago(self) -> None:
        await self._process.wait()
        await asyncio.sleep(_LAST_WORDS_SECONDS)


async def _line(out: asyncio.StreamReader) -> bytes:
    """Return the next line; what is longer than a line may be comes in pieces."""
    try:
        return await out.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        return end.partial
    except asyncio.LimitOverrunError as long:
        return await out.read(long.consumed or _LONGEST_LINE)


async def spawn(program: Program) -> RealProcess:
    """Start ``program`` in a session of its own, so that a Ctrl-C reaches this process alone.

    Raises:
        OSError: It cannot be started.
    """
    # A pipe of our own can be closed while a grandchild still holds the other end.
    ours, theirs = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *program.command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env={**os.environ, **program.environment},
            cwd=program.cwd,
            start_new_session=True,
            preexec_fn=parent.die_with_parent() if parent.KERNEL_TELLS else None,
        )
    except BaseException:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    output = asyncio.StreamReader(limit=_LONGEST_LINE)
    heard, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(output), os.fdopen(ours, "rb")
    )
    watchdog = None if parent.KERNEL_TELLS else parent.watch(process.pid)
    return RealProcess(process, output, heard, watchdog)
