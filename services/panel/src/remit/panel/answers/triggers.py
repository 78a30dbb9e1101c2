"""Triggers: what came, and what became of each (DSP-2)."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from remit.domain.decision import Decision, Outcome
from remit.domain.disposition import Disposition, DispositionKind
from remit.domain.model import Model
from remit.domain.trigger import Trigger
from remit.panel.answers.tickets import TicketLine, ticket_lines
from remit.panel.answers.timeline import Entry, in_time, mentions
from remit.panel.answers.unknown import Unknown
from remit.panel.readmodel.search import match_for
from remit.panel.readmodel.times import moment_of


class Fate(Model):
    """One Disposition as lists show it.

    Attributes:
        kind: Filtered, evaluated or fanned out.
        outcome: What the Decision said, where there was one.
        reason: Why.
        tickets: The Tickets that it opened, stopped or reached.
    """

    kind: DispositionKind
    outcome: Outcome | None = None
    reason: str
    tickets: tuple[str, ...] = ()


class TriggerLine(Model):
    """A Trigger in a list.

    Attributes:
        position: Its place in the Trigger stream; lists are paged by it.
        text: The beginning of what was written.
        dispositions: What became of it; empty while that is open.
    """

    position: int
    id: str
    source: str
    kind: str
    actor: str
    actor_name: str
    thread: str
    title: str | None = None
    text: str = ""
    occurred_at: datetime
    received_at: datetime
    trace_id: str | None = None
    dispositions: tuple[Fate, ...] = ()


class TriggerPage(Model):
    """Triggers, the last that came first.

    Attributes:
        items: The Triggers.
        before: Ask again with this for the ones before; None where there are none.
    """

    items: tuple[TriggerLine, ...]
    before: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggerFilter:
    """Which Triggers are wanted.

    Attributes:
        search: Words that title or text must hold.
        source: The Source instance.
        kind: What happened, in the Source's words.
        actor: The actor's id.
        thread: A Thread they belong to.
        disposition: How they ended.
        outcome: What their Decision said.
        settled: Only those that have a Disposition, or only those that have none.
        before: Only those before this position.
        limit: How many at most.
    """

    search: str | None = None
    source: str | None = None
    kind: str | None = None
    actor: str | None = None
    thread: str | None = None
    disposition: DispositionKind | None = None
    outcome: Outcome | None = None
    settled: bool | None = None
    before: int | None = None
    limit: int = 50


class DispositionAnswer(Model):
    """A Disposition with all that stands behind it.

    Attributes:
        disposition: The Disposition.
        line: It in one line: ``trigger: kind (reason) [decision, rules | tickets]``.
        decision: The Decision, with its gate records, rules and Mandate.
    """

    disposition: Disposition
    line: str
    decision: Decision | None = None


class TriggerAnswer(Model):
    """What became of a Trigger, and why (DSP-2).

    Attributes:
        trigger: The Trigger.
        stored_at: When it entered the domain.
        settled: It has a Disposition.
        dispositions: How it ended; more than one where it was fanned out and evaluated.
        tickets: The Tickets that it opened or reached.
        trace_id: Its trace, for the waterfall (DSP-1).
        timeline: What happened, from its arrival on.
    """

    trigger: Trigger
    stored_at: datetime
    settled: bool
    dispositions: tuple[DispositionAnswer, ...]
    tickets: tuple[TicketLine, ...]
    trace_id: str | None = None
    timeline: tuple[Entry, ...]


def triggers(wanted: TriggerFilter, db: sqlite3.Connection) -> TriggerPage:
    """Return a page of Triggers."""
    conditions: list[str] = []
    values: list[object] = []

    def where(condition: str, *given: object) -> None:
        conditions.append(condition)
        values.extend(given)

    for column, value in (
        ("source", wanted.source),
        ("kind", wanted.kind),
        ("actor", wanted.actor),
    ):
        if value is not None:
            where(f"triggers.{column} = ?", value)
    if wanted.search is not None:
        match = match_for(wanted.search)
        if match is None:
            return TriggerPage(items=())
        where(
            "triggers.position IN (SELECT rowid FROM trigger_search WHERE trigger_search MATCH ?)",
            match,
        )
    if wanted.thread is not None:
        where(
            "triggers.id IN (SELECT trigger FROM thread_triggers WHERE thread = ?)", wanted.thread
        )
    if wanted.disposition is not None:
        where(f"{_HAS_DISPOSITION} AND kind = ?)", wanted.disposition)
    if wanted.outcome is not None:
        where(f"{_HAS_DISPOSITION} AND outcome = ?)", wanted.outcome)
    if wanted.settled is not None:
        where("(triggers.id IN (SELECT trigger FROM unsettled)) = ?", not wanted.settled)
    if wanted.before is not None:
        where("triggers.position < ?", wanted.before)
    rows = db.execute(
        f"SELECT * FROM triggers WHERE {' AND '.join(conditions) or 'TRUE'} "  # noqa: S608
        "ORDER BY position DESC LIMIT ?",
        (*values, wanted.limit + 1),
    ).fetchall()
    shown = rows[: wanted.limit]
    more = shown[-1]["position"] if len(rows) > wanted.limit else None
    return TriggerPage(items=trigger_lines(db, shown), before=more)


_HAS_DISPOSITION = "EXISTS (SELECT 1 FROM dispositions WHERE trigger = triggers.id"


def trigger_lines(db: sqlite3.Connection, rows: Sequence[sqlite3.Row]) -> tuple[TriggerLine, ...]:
    """Return rows of the table of Triggers as lists show them."""
    fates: defaultdict[str, list[Fate]] = defaultdict(list)
    for _, disposition in dispositions_of(db, [row["id"] for row in rows]):
        fates[disposition.trigger].append(
            Fate(
                kind=disposition.kind,
                outcome=disposition.outcome,
                reason=disposition.reason,
                tickets=disposition.tickets,
            )
        )
    return tuple(
        TriggerLine(
            position=row["position"],
            id=row["id"],
            source=row["source"],
            kind=row["kind"],
            actor=row["actor"],
            actor_name=row["actor_name"],
            thread=row["home"],
            title=row["title"],
            text=row["excerpt"],
            occurred_at=moment_of(row["occurred_at"]),
            received_at=moment_of(row["received_at"]),
            trace_id=row["trace"],
            dispositions=tuple(fates[row["id"]]),
        )
        for row in rows
    )


def dispositions_of(
    db: sqlite3.Connection, triggers: Sequence[str]
) -> list[tuple[datetime, Disposition]]:
    """Return the Dispositions of Triggers, each with when it was recorded, in that order."""
    marks = ", ".join("?" * len(triggers))
    rows = db.execute(
        f"SELECT stored_at, document FROM dispositions WHERE trigger IN ({marks}) ORDER BY position",  # noqa: S608
        tuple(triggers),
    )
    return [
        (moment_of(row["stored_at"]), Disposition.model_validate_json(row["document"]))
        for row in rows
    ]


def is_settled(id: str, db: sqlite3.Connection) -> bool:
    """Say whether a Trigger is known and has a Disposition."""
    row = db.execute(
        "SELECT 1 FROM triggers WHERE id = ? "
        "AND EXISTS (SELECT 1 FROM dispositions WHERE trigger = triggers.id)",
        (id,),
    ).fetchone()
    return row is not None


def trigger(id: str, db: sqlite3.Connection) -> TriggerAnswer:
    """Return what became of a Trigger.

    Raises:
        Unknown: There is no such Trigger.
    """
    row = db.execute("SELECT * FROM triggers WHERE id = ?", (id,)).fetchone()
    if row is None:
        raise Unknown("Trigger", id)
    found = Trigger.model_validate_json(row["document"])
    dispositions = dispositions_of(db, [id])
    happened = mentions(db, id)
    tickets: set[str] = {
        ticket for _, disposition in dispositions for ticket in disposition.tickets
    }
    tickets |= {entry.ticket for entry in happened if entry.ticket and entry.what in _OF_A_TICKET}
    return TriggerAnswer(
        trigger=found,
        stored_at=moment_of(row["stored_at"]),
        settled=bool(dispositions),
        dispositions=tuple(_answer(db, disposition) for _, disposition in dispositions),
        tickets=ticket_lines(db, sorted(tickets)),
        trace_id=row["trace"],
        timeline=in_time(
            [arrival(found)],
            happened,
            (
                Entry(
                    at=recorded_at,
                    what="disposition_recorded",
                    trigger=id,
                    thread=disposition.thread,
                    text=disposition.reason,
                    detail=disposition.model_dump(mode="json"),
                )
                for recorded_at, disposition in dispositions
            ),
        ),
    )


_OF_A_TICKET = ("ticket_opened", "input_added")


def arrival(trigger: Trigger) -> Entry:
    """Return how a Trigger's coming is shown in a timeline."""
    return Entry(
        at=trigger.occurred_at,
        what="trigger_arrived",
        trigger=trigger.id,
        thread=trigger.home,
        text=trigger.text or trigger.title or "",
        detail={
            "source": trigger.source,
            "kind": trigger.kind,
            "actor": trigger.actor.model_dump(mode="json"),
            "addressing": trigger.addressing,
            "title": trigger.title,
            "url": trigger.url,
        },
    )


def audit_line(disposition: Disposition) -> str:
    """Return a Disposition by the grammar of audit lines (`remit.domain.disposition`)."""
    parts: list[str] = []
    if disposition.decision:
        parts.append(", ".join((disposition.decision, *disposition.rules)))
    if disposition.tickets:
        parts.append(", ".join(disposition.tickets))
    behind = f" [{' | '.join(parts)}]" if parts else ""
    return f"{disposition.trigger}: {disposition.kind} ({disposition.reason}){behind}"


def _answer(db: sqlite3.Connection, disposition: Disposition) -> DispositionAnswer:
    row = db.execute(
        "SELECT document FROM decisions WHERE id = ?", (disposition.decision,)
    ).fetchone()
    return DispositionAnswer(
        disposition=disposition,
        line=audit_line(disposition),
        decision=Decision.model_validate_json(row["document"]) if row else None,
    )
