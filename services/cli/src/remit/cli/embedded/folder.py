"""A server's data folder, which only one server may have at a time.

Neither server refuses to start on a folder that another one is writing to, so a lock of our
own stands in front. The server process holds it too: a folder is free only when both it and
whoever started it are gone.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
from pathlib import Path

_LOCK = "lock"
_OWNER_ONLY = 0o700
_TRIES = 20
_PAUSE_SECONDS = 0.05


class DataFolderBusy(Exception):
    """Another process uses the data folder.

    Attributes:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is in use by another remit; stop that one, or choose another data folder"
        )
        self.path = path


class FolderLock:
    """The lock of one data folder.

    Args:
        path: The folder. It is made, readable by the owner only, if it is missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    @property
    def descriptor(self) -> int:
        """The open lock, for handing on to the server process."""
        if self._descriptor is None:
            raise RuntimeError(f"{self.path} is not locked")
        return self._descriptor

    async def acquire(self) -> None:
        """Take the folder. One whose last user is just ending is waited for.

        Raises:
            DataFolderBusy: Another process has it.
            OSError: The folder cannot be made or written.
        """
        self.path.mkdir(mode=_OWNER_ONLY, parents=True, exist_ok=True)
        descriptor = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        for _ in range(_TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                await asyncio.sleep(_PAUSE_SECONDS)
            else:
                self._descriptor = descriptor
                return
        os.close(descriptor)
        raise DataFolderBusy(self.path)

    def release(self) -> None:
        """Give the folder back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
