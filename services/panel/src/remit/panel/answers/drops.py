"""Drops: events that became no Trigger, by Source and reason (SRC-4)."""

from __future__ import annotations

import sqlite3

from remit.domain.messages import EventDropped
from remit.domain.model import Model


class DropCount(Model):
    """How many events a Source dropped for one reason, of those the stream keeps."""

    source: str
    reason: str
    count: int


class DropLine(EventDropped):
    """A dropped event.

    Attributes:
        position: Its place in the stream of drops.
    """

    position: int


class DropPage(Model):
    """Dropped events, the last first.

    Attributes:
        counts: All of them, by Source and reason.
        items: The events.
        before: Ask again with this for the ones before; None where there are none.
    """

    counts: tuple[DropCount, ...]
    items: tuple[DropLine, ...]
    before: int | None = None


def drops(
    db: sqlite3.Connection,
    *,
    source: str | None = None,
    reason: str | None = None,
    limit: int = 50,
    before: int | None = None,
) -> DropPage:
    """Return a page of dropped events, of one Source or for one reason where asked."""
    conditions = ["position < ?"]
    values: list[object] = [before if before is not None else 2**62]
    for column, value in (("source", source), ("reason", reason)):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    rows = db.execute(
        f"SELECT * FROM drops WHERE {' AND '.join(conditions)} "  # noqa: S608 - names of ours
        "ORDER BY position DESC LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    shown = rows[:limit]
    return DropPage(
        counts=drop_counts(db),
        items=tuple(
            DropLine(
                position=row["position"],
                **EventDropped.model_validate_json(row["document"]).model_dump(),
            )
            for row in shown
        ),
        before=shown[-1]["position"] if len(rows) > limit else None,
    )


def drop_counts(db: sqlite3.Connection) -> tuple[DropCount, ...]:
    """Return how many events were dropped, by Source and reason, the most first."""
    rows = db.execute(
        "SELECT source, reason, count(*) AS count FROM drops GROUP BY source, reason "
        "ORDER BY count DESC, source, reason"
    )
    return tuple(DropCount(**row) for row in rows)
