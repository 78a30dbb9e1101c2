"""All sessions that one home holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from remit.harness.clock import Clock
from remit.harness.log.errors import RowError, SessionNotFoundError
from remit.harness.log.event import read_header
from remit.harness.log.json_text import decode
from remit.harness.log.payloads import Header
from remit.harness.log.place import LOG_NAME, session_folder, sessions_folder
from remit.harness.log.session_log import SessionLog

_TITLE_PREFIX = b'{"type":"session/title"'


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One recorded session, as a list shows it.

    Attributes:
        session_id: Its id.
        cwd: Its directory.
        title: What it is about, where something was asked of it.
        updated_at: When its log last grew, in seconds since the epoch.
    """

    session_id: str
    cwd: str
    title: str | None
    updated_at: float


class SessionStore:
    """Makes, finds and lists session logs under one home."""

    def __init__(self, home: Path, clock: Clock) -> None:
        self._home = home
        self._clock = clock

    def create(self, session_id: str, cwd: str) -> SessionLog:
        """Start the log of a new session.

        Raises:
            LogError: The log cannot be made; the error says why.
        """
        header = Header(
            id=session_id,
            created_at=self._clock.now_ms(),
            cwd=cwd,
            is_seeded=False,
            delegation_depth=0,
        )
        return SessionLog.create(session_folder(self._home, cwd, session_id), header, self._clock)

    def resume(self, session_id: str, cwd: str) -> SessionLog:
        """Go on with a recorded session of that very directory.

        Raises:
            SessionNotFoundError: There is none.
            LogError: There is one and it cannot be resumed; the error says why.
        """
        folder = session_folder(self._home, cwd, session_id)
        if not (folder / LOG_NAME).is_file():
            raise SessionNotFoundError(session_id, cwd)
        log = SessionLog.resume(folder, session_id, self._clock)
        header = log.record.header
        if (header.id, header.cwd) != (session_id, cwd):
            log.close()
            raise SessionNotFoundError(session_id, cwd)
        return log

    def list(self, cwd: str | None = None) -> list[SessionSummary]:
        """The recorded sessions, the latest first; files that are no logs are passed over.

        Args:
            cwd: Only the sessions of this directory.
        """
        summaries = [summary for path in self._logs() if (summary := _summarise(path)) is not None]
        return sorted(
            (summary for summary in summaries if cwd in (None, summary.cwd)),
            key=lambda summary: (-summary.updated_at, summary.session_id),
        )

    def _logs(self) -> Iterator[Path]:
        return sessions_folder(self._home).glob(f"*/*/{LOG_NAME}")


def _summarise(path: Path) -> SessionSummary | None:
    title: str | None = None
    try:
        with path.open("rb") as lines:
            header = read_header(next(lines, b"").decode())[0]
            for line in lines:
                if line.startswith(_TITLE_PREFIX):
                    title = _title(line) or title
            updated_at = path.stat().st_mtime
    except (OSError, RowError, UnicodeDecodeError):
        return None
    if header.cwd is None:
        return None
    return SessionSummary(header.id, header.cwd, title, updated_at)


def _title(line: bytes) -> str | None:
    try:
        row = decode(line.decode())
    except ValueError:
        return None
    title = row["data"].get("title") if isinstance(row.get("data"), dict) else None
    return title if isinstance(title, str) else None
