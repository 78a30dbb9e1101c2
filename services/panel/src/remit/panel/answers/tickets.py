"""Tickets: where each stands, and what was done for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from remit.domain.attention import Attention
from remit.domain.channel import Address
from remit.domain.decision import Decision
from remit.domain.language import Language
from remit.domain.mandate import Mandate
from remit.domain.model import Model
from remit.domain.report import Report
from remit.domain.subscription import Standing
from remit.domain.ticket import Stage, Ticket, TicketStatus, TicketThread
from remit.panel.answers.ticket_history import (
    AssignmentAnswer,
    AttentionAnswer,
    InputAnswer,
    WriteAnswer,
    ticket_history,
)
from remit.panel.answers.timeline import Entry, entries
from remit.panel.answers.unknown import Unknown
from remit.panel.readmodel.search import match_for
from remit.panel.readmodel.times import moment_of

MOST_MOMENTS = 5000
"""Events of one Ticket that are looked at, the last ones."""


class TicketLine(Model):
    """A Ticket in a list.

    Attributes:
        stage: Where it stands (TKT-5); None once it ended.
        stopped: A person stopped it.
        question: What waits for a person's answer.
        host: The Executor instance that has its directory, or had it last.
    """

    id: str
    title: str
    status: TicketStatus
    stage: Stage | None = None
    stopped: bool = False
    source: str
    thread: str
    asked_by: str
    question: str | None = None
    host: str | None = None
    opened_at: datetime
    changed_at: datetime
    trace_id: str | None = None


class TicketPage(Model):
    """Tickets, the last changed first.

    Attributes:
        items: The Tickets.
        before: Ask again with this for the ones before; None where there are none.
    """

    items: tuple[TicketLine, ...]
    before: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketFilter:
    """Which Tickets are wanted.

    Attributes:
        search: Words that the title must hold.
        status: Open or ended.
        stage: Where they stand.
        source: The Source instance of the request.
        before: Only those whose last change lies before this place in the Ticket stream.
        limit: How many at most.
    """

    search: str | None = None
    status: TicketStatus | None = None
    stage: Stage | None = None
    source: str | None = None
    before: int | None = None
    limit: int = 50


class TicketAnswer(Model):
    """A Ticket with its history.

    Attributes:
        stage: Where it stands (TKT-5); None once it ended.
        standing: What its Threads know of it.
        mandate: What it may do, and why.
        decision: The Decision that opened it.
        threads: Its Threads; the first is where it started.
        channels: Where it answers.
        attention: The open question.
        inputs: What its Executor is to read, in order.
        assignments: The Executor instances it was bound to.
        reports: What they reported.
        attentions: The questions that were asked.
        writes: What was written, with receipts and URLs.
        host: The Executor instance that has its directory, or had it last.
        trace_id: The trace of the Trigger that asked.
        timeline: All that happened, oldest first.
    """

    id: str
    title: str
    language: Language
    status: TicketStatus
    stage: Stage | None = None
    standing: Standing
    mandate: Mandate
    decision: Decision | None = None
    threads: tuple[TicketThread, ...]
    channels: tuple[Address, ...]
    attention: Attention | None = None
    inputs: tuple[InputAnswer, ...] = ()
    assignments: tuple[AssignmentAnswer, ...] = ()
    reports: tuple[Report, ...] = ()
    attentions: tuple[AttentionAnswer, ...] = ()
    writes: tuple[WriteAnswer, ...] = ()
    host: str | None = None
    trace_id: str | None = None
    opened_at: datetime
    changed_at: datetime
    timeline: tuple[Entry, ...] = ()


def tickets(wanted: TicketFilter, db: sqlite3.Connection) -> TicketPage:
    """Return a page of Tickets."""
    conditions: list[str] = []
    values: list[object] = []
    for column, value in (
        ("status", wanted.status),
        ("stage", wanted.stage),
        ("source", wanted.source),
    ):
        if value is not None:
            conditions.append(f"{column} = ?")
            values.append(value)
    if wanted.search is not None:
        match = match_for(wanted.search)
        if match is None:
            return TicketPage(items=())
        conditions.append("number IN (SELECT rowid FROM ticket_search WHERE ticket_search MATCH ?)")
        values.append(match)
    if wanted.before is not None:
        conditions.append("position < ?")
        values.append(wanted.before)
    rows = db.execute(
        f"SELECT * FROM tickets WHERE {' AND '.join(conditions) or 'TRUE'} "  # noqa: S608
        "ORDER BY position DESC LIMIT ?",
        (*values, wanted.limit + 1),
    ).fetchall()
    shown = rows[: wanted.limit]
    more = shown[-1]["position"] if len(rows) > wanted.limit else None
    return TicketPage(items=tuple(ticket_line(row) for row in shown), before=more)


def ticket_lines(db: sqlite3.Connection, ids: Sequence[str]) -> tuple[TicketLine, ...]:
    """Return the Tickets of those ids that are known."""
    marks = ", ".join("?" * len(ids))
    rows = db.execute(
        f"SELECT * FROM tickets WHERE id IN ({marks}) ORDER BY number",  # noqa: S608
        tuple(ids),
    )
    return tuple(ticket_line(row) for row in rows)


def ticket_line(row: sqlite3.Row) -> TicketLine:
    """Return a row of the table of Tickets as lists show it."""
    state = Ticket.model_validate_json(row["document"])
    return TicketLine(
        id=state.id,
        title=state.title,
        status=state.status,
        stage=state.stage,
        stopped=state.stopped,
        source=state.mandate.source,
        thread=state.home,
        asked_by=state.mandate.actor.name,
        question=state.attention.question if state.attention else None,
        host=state.assignment.host if state.assignment else None,
        opened_at=moment_of(row["opened_at"]),
        changed_at=moment_of(row["at"]),
        trace_id=trace_id(state.trace),
    )


def trace_id(traceparent: str | None) -> str | None:
    """Return the trace id in a ``traceparent``."""
    parts = (traceparent or "").split("-")
    return parts[1] if len(parts) >= 4 and len(parts[1]) == 32 else None


def ticket(id: str, db: sqlite3.Connection) -> TicketAnswer:
    """Return a Ticket with its history.

    Raises:
        Unknown: There is no such Ticket.
    """
    row = db.execute("SELECT * FROM tickets WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise Unknown("Ticket", id)
    state = Ticket.model_validate_json(row["document"])
    decided = db.execute(
        "SELECT document FROM decisions WHERE id = ?", (state.decision,)
    ).fetchone()
    moments = db.execute(
        "SELECT * FROM (SELECT * FROM moments WHERE aggregate = 'ticket' AND key = ? "
        "ORDER BY position DESC, number DESC LIMIT ?) ORDER BY position, number",
        (id, MOST_MOMENTS),
    ).fetchall()
    history = ticket_history(moments)
    return TicketAnswer(
        id=state.id,
        title=state.title,
        language=state.language,
        status=state.status,
        stage=state.stage,
        standing=state.standing,
        mandate=state.mandate,
        decision=Decision.model_validate_json(decided["document"]) if decided else None,
        threads=state.threads,
        channels=state.channels,
        attention=state.attention,
        inputs=tuple(history.inputs.values()),
        assignments=tuple(history.assignments.values()),
        reports=tuple(history.reports),
        attentions=tuple(history.attentions),
        writes=tuple(history.writes.values()),
        host=history.host,
        trace_id=trace_id(state.trace),
        opened_at=moment_of(row["opened_at"]),
        changed_at=moment_of(row["at"]),
        timeline=tuple(entries(db, moments)),
    )
