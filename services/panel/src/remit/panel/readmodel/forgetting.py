"""Letting go of what the streams have let go of, so that the read model never outgrows them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from functools import partial

from remit.bus.errors import NotAnEvent
from remit.bus.ports import Reader
from remit.panel.database import Database
from remit.panel.readmodel.projections import Projection
from remit.panel.readmodel.search import searchable

_TABLES: Mapping[str, str] = {
    "TRIGGER": "triggers",
    "DISPOSITION": "dispositions",
    "DROP": "drops",
    "DEADLETTER": "dead_letters",
    "CONSOLE": "console_lines",
}
"""The streams that forget with age, and where their messages are kept."""

_AT_ONCE = 500
_TALLIED_HOURS = 24 * 8


async def forget(
    bus: Reader, database: Database, projections: tuple[Projection, ...], hour: int
) -> int:
    """Remove what lies before the first message of each stream; return how many rows went.

    Args:
        bus: The streams.
        database: The read model.
        projections: What it follows.
        hour: The hour it is now; counts are kept for eight days.
    """
    gone = 0
    for projection in projections:
        table = _TABLES.get(projection.stream)
        if table is None:
            continue
        try:
            first = await bus.next(projection.stream, projection.subject, after=0)
        except NotAnEvent:
            continue
        if first is None:
            continue
        before = first.sequence
        while removed := await database.write(partial(_remove, table, before)):
            gone += removed
    await database.write(
        lambda db: db.execute("DELETE FROM tallies WHERE hour < ?", (hour - _TALLIED_HOURS,))
    )
    return gone


def _remove(table: str, before: int, db: sqlite3.Connection) -> int:
    found = db.execute(
        f"SELECT * FROM {table} WHERE position < ? ORDER BY position LIMIT ?",  # noqa: S608 - ours
        (before, _AT_ONCE),
    ).fetchall()
    if table == "triggers":
        for row in found:
            _remove_trigger(db, row)
    db.executemany(
        f"DELETE FROM {table} WHERE position = ?",  # noqa: S608 - a name of ours
        [(row["position"],) for row in found],
    )
    return len(found)


def _remove_trigger(db: sqlite3.Connection, row: sqlite3.Row) -> None:
    document = json.loads(row["document"])
    db.execute(
        "INSERT INTO trigger_search (trigger_search, rowid, title, text) "
        "VALUES ('delete', ?, ?, ?)",
        (row["position"], searchable(document.get("title")), searchable(document.get("text"))),
    )
    db.executemany(
        "DELETE FROM thread_triggers WHERE thread = ? AND occurred_at = ? AND trigger = ?",
        [(thread, row["occurred_at"], row["id"]) for thread in document["threads"]],
    )
    db.execute("DELETE FROM unsettled WHERE trigger = ?", (row["id"],))
