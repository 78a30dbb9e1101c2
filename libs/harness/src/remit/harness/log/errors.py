"""What can be wrong with a session log."""

from __future__ import annotations

from pathlib import Path

from remit.harness.errors import HarnessError


class LogError(HarnessError):
    """The root of everything that is wrong with a session log."""


class RowError(LogError):
    """One row is not what the format says.

    Attributes:
        problem: What is wrong, in words.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class LogRuleError(LogError):
    """The harness tried to append a row that the format's rules refuse; nothing was written.

    Attributes:
        event_type: The type of the refused row.
        problem: Which rule it breaks.
    """

    def __init__(self, event_type: str, problem: str) -> None:
        super().__init__(f"refused to append {event_type}: {problem}")
        self.event_type = event_type
        self.problem = problem


class LogDamagedError(LogError):
    """A log cannot be trusted from some line on (LOG-3).

    Attributes:
        path: The file, or None for a log that came from memory.
        line: The number of the line, counted from 1.
        problem: What is wrong with it.
    """

    def __init__(self, path: Path | None, line: int, problem: str) -> None:
        super().__init__(
            f"{path or 'session log'}, line {line}: {problem}. "
            "The session cannot be resumed; restore the file from a copy or start a new session."
        )
        self.path = path
        self.line = line
        self.problem = problem


class LogLockedError(LogError):
    """Another process holds the session.

    Attributes:
        session_id: The session.
    """

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"session {session_id} is open in another process; close it there, then try again"
        )
        self.session_id = session_id


class LogWriteError(LogError):
    """A row could not be written in full; the log ends at the last whole row.

    Attributes:
        path: The file.
        reason: What the system said.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: could not write to the session log: {reason}")
        self.path = path
        self.reason = reason


class SessionNotFoundError(LogError):
    """No log of that id exists for that directory.

    Attributes:
        session_id: The session that was asked for.
        cwd: The directory it was looked for under.
    """

    def __init__(self, session_id: str, cwd: str) -> None:
        super().__init__(f"no session {session_id} was recorded for the directory {cwd}")
        self.session_id = session_id
        self.cwd = cwd
