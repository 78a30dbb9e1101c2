"""Threads: their Triggers, Evals, Decisions and Subscriptions, in one timeline."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from remit.domain.decision import Decision, Outcome
from remit.domain.model import Model
from remit.domain.subscription import Subscription
from remit.domain.thread import Thread
from remit.domain.trigger import Trigger
from remit.panel.answers.tickets import TicketLine, ticket_lines
from remit.panel.answers.timeline import Entry, history, in_time
from remit.panel.answers.triggers import TriggerLine, arrival, trigger_lines
from remit.panel.answers.unknown import Unknown
from remit.panel.readmodel.times import micros


class EvalAnswer(Model):
    """An Eval of a Thread.

    Attributes:
        id: Its id.
        triggers: What it judged.
        started_at: When it was asked for.
        state: It runs, came to a Decision, or was discarded and asked again.
        ended_at: When it ended.
        outcome: What the Decision said.
        decision: The Decision.
        reason: The Decision's reason, or why it was discarded.
    """

    id: str
    triggers: tuple[str, ...]
    started_at: datetime
    state: Literal["running", "decided", "discarded"] = "running"
    ended_at: datetime | None = None
    outcome: Outcome | None = None
    decision: str | None = None
    reason: str = ""


class ThreadAnswer(Model):
    """A Thread with its history.

    Attributes:
        key: Its key.
        triggers: Its Triggers in time order (THR-1), the last ones.
        evals: Its Evals, oldest first.
        decisions: Its Decisions, oldest first.
        subscriptions: The Tickets on it, with what the Thread knows of each (SUB-1).
        tickets: Those Tickets as they stand.
        pending: The Triggers that wait for the next Eval.
        running: The Eval that runs now.
        correlated: Threads that share a Trigger with it (COR-1).
        timeline: All that happened, oldest first.
        before: Ask again with this for what was before; None where that is all.
    """

    key: str
    triggers: tuple[TriggerLine, ...]
    evals: tuple[EvalAnswer, ...]
    decisions: tuple[Decision, ...]
    subscriptions: tuple[Subscription, ...]
    tickets: tuple[TicketLine, ...]
    pending: tuple[str, ...]
    running: str | None = None
    correlated: tuple[str, ...]
    timeline: tuple[Entry, ...]
    before: datetime | None = None


def thread(
    key: str, db: sqlite3.Connection, *, limit: int = 100, before: datetime | None = None
) -> ThreadAnswer:
    """Return a Thread with its history.

    Args:
        key: Its key.
        db: The read model.
        limit: How many Triggers at most, the last ones.
        before: Only those that occurred before this time.

    Raises:
        Unknown: No Trigger ever belonged to it.
    """
    row = db.execute("SELECT document FROM threads WHERE key = ?", (key,)).fetchone()
    state = Thread.model_validate_json(row["document"]) if row else None
    rows = db.execute(
        "SELECT triggers.* FROM thread_triggers JOIN triggers ON triggers.id = trigger "
        "WHERE thread_triggers.thread = ? AND thread_triggers.occurred_at < ? "
        "ORDER BY thread_triggers.occurred_at DESC, trigger DESC LIMIT ?",
        (key, micros(before) if before else _FOR_EVER, limit + 1),
    ).fetchall()
    if state is None and not rows:
        raise Unknown("Thread", key)
    shown = rows[:limit][::-1]
    more = len(rows) > limit
    since = shown[0]["occurred_at"] if more else 0
    until = micros(before) if before else _FOR_EVER
    happened = [entry for entry in history(db, "thread", key) if since <= micros(entry.at) < until]
    lines = trigger_lines(db, shown)
    arrivals = [arrival(Trigger.model_validate_json(row["document"])) for row in shown]
    subscriptions = state.subscriptions if state else ()
    return ThreadAnswer(
        key=key,
        triggers=lines,
        evals=tuple(_evals(happened)),
        decisions=_decisions(db, happened),
        subscriptions=subscriptions,
        tickets=ticket_lines(db, [one.ticket for one in subscriptions]),
        pending=tuple(one.ref.id for one in state.pending) if state else (),
        running=state.running.id if state and state.running else None,
        correlated=state.correlated if state else (),
        # That a Trigger was appended says nothing that its arrival does not.
        timeline=in_time(
            arrivals, (entry for entry in happened if entry.what != "trigger_appended")
        ),
        before=lines[0].occurred_at if more else None,
    )


_FOR_EVER = 2**62


def _evals(happened: Iterable[Entry]) -> Iterable[EvalAnswer]:
    evals: dict[str, EvalAnswer] = {}
    running: str | None = None
    for entry in happened:
        detail = entry.detail
        match entry.what:
            case "eval_started":
                running = str(detail["eval_id"])
                batch = detail["batch"]
                evals[running] = EvalAnswer(
                    id=running,
                    triggers=tuple(_ids(batch)),
                    started_at=entry.at,
                )
            case "eval_discarded" if running in evals:
                evals[running] = evals[running].model_copy(
                    update={"state": "discarded", "ended_at": entry.at, "reason": entry.text}
                )
            case "decision_recorded" if running in evals:
                outcome = detail.get("outcome")
                evals[running] = evals[running].model_copy(
                    update={
                        "state": "decided",
                        "ended_at": entry.at,
                        "reason": entry.text,
                        "decision": detail.get("decision"),
                        "outcome": Outcome(str(outcome)) if outcome else None,
                    }
                )
            case _:
                pass
    return evals.values()


def _ids(batch: object) -> Iterable[str]:
    for pending in batch if isinstance(batch, list) else ():
        yield pending["ref"]["id"]


def _decisions(db: sqlite3.Connection, happened: Iterable[Entry]) -> tuple[Decision, ...]:
    ids = [entry.detail["decision"] for entry in happened if entry.what == "decision_recorded"]
    rows = [
        db.execute("SELECT document FROM decisions WHERE id = ?", (id,)).fetchone() for id in ids
    ]
    return tuple(Decision.model_validate_json(row["document"]) for row in rows if row)
