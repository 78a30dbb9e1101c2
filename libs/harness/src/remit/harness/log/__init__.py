"""The session log: append-only JSONL, format version 4 (LOG-1 to LOG-5).

`SessionStore` makes, finds and resumes logs; `SessionLog` appends to one; `read_log` reads one
without touching it; `conversation` turns it into what the model reads next.
"""

from __future__ import annotations

from remit.harness.log.errors import (
    LogDamagedError,
    LogError,
    LogLockedError,
    LogRuleError,
    LogWriteError,
    RowError,
    SessionNotFoundError,
)
from remit.harness.log.event import Event, Replace
from remit.harness.log.reader import LogRead, read_log
from remit.harness.log.record import Record
from remit.harness.log.replay import Conversation, conversation
from remit.harness.log.session_log import SessionLog
from remit.harness.log.store import SessionStore, SessionSummary
from remit.harness.log.stream import TimedChunk, compact, expand

__all__ = [
    "Conversation",
    "Event",
    "LogDamagedError",
    "LogError",
    "LogLockedError",
    "LogRead",
    "LogRuleError",
    "LogWriteError",
    "Record",
    "Replace",
    "RowError",
    "SessionLog",
    "SessionNotFoundError",
    "SessionStore",
    "SessionSummary",
    "TimedChunk",
    "compact",
    "conversation",
    "expand",
    "read_log",
]
