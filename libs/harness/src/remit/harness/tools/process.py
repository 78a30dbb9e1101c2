"""Running a command as a process group of its own, with bounded time and output.

A command never outlives the harness, not even a killed one: beside it, in its group, a shell waits
for the end of a pipe that only the harness holds open, and then kills the group.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_GRACE = 0.3
_DRAIN = 0.2
_PIECE = 65536
_GUARD = (
    "exec 3<&0; (read -r _ <&3; kill -s KILL -- -$$) >/dev/null 2>&1 & "
    'exec 3<&-; exec "$@" </dev/null'
)
_GUARDED = ("/bin/sh", "-c", _GUARD, "sh")
"""Starts the waiting shell, then becomes the command that follows."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a command ended.

    Attributes:
        exit_code: Its exit code; negative for the signal that ended it.
        output: What it wrote to its output and its errors, in the order it came.
        timed_out: Whether it was ended because its time was up.
    """

    exit_code: int
    output: str
    timed_out: bool


async def run_process(
    command: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str],
    time_limit: float,
    keep: int,
) -> Finished:
    """Run a command to its end.

    Whatever the command leaves running in its process group is ended with it. Cancelling ends the
    group too: it is asked to stop, and killed where it does not within a moment.

    Args:
        command: The program and its arguments.
        cwd: Where it runs.
        environment: All the variables it gets.
        time_limit: How long it may take, in seconds.
        keep: How many bytes of its output are kept, about: the beginning and the end.

    Raises:
        OSError: It could not be started; a program that is not there is its exit code 127.
    """
    output = _Output(keep)
    read_end, write_end = os.pipe()
    guard_end, held_end = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            *_GUARDED,
            *command,
            cwd=cwd,
            env=dict(environment),
            stdin=guard_end,
            stdout=write_end,
            stderr=write_end,
            start_new_session=True,
        )
    except BaseException:
        os.close(read_end)
        os.close(held_end)
        raise
    finally:
        os.close(write_end)
        os.close(guard_end)
    reading = asyncio.create_task(_read(read_end, output))
    timed_out = False
    try:
        try:
            async with asyncio.timeout(time_limit):
                await process.wait()
        except TimeoutError:
            timed_out = True
            await _stop(process)
        _signal_group(process, signal.SIGKILL)
        await asyncio.wait({reading}, timeout=_DRAIN)
    except asyncio.CancelledError:
        await _stop(process)
        raise
    finally:
        _signal_group(process, signal.SIGKILL)
        os.close(held_end)
        reading.cancel()
        await asyncio.wait({reading})
    return Finished(await process.wait(), output.text(), timed_out)


async def _read(read_end: int, output: _Output) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    pipe = os.fdopen(read_end, "rb", buffering=0)
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), pipe)
    try:
        while piece := await reader.read(_PIECE):
            output.add(piece)
    finally:
        transport.close()


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Ask the group to stop; kill it where it does not."""
    _signal_group(process, signal.SIGTERM)
    try:
        async with asyncio.timeout(_GRACE):
            await process.wait()
    except TimeoutError:
        _signal_group(process, signal.SIGKILL)
        await process.wait()


def _signal_group(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


class _Output:
    """Keeps the beginning and the end of what it is given."""

    def __init__(self, keep: int) -> None:
        self._head_size = keep // 4
        self._tail_size = keep - self._head_size
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, piece: bytes) -> None:
        room = self._head_size - len(self._head)
        self._head += piece[:room]
        self._tail += piece[room:]
        excess = len(self._tail) - self._tail_size
        if excess > 0:
            self._dropped += excess
            del self._tail[:excess]

    def text(self) -> str:
        head = self._head.decode("utf-8", "replace")
        tail = self._tail.decode("utf-8", "replace")
        if self._dropped:
            return f"{head}\n[... {self._dropped} bytes left out ...]\n{tail}"
        return (self._head + self._tail).decode("utf-8", "replace")
