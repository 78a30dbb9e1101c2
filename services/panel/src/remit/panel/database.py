"""One SQLite file: a single writer, a few readers, thrown away when it cannot be used.

What the panel keeps can be had again, so a file of another schema, or a damaged one, is deleted and
made anew. All SQL runs in threads of its own, never on the event loop.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from remit.telemetry.logs import logger

T = TypeVar("T")

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BUSY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Schema:
    """What a file holds.

    Attributes:
        version: Goes up with every change of ``script``; a file of another version is thrown away.
        script: The statements that make the tables.
    """

    version: int
    script: str


class DatabaseDamaged(Exception):
    """The file is no longer a sound database; `Database.rebuild` starts it anew.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path} is damaged ({problem}); it will be built again")
        self.path = path


class Database:
    """A SQLite database in WAL mode that can be thrown away at any time.

    Attributes:
        damaged: Set when a read or a write met damage; `rebuild` clears it.

    Args:
        path: The file; its folder must exist.
        schema: What it holds.
        readers: How many reads run side by side; more wait for their turn.
    """

    def __init__(self, path: Path, schema: Schema, *, readers: int = 4) -> None:
        self.damaged = asyncio.Event()
        self._path = path
        self._schema = schema
        self._writing = ThreadPoolExecutor(1, thread_name_prefix=f"{path.stem}-write")
        self._reading = ThreadPoolExecutor(readers, thread_name_prefix=f"{path.stem}-read")
        self._writer: sqlite3.Connection | None = None
        self._mine = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._generation = 0
        self._swapping = threading.Lock()
        self._log = logger("remit.panel.database")

    async def open(self) -> None:
        """Open the file; one that cannot be used is made anew."""
        await self._on_writer(self._open_or_replace)

    async def rebuild(self) -> None:
        """Throw the file away and start an empty one."""
        await self._on_writer(self._replace)
        self.damaged.clear()

    async def read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``query`` on a connection that cannot write, and return its answer.

        Raises:
            DatabaseDamaged: The file must be built again.
        """
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._reading, self._guarded, self._read, query)
        except DatabaseDamaged:
            self.damaged.set()
            raise

    async def write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``change`` in one transaction of its own, and return its answer.

        Raises:
            DatabaseDamaged: The file must be built again; nothing of ``change`` was kept.
        """
        try:
            return await self._on_writer(self._guarded, self._write, change)
        except DatabaseDamaged:
            self.damaged.set()
            raise

    async def close(self) -> None:
        """Finish what runs and close every connection."""
        await self._on_writer(self._close_writer)
        self._writing.shutdown()
        self._reading.shutdown()
        for reader in self._readers:
            reader.close()

    # -- in threads -------------------------------------------------------------------------

    async def _on_writer(self, work: Callable[..., T], *args: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._writing, work, *args)

    def _guarded(self, work: Callable[[Callable[..., T]], T], query: Callable[..., T]) -> T:
        try:
            return work(query)
        except sqlite3.DatabaseError as error:
            if error.sqlite_errorcode & 0xFF in _DAMAGE:
                raise DatabaseDamaged(self._path, str(error)) from error
            raise

    def _read(self, query: Callable[[sqlite3.Connection], T]) -> T:
        if getattr(self._mine, "generation", None) != self._generation:
            with self._swapping:
                self._mine.connection = self._connect(read_only=True)
                self._mine.generation = self._generation
                self._readers.append(self._mine.connection)
        return query(self._mine.connection)

    def _write(self, change: Callable[[sqlite3.Connection], T]) -> T:
        writer = self._writer
        if writer is None:
            raise DatabaseDamaged(self._path, "it is not open")
        writer.execute("BEGIN IMMEDIATE")
        try:
            result = change(writer)
        except BaseException:
            if writer.in_transaction:
                writer.execute("ROLLBACK")
            raise
        writer.execute("COMMIT")
        return result

    def _open_or_replace(self) -> None:
        try:
            sound = self._open()
        except sqlite3.DatabaseError as error:
            self._log.warning(
                "read model cannot be opened", path=str(self._path), problem=str(error)
            )
            sound = False
        if not sound:
            self._replace()

    def _open(self) -> bool:
        """Open what is there; say whether it is of this schema."""
        new = not self._path.exists()
        self._writer = self._connect(read_only=False)
        if new:
            self._make()
            return True
        version = self._writer.execute("PRAGMA user_version").fetchone()[0]
        if version != self._schema.version:
            self._log.info(
                "another schema", path=str(self._path), found=version, wanted=self._schema.version
            )
            return False
        return True

    def _replace(self) -> None:
        self._close_writer()
        with self._swapping:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            self._writer = self._connect(read_only=False)
            self._make()
            self._generation += 1
        self._log.info("started anew", path=str(self._path))

    def _make(self) -> None:
        assert self._writer is not None
        self._writer.executescript(self._schema.script)
        self._writer.execute(f"PRAGMA user_version = {self._schema.version:d}")

    def _close_writer(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _connect(self, *, read_only: bool) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        # A tail that a power cut takes away is read from the streams again: NORMAL is enough.
        pragmas = (
            ("query_only = ON",) if read_only else ("journal_mode = WAL", "synchronous = NORMAL")
        )
        try:
            for pragma in pragmas:
                connection.execute(f"PRAGMA {pragma}")
        except sqlite3.DatabaseError:
            connection.close()
            raise
        return connection
