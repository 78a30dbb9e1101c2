"""Appending to a session log, one whole line at a time."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from remit.harness.log.errors import LogWriteError


class LogWriter:
    """The end of one log file.

    Every line is handed to the operating system before `append` returns, so a killed process loses
    none. `sync` also waits for the disk.
    """

    def __init__(self, path: Path, size: int) -> None:
        """Go on at the end of a file.

        Args:
            path: The file; it is made if it is missing.
            size: How many of its bytes are whole lines; the rest is cut (LOG-3).

        Raises:
            LogWriteError: The file cannot be opened or cut.
        """
        self._path = path
        self._size = size
        self._broken = False
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise LogWriteError(path, error.strerror or str(error)) from error
        try:
            os.ftruncate(self._file, size)
        except OSError as error:
            os.close(self._file)
            raise LogWriteError(path, error.strerror or str(error)) from error

    def append(self, line: str) -> None:
        """Write one line.

        Raises:
            LogWriteError: It could not be written in full. What had been written of it is taken
                back; where even that fails, later appends are refused.
        """
        self._write((line + "\n").encode())

    def append_break(self) -> None:
        """Write the line break that the last whole line lacks.

        Raises:
            LogWriteError: It could not be written.
        """
        self._write(b"\n")

    def sync(self) -> None:
        """Wait until what was appended is on the disk; this blocks.

        Raises:
            LogWriteError: The disk did not take it.
        """
        try:
            os.fsync(self._file)
        except OSError as error:
            raise LogWriteError(self._path, error.strerror or str(error)) from error

    def close(self) -> None:
        """Let go of the file."""
        with contextlib.suppress(OSError):
            os.close(self._file)

    def _write(self, data: bytes) -> None:
        if self._broken:
            raise LogWriteError(self._path, "an earlier line is torn; open the session again")
        written = 0
        try:
            while written < len(data):
                written += os.pwrite(self._file, data[written:], self._size + written)
        except OSError as error:
            self._take_back()
            raise LogWriteError(self._path, error.strerror or str(error)) from error
        self._size += len(data)

    def _take_back(self) -> None:
        try:
            os.ftruncate(self._file, self._size)
        except OSError:
            self._broken = True
