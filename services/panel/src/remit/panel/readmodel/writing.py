"""Writing what messages mean: many messages, one transaction, positions included."""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from remit.bus.message import Delivery
from remit.panel.readmodel.rows import (
    ConsoleLineRow,
    DeadLetterRow,
    DecisionRow,
    DispositionRow,
    DropRow,
    MentionRow,
    MomentRow,
    PolicyRow,
    Projected,
    Row,
    ThreadRow,
    ThreadTriggerRow,
    TicketRow,
    TriggerRow,
    TriggerSearchRow,
    UnreadableRow,
)
from remit.panel.readmodel.times import hour_of, micros

_TABLES: dict[type[Row], str] = {
    TriggerRow: "triggers",
    TriggerSearchRow: "trigger_search",
    ThreadTriggerRow: "thread_triggers",
    DispositionRow: "dispositions",
    ThreadRow: "threads",
    TicketRow: "tickets",
    DecisionRow: "decisions",
    MomentRow: "moments",
    MentionRow: "mentions",
    PolicyRow: "policies",
    DropRow: "drops",
    DeadLetterRow: "dead_letters",
    ConsoleLineRow: "console_lines",
    UnreadableRow: "unreadable",
}


def _statement(kind: type[Row], table: str) -> str:
    columns = ", ".join(kind._fields)
    values = ", ".join("?" * len(kind._fields))
    if kind is TriggerSearchRow:
        return f"INSERT INTO {table} ({columns}) VALUES ({values})"  # noqa: S608 - names of ours
    if kind is TicketRow:
        # A Ticket keeps the number that it is found by.
        changes = ", ".join(f"{name} = excluded.{name}" for name in kind._fields[1:])
        return (
            f"INSERT INTO {table} ({columns}) VALUES ({values}) "  # noqa: S608 - names of ours
            f"ON CONFLICT (id) DO UPDATE SET {changes}"
        )
    return f"INSERT OR REPLACE INTO {table} ({columns}) VALUES ({values})"  # noqa: S608


_STATEMENTS = {kind: _statement(kind, table) for kind, table in _TABLES.items()}
_ONE_EACH = (ThreadRow, TicketRow)
"""Aggregates are written whole with each commit; of several in one batch only the last counts."""


@dataclass(frozen=True, slots=True)
class Step:
    """One message and what it means."""

    delivery: Delivery
    projected: Projected


def store(db: sqlite3.Connection, steps: Sequence[Step]) -> None:
    """Write what ``steps`` mean, and that their streams were read so far."""
    rows: defaultdict[type[Row], list[Row]] = defaultdict(list)
    whole: dict[tuple[type[Row], str], Row] = {}
    for step in steps:
        for row in step.projected.rows:
            if isinstance(row, _ONE_EACH):
                whole[type(row), row[0]] = row
            else:
                rows[type(row)].append(row)
    for (kind, _), row in whole.items():
        rows[kind].append(row)
    for kind, written in rows.items():
        db.executemany(_STATEMENTS[kind], written)
    _count(db, steps)
    _move_on(db, (step.delivery for step in steps))


def _count(db: sqlite3.Connection, steps: Sequence[Step]) -> None:
    counts = Counter(
        (tally.what, tally.key, hour_of(tally.at))
        for step in steps
        for tally in step.projected.tallies
    )
    db.executemany(
        "INSERT INTO tallies (what, key, hour, count) VALUES (?, ?, ?, ?) "
        "ON CONFLICT DO UPDATE SET count = count + excluded.count",
        [(*key, count) for key, count in counts.items()],
    )


def _move_on(db: sqlite3.Connection, deliveries: Iterable[Delivery]) -> None:
    last = {delivery.stream: delivery for delivery in deliveries}
    db.executemany(
        "INSERT OR REPLACE INTO positions (stream, position, message, stored_at) VALUES (?, ?, ?, ?)",
        [
            (stream, delivery.sequence, delivery.message.id, micros(delivery.stored_at))
            for stream, delivery in last.items()
        ],
    )
