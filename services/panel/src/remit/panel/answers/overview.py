"""The overview: does anything need a person, and is the system healthy."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime, timedelta

from remit.domain.model import Model
from remit.domain.ticket import Stage
from remit.panel.answers.dead_letters import DeadLetterAnswer, dead_letters
from remit.panel.answers.drops import DropCount
from remit.panel.answers.tickets import TicketLine, ticket_line
from remit.panel.answers.triggers import TriggerLine, trigger_lines
from remit.panel.readmodel.times import hour_of, micros, moment_of

SHOWN = 20
"""Of each kind of thing that needs a person, how many are listed."""
WINDOW_HOURS = 24


class StreamPlace(Model):
    """How far a stream was read.

    Attributes:
        stream: The stream.
        position: The last message that was applied.
        at: When that message was stored.
        behind: How much of what was there when the panel started is still to be read.
    """

    stream: str
    position: int
    at: datetime
    behind: int = 0


class UnreadableMessage(Model):
    """A message that the panel could not read and passed over."""

    stream: str
    position: int
    subject: str
    problem: str
    at: datetime


class NeedsPerson(Model):
    """What waits for a person; each list holds the first few, each count all.

    Attributes:
        questions: Tickets with an open Attention, the oldest question first.
        reviews: Tickets whose result waits for a review.
        stuck: Tickets whose Executor is blocked or failed.
        dead_letters: What was given up on in the last 24 hours.
        unsettled: Triggers that should have a Disposition by now, the oldest first.
        unreadable: Messages that the panel could not read.
        counts: How many there are of each, by the names above.
    """

    questions: tuple[TicketLine, ...]
    reviews: tuple[TicketLine, ...]
    stuck: tuple[TicketLine, ...]
    dead_letters: tuple[DeadLetterAnswer, ...]
    unsettled: tuple[TriggerLine, ...]
    unreadable: tuple[UnreadableMessage, ...]
    counts: Mapping[str, int]

    @property
    def nothing(self) -> bool:
        """Nobody is needed."""
        return not any(self.counts.values())


class Overview(Model):
    """Everything at a glance.

    Attributes:
        needs_person: What waits for a person.
        open_tickets: Open Tickets by stage.
        triggers: Triggers of the last 24 hours, by Source.
        dispositions: Dispositions of the last 24 hours, by kind.
        decisions: Decisions of the last 24 hours, by outcome.
        drops: Dropped events of the last 24 hours, by Source and reason.
        following: How far each stream was read.
        reading_up: The panel is still reading what was there when it started.
    """

    needs_person: NeedsPerson
    open_tickets: Mapping[str, int]
    triggers: Mapping[str, int]
    dispositions: Mapping[str, int]
    decisions: Mapping[str, int]
    drops: tuple[DropCount, ...]
    following: tuple[StreamPlace, ...]
    reading_up: bool = False


def overview(
    db: sqlite3.Connection,
    *,
    now: datetime,
    unsettled_after: timedelta,
    behind: Mapping[str, int],
) -> Overview:
    """Return the overview.

    Args:
        db: The read model.
        now: The time it is.
        unsettled_after: How long a Trigger may be without a Disposition.
        behind: By stream, how much of what was there at the start is still to be read.
    """
    since = hour_of(now) - WINDOW_HOURS + 1
    return Overview(
        needs_person=_needs_person(db, now, unsettled_after),
        open_tickets=_by(
            db, "SELECT stage, count(*) FROM tickets WHERE status = 'open' GROUP BY stage"
        ),
        triggers=_tallied(db, "trigger", since),
        dispositions=_tallied(db, "disposition", since),
        decisions=_tallied(db, "decision", since),
        drops=_drops(_tallied(db, "drop", since)),
        following=tuple(
            StreamPlace(
                stream=row["stream"],
                position=row["position"],
                at=moment_of(row["stored_at"]),
                behind=behind.get(row["stream"], 0),
            )
            for row in db.execute("SELECT * FROM positions ORDER BY stream")
        ),
        reading_up=bool(behind),
    )


def _needs_person(db: sqlite3.Connection, now: datetime, unsettled_after: timedelta) -> NeedsPerson:
    yesterday = micros(now - timedelta(hours=WINDOW_HOURS))
    overdue = micros(now - unsettled_after)
    return NeedsPerson(
        questions=tuple(
            ticket_line(row)
            for row in db.execute(
                "SELECT * FROM tickets WHERE asked_at IS NOT NULL ORDER BY asked_at LIMIT ?",
                (SHOWN,),
            )
        ),
        reviews=_in_stage(db, Stage.AWAITING_REVIEW),
        stuck=_in_stage(db, Stage.STUCK),
        dead_letters=dead_letters(db, limit=SHOWN, since=yesterday).items,
        unsettled=trigger_lines(
            db,
            db.execute(
                "SELECT triggers.* FROM unsettled JOIN triggers ON triggers.id = unsettled.trigger "
                "WHERE unsettled.stored_at < ? ORDER BY unsettled.stored_at LIMIT ?",
                (overdue, SHOWN),
            ).fetchall(),
        ),
        unreadable=tuple(
            UnreadableMessage(
                stream=row["stream"],
                position=row["position"],
                subject=row["subject"],
                problem=row["problem"],
                at=moment_of(row["stored_at"]),
            )
            for row in db.execute(
                "SELECT * FROM unreadable ORDER BY stored_at DESC LIMIT ?", (SHOWN,)
            )
        ),
        counts={
            "questions": _count(db, "tickets WHERE asked_at IS NOT NULL"),
            "reviews": _count(db, "tickets WHERE stage = ?", Stage.AWAITING_REVIEW),
            "stuck": _count(db, "tickets WHERE stage = ?", Stage.STUCK),
            "dead_letters": _count(db, "dead_letters WHERE at >= ?", yesterday),
            "unsettled": _count(db, "unsettled WHERE stored_at < ?", overdue),
            "unreadable": _count(db, "unreadable"),
        },
    )


def _in_stage(db: sqlite3.Connection, stage: Stage) -> tuple[TicketLine, ...]:
    rows = db.execute("SELECT * FROM tickets WHERE stage = ? ORDER BY at LIMIT ?", (stage, SHOWN))
    return tuple(ticket_line(row) for row in rows)


def _count(db: sqlite3.Connection, what: str, *values: object) -> int:
    found: int = db.execute(f"SELECT count(*) FROM {what}", values).fetchone()[0]  # noqa: S608
    return found


def _tallied(db: sqlite3.Connection, what: str, since: int) -> dict[str, int]:
    return _by(
        db,
        "SELECT key, sum(count) FROM tallies WHERE what = ? AND hour >= ? GROUP BY key "
        "ORDER BY sum(count) DESC, key",
        what,
        since,
    )


def _by(db: sqlite3.Connection, query: str, *values: object) -> dict[str, int]:
    return {row[0]: row[1] for row in db.execute(query, values)}


def _drops(tallied: Mapping[str, int]) -> tuple[DropCount, ...]:
    counts = []
    for key, count in tallied.items():
        reason, _, source = key.partition("@")
        counts.append(DropCount(source=source, reason=reason, count=count))
    return tuple(counts)
