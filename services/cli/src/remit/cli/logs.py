"""One log file for each program, with an end to its growth."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

LARGEST = 20 * 1024 * 1024
"""Bytes of a log file before it is put aside; one earlier file is kept."""


class LogFiles:
    """Writes what programs say, each to its own file.

    Args:
        folder: Where the files are.
        largest: How large one may grow, in bytes.
    """

    def __init__(self, folder: Path, *, largest: int = LARGEST) -> None:
        self._folder = folder
        self._largest = largest
        self._open: dict[str, BinaryIO] = {}

    def write(self, name: str, line: bytes) -> None:
        """Add a line to the log of ``name``."""
        file = self._open.get(name)
        if file is not None and file.tell() + len(line) > self._largest:
            file.close()
            path = self._path(name)
            path.replace(path.with_suffix(".log.1"))
            file = None
        if file is None:
            file = self._open[name] = self._path(name).open("ab", buffering=0)
        file.write(line)

    def close(self) -> None:
        """Close every file."""
        for file in self._open.values():
            file.close()
        self._open.clear()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.log"
