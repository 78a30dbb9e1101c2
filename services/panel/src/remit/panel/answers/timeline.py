"""Timelines: what happened to a Thread or a Ticket, from the events of its commits."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from remit.domain.model import Model
from remit.panel.readmodel.times import moment_of

MOST = 1000
"""Entries of a timeline, the last ones."""


class Entry(Model):
    """One thing that happened.

    Attributes:
        at: When.
        what: The event's name, such as ``eval_started``; ``trigger_arrived`` and
            ``disposition_recorded`` stand for those two, which are no events of an aggregate.
        trigger: The Trigger it is about, where it is about one.
        thread: The Thread it happened to.
        ticket: The Ticket it happened to, or that came of it.
        text: What was said, asked, written, or given as the reason.
        detail: The event as it was recorded.
    """

    at: datetime
    what: str
    trigger: str | None = None
    thread: str | None = None
    ticket: str | None = None
    text: str = ""
    detail: Mapping[str, JsonValue] = {}


_TEXT: Mapping[str, tuple[str, ...]] = {
    "eval_discarded": ("reason",),
    "decision_recorded": ("reason",),
    "ticket_subscribed": ("subscription", "title"),
    "ticket_opened": ("title",),
    "ticket_stopped": ("reason",),
    "assignment_started": ("host",),
    "assignment_taken_over": ("host",),
    "report_taken": ("report", "text"),
    "attention_opened": ("attention", "question"),
    "write_requested": ("write", "body"),
    "write_settled": ("receipt", "reason"),
    "thread_joined": ("thread", "key"),
}
"""Where an event holds the words that say most about it."""
_TRIGGER: Mapping[str, tuple[str, ...]] = {
    "trigger_appended": ("ref", "id"),
    "trigger_returned": ("ref", "id"),
    "delivery_settled": ("ref", "id"),
    "ticket_opened": ("mandate", "trigger"),
    "input_added": ("ref", "trigger"),
    "input_refused": ("ref", "id"),
}
_TICKET: Mapping[str, tuple[str, ...]] = {
    "decision_recorded": ("ticket",),
    "delivery_settled": ("ticket",),
    "ticket_subscribed": ("subscription", "ticket"),
    "standing_noted": ("ticket",),
    "subscription_dropped": ("ticket",),
}


def history(db: sqlite3.Connection, aggregate: str, key: str, most: int = MOST) -> list[Entry]:
    """Return what happened to a Thread or a Ticket, oldest first, the last ``most`` of it."""
    rows = db.execute(
        "SELECT * FROM moments WHERE aggregate = ? AND key = ? "
        "ORDER BY position DESC, number DESC LIMIT ?",
        (aggregate, key, most),
    ).fetchall()
    return entries(db, rows[::-1])


def mentions(db: sqlite3.Connection, trigger: str, most: int = MOST) -> list[Entry]:
    """Return what happened to Threads and Tickets that was about a Trigger, oldest first."""
    rows = db.execute(
        "SELECT moments.* FROM mentions JOIN moments USING (aggregate, key, position, number) "
        "WHERE mentions.trigger = ? ORDER BY moments.at, moments.number LIMIT ?",
        (trigger, most),
    ).fetchall()
    return entries(db, rows)


def entries(db: sqlite3.Connection, rows: Sequence[sqlite3.Row]) -> list[Entry]:
    """Return moments as a timeline shows them."""
    details = [json.loads(row["document"]) for row in rows]
    decided = _decided(db, [one["decision"] for one in details if "decision" in one])
    return [
        _entry(row, decided.get(detail.get("decision"), {}) | detail)
        for row, detail in zip(rows, details, strict=True)
    ]


def in_time(*several: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return several timelines as one, what came first first."""
    return tuple(sorted((one for entries in several for one in entries), key=lambda one: one.at))


def _entry(row: sqlite3.Row, detail: dict[str, Any]) -> Entry:
    what = row["event"]
    on_thread = row["aggregate"] == "thread"
    return Entry(
        at=moment_of(row["at"]),
        what=what,
        trigger=_at(detail, _TRIGGER.get(what)),
        thread=row["key"] if on_thread else None,
        ticket=_at(detail, _TICKET.get(what)) if on_thread else row["key"],
        text=_at(detail, _TEXT.get(what)) or "",
        detail={name: value for name, value in detail.items() if name != "event"},
    )


def _decided(db: sqlite3.Connection, ids: Iterable[object]) -> dict[Any, dict[str, Any]]:
    """What a timeline says of Decisions, which are kept apart from the events that took them."""
    found: dict[Any, dict[str, Any]] = {}
    for id in {one for one in ids if isinstance(one, str)}:
        row = db.execute("SELECT document FROM decisions WHERE id = ?", (id,)).fetchone()
        if row is not None:
            decision = json.loads(row["document"])
            kept = ("outcome", "reason", "rules", "decided_by", "triggers", "observed", "stops")
            found[id] = {name: decision[name] for name in kept}
    return found


def _at(detail: Mapping[str, Any], path: tuple[str, ...] | None) -> str | None:
    value: Any = detail
    for name in path or ("",):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, str) else None
