"""One session's log, open for appending."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from remit.harness.clock import Clock
from remit.harness.log.errors import (
    LogDamagedError,
    LogLockedError,
    LogRuleError,
    LogWriteError,
    RowError,
)
from remit.harness.log.event import Event, Replace, new_event
from remit.harness.log.json_text import encode
from remit.harness.log.payloads import SURFACE_TYPES, Header, Payload, SessionEndSeed
from remit.harness.log.place import LOCK_NAME, LOG_NAME
from remit.harness.log.reader import LogRead, read_log
from remit.harness.log.record import Record
from remit.harness.log.repair import closing_events
from remit.harness.log.writer import LogWriter


class SessionLog:
    """A session's events, in memory and on disk, held by this process alone.

    Use `create` for a new session and `resume` for a recorded one.
    """

    def __init__(self, record: Record, writer: LogWriter, lock: int, clock: Clock) -> None:
        self._record = record
        self._writer = writer
        self._lock = lock
        self._clock = clock
        self._spoiled = False

    @classmethod
    def create(cls, folder: Path, header: Header, clock: Clock) -> SessionLog:
        """Start the log of a new session.

        Raises:
            LogLockedError: The folder is in use by another process.
            LogWriteError: The file cannot be written, or it is there already.
        """
        path = folder / LOG_NAME
        lock = _take_lock(folder, header.id)
        row = header.to_json()
        writer: LogWriter | None = None
        try:
            _refuse_existing(path)
            writer = LogWriter(path, 0)
            writer.append(encode(row))
        except BaseException:
            _let_go(writer, lock)
            raise
        return cls(Record(header, row), writer, lock, clock)

    @classmethod
    def resume(cls, folder: Path, session_id: str, clock: Clock) -> SessionLog:
        """Go on with a recorded session.

        A torn last line is cut, what a crash left open is closed, and the new life of the session
        is marked (LOG-3).

        Raises:
            LogLockedError: The session is open in another process.
            LogDamagedError: The log cannot be trusted.
            LogWriteError: The file cannot be read or written.
        """
        path = folder / LOG_NAME
        lock = _take_lock(folder, session_id)
        writer: LogWriter | None = None
        try:
            read = _read(path)
            writer = LogWriter(path, read.whole_bytes)
            if read.ends_open:
                writer.append_break()
            log = cls(read.record, writer, lock, clock)
            log._close_interrupted()
        except BaseException:
            _let_go(writer, lock)
            raise
        return log

    @property
    def record(self) -> Record:
        """The header and every event so far."""
        return self._record

    def append(
        self,
        payload: Payload,
        *,
        replace: Replace | None = None,
        sources: tuple[int, ...] = (),
    ) -> Event:
        """Add one event; it is on its way to the disk when this returns.

        Args:
            payload: What happened.
            replace: The part of the conversation it takes the place of; none means that a message
                joins at the end.
            sources: The earlier events it was made from.

        Raises:
            LogRuleError: The format does not allow the event here; nothing was written.
            LogWriteError: The event could not be written.
        """
        return self._append(payload, self._clock.now_ms(), replace, sources)

    def sync(self) -> None:
        """Wait until everything is on the disk; this blocks."""
        self._writer.sync()

    def close(self) -> None:
        """Let go of the session, so that another process may resume it."""
        _let_go(self._writer, self._lock)

    def _append(
        self, payload: Payload, time: int, replace: Replace | None, sources: tuple[int, ...]
    ) -> Event:
        if self._spoiled:
            raise LogRuleError(payload.TYPE, "an earlier event was refused; open the session again")
        placement: Replace | str | None = replace
        if replace is None and payload.TYPE in SURFACE_TYPES:
            placement = "append"
        try:
            event = new_event(
                payload,
                seq=self._record.next_seq,
                time=time,
                placement=placement,
                sources=sources,
            )
            self._record.add(event)
            self._writer.append(event.line())
        except RowError as error:
            self._spoiled = True
            raise LogRuleError(payload.TYPE, error.problem) from error
        except LogWriteError:
            self._spoiled = True
            raise
        return event

    def _close_interrupted(self) -> None:
        last = self._record.last()
        if last is None:
            return
        time = last.time if last.time is not None else self._clock.now_ms()
        for payload, sources in closing_events(self._record.lifecycle, self._record.next_seq):
            self._append(payload, time, None, sources)
        for withdrawal in self._record.inbox.withdrawals():
            self._append(withdrawal, time, None, ())
        last = self._record.last()
        if last is not None and not isinstance(last.payload, SessionEndSeed):
            self.append(SessionEndSeed())


def _let_go(writer: LogWriter | None, lock: int) -> None:
    if writer is not None:
        writer.close()
    os.close(lock)


def _refuse_existing(path: Path) -> None:
    if path.exists():
        raise LogWriteError(path, "a session of that id exists already")


def _read(path: Path) -> LogRead:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise LogWriteError(path, error.strerror or str(error)) from error
    read = read_log(data, path)
    last = read.record.last()
    if last is not None and last.time is None:
        raise LogDamagedError(path, 2, "its rows have no seq and time: it is a template")
    return read


def _take_lock(folder: Path, session_id: str) -> int:
    """Lock a session's folder; closing what this returns, or dying, lets go of it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise LogWriteError(folder / LOCK_NAME, error.strerror or str(error)) from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise LogLockedError(session_id) from None
    return lock
