"""Dead letters: what was given up on, and why."""

from __future__ import annotations

import sqlite3
from datetime import datetime

from remit.domain.model import Model
from remit.panel.readmodel.times import moment_of


class DeadLetterAnswer(Model):
    """A message that was given up on.

    Attributes:
        position: Its place among the dead letters.
        stream: The stream it was in.
        subject: Its subject there.
        message: Its id.
        reason: Why it was given up on.
        at: When.
        trace_id: The trace it was on.
        body: The beginning of what it held.
    """

    position: int
    stream: str
    subject: str
    message: str
    reason: str
    at: datetime
    trace_id: str | None = None
    body: str


class DeadLetterPage(Model):
    """Dead letters, the last first.

    Attributes:
        items: The dead letters.
        before: Ask again with this for the ones before; None where there are none.
    """

    items: tuple[DeadLetterAnswer, ...]
    before: int | None = None


def dead_letters(
    db: sqlite3.Connection, *, limit: int = 50, before: int | None = None, since: int = 0
) -> DeadLetterPage:
    """Return a page of dead letters.

    Args:
        db: The read model.
        limit: How many at most.
        before: Only those before this position.
        since: Only those from this time on, in microseconds.
    """
    rows = db.execute(
        "SELECT * FROM dead_letters WHERE position < ? AND at >= ? ORDER BY position DESC LIMIT ?",
        (before if before is not None else 2**62, since, limit + 1),
    ).fetchall()
    shown = rows[:limit]
    return DeadLetterPage(
        items=tuple(
            DeadLetterAnswer(
                position=row["position"],
                stream=row["stream"],
                subject=row["subject"],
                message=row["message"],
                reason=row["reason"],
                at=moment_of(row["at"]),
                trace_id=row["trace"],
                body=row["document"],
            )
            for row in shown
        ),
        before=shown[-1]["position"] if len(rows) > limit else None,
    )
