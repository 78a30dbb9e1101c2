"""A server process that ends with the process that started it."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

from remit.cli import parent

_GRACE_SECONDS = 10.0
_POLL_SECONDS = 0.01


class ServerFailed(Exception):
    """A server did not start, or ended by itself.

    Attributes:
        program: Which one.
        log: Where its output is.
    """

    def __init__(self, program: str, log: Path, problem: str) -> None:
        super().__init__(f"{program} {problem}; its log is {log}")
        self.program = program
        self.log = log


class ServerProcess:
    """One run of a server.

    Args:
        command: What to run.
        log: Where its output goes, at the end of what is there.
        hold: A descriptor that it keeps open for as long as it lives.
        watchdog: Watch the parent by a process of its own. Linux needs none, because there the
            kernel tells the child; None decides by platform.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        hold: int,
        watchdog: bool | None = None,
    ) -> None:
        self.log = log
        self._program = Path(command[0]).name
        by_kernel = parent.KERNEL_TELLS if watchdog is None else not watchdog
        with log.open("ab") as output:
            self._process = subprocess.Popen(  # noqa: S603 - what to run is the operator's choice
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(hold,),
                # A session of its own, so that the terminal's Ctrl-C reaches it through us.
                start_new_session=True,
                preexec_fn=parent.die_with_parent() if by_kernel else None,
            )
        self._watchdog = None if by_kernel else parent.watch(self._process.pid)

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def alive(self) -> bool:
        """Say whether it runs."""
        return self._process.poll() is None

    def failed(self, problem: str) -> ServerFailed:
        """Return the error that says so, with the last lines of the log."""
        lines = self.log.read_text(errors="replace").splitlines()[-5:]
        said = "".join(f"\n  {line}" for line in lines)
        return ServerFailed(self._program, self.log, f"{problem}{said}")

    async def stop(self) -> None:
        """Ask it to stop, insist after a while, and wait for its end."""
        if self.alive():
            self.signal(signal.SIGTERM)
            # A stopped process takes the request only when it goes on.
            self.signal(signal.SIGCONT)
            try:
                async with asyncio.timeout(_GRACE_SECONDS):
                    await self._gone()
            except TimeoutError:
                self.signal(signal.SIGKILL)
        await self._end()

    async def kill(self) -> None:
        """End it as a crash would, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        await self._end()

    def signal(self, number: int) -> None:
        """Send a signal, if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    async def _end(self) -> None:
        await self._gone()
        if self._watchdog is not None and self._watchdog.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self._watchdog.stdin.write(b".")
                self._watchdog.stdin.flush()
            self._watchdog.stdin.close()
            await asyncio.to_thread(self._watchdog.wait)
            self._watchdog = None

    async def _gone(self) -> None:
        # Polled, because a server may outlive the event loop that started it.
        while self.alive():  # noqa: ASYNC110
            await asyncio.sleep(_POLL_SECONDS)
