"""Running a command to its end: bounded in time and output, and ended with all it started."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

OUTPUT_KEPT = 20_000
"""Bytes of a command's output that are kept, from its end."""
_CHUNK = 8192


class CommandTooSlow(Exception):
    """A command did not end within its limit and was ended.

    Attributes:
        program: The program.
        limit: The limit, in seconds.
        output: The end of what it wrote.
    """

    def __init__(self, program: str, limit: float, output: str) -> None:
        super().__init__(f"{program} did not end within {limit:g} s")
        self.program = program
        self.limit = limit
        self.output = output


class CommandMissing(Exception):
    """A program cannot be started.

    Attributes:
        program: The program.
    """

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(f"{program} cannot be started: {reason}")
        self.program = program


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a command ended.

    Attributes:
        status: Its exit status; negative where a signal ended it.
        output: The end of what it wrote to both its outputs.
    """

    status: int
    output: str


async def run_command(
    command: Sequence[str], *, cwd: Path, env: Mapping[str, str], limit: float
) -> Ran:
    """Run ``command`` to its end and return how it ended.

    It runs in a process group of its own without input. Where it takes longer than ``limit``
    seconds, or the caller is cancelled, the whole group is killed.

    Raises:
        CommandMissing: The program cannot be started.
        CommandTooSlow: It took too long.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command,
            cwd=cwd,
            env=dict(env),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        raise CommandMissing(command[0], error.strerror or str(error)) from error
    kept = bytearray()
    reading = asyncio.create_task(_keep_end(process, kept))
    try:
        async with asyncio.timeout(limit):
            status = await process.wait()
    except TimeoutError as error:
        await _end_group(process, reading)
        raise CommandTooSlow(command[0], limit, _text(kept)) from error
    finally:
        await _end_group(process, reading)
    return Ran(status=status, output=_text(kept))


async def _keep_end(process: asyncio.subprocess.Process, kept: bytearray) -> None:
    if process.stdout is None:
        return
    while chunk := await process.stdout.read(_CHUNK):
        kept += chunk
        del kept[:-OUTPUT_KEPT]


async def _end_group(process: asyncio.subprocess.Process, reading: asyncio.Task[None]) -> None:
    """Kill what the command left behind, which ends its output too."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    await reading


def _text(output: bytes | bytearray) -> str:
    return bytes(output).decode(errors="replace").strip()
