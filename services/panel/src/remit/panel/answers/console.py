"""Console conversations: what people asked and what the agent said."""

from __future__ import annotations

import json
import sqlite3
from datetime import datetime

from remit.domain.model import Model
from remit.panel.answers.tickets import TicketLine, ticket_lines
from remit.panel.readmodel.projections.console import ConsoleEntry, conversation_token
from remit.panel.readmodel.times import moment_of


class ConsoleLine(Model):
    """Something said in a conversation.

    Attributes:
        at: When.
        author: Who said it, as it is shown.
        agent: The agent said it.
        text: What was said.
        trigger: The Trigger it became, for what a person said.
        settled: That Trigger has its Disposition.
        write: The Channel write it came from, for what the agent said.
    """

    at: datetime
    author: str
    agent: bool
    text: str
    trigger: str | None = None
    settled: bool = False
    write: str | None = None


class Conversation(Model):
    """A conversation, oldest line first.

    Attributes:
        name: Its name.
        thread: Its Thread.
        lines: What was said, the last ``limit`` lines.
        tickets: The Tickets on it.
    """

    name: str
    thread: str
    lines: tuple[ConsoleLine, ...]
    tickets: tuple[TicketLine, ...] = ()


class ConversationLine(Model):
    """A conversation in a list.

    Attributes:
        name: Its name.
        text: The beginning of what was said last by a person.
        at: When that was.
    """

    name: str
    text: str
    at: datetime


def conversation_thread(source: str, name: str) -> str:
    """Return the Thread of a conversation."""
    return f"{source}:{name}"


def conversation(
    source: str, name: str, db: sqlite3.Connection, *, limit: int = 200
) -> Conversation:
    """Return a conversation; one in which nothing was said yet is empty.

    Args:
        source: The Source instance of the console.
        name: The conversation.
        db: The read model.
        limit: How many lines at most, the last ones.
    """
    key = conversation_thread(source, name)
    asked = db.execute(
        "SELECT triggers.*, unsettled.trigger IS NULL AS settled FROM thread_triggers "
        "JOIN triggers ON triggers.id = thread_triggers.trigger "
        "LEFT JOIN unsettled ON unsettled.trigger = triggers.id "
        "WHERE thread = ? ORDER BY thread_triggers.occurred_at DESC LIMIT ?",
        (key, limit),
    )
    lines = [
        ConsoleLine(
            at=moment_of(row["occurred_at"]),
            author=row["actor_name"],
            agent=False,
            text=json.loads(row["document"]).get("text", ""),
            trigger=row["id"],
            settled=bool(row["settled"]),
        )
        for row in asked
    ]
    said = db.execute(
        "SELECT document FROM console_lines WHERE conversation = ? ORDER BY position DESC LIMIT ?",
        (conversation_token(key), limit),
    )
    for row in said:
        entry = ConsoleEntry.model_validate_json(row["document"])
        lines.append(
            ConsoleLine(
                at=entry.at, author=entry.author, agent=True, text=entry.text, write=entry.key
            )
        )
    lines.sort(key=lambda line: line.at)
    state = db.execute("SELECT document FROM threads WHERE key = ?", (key,)).fetchone()
    subscribed = json.loads(state["document"])["subscriptions"] if state else []
    return Conversation(
        name=name,
        thread=key,
        lines=tuple(lines[-limit:]),
        tickets=ticket_lines(db, [one["ticket"] for one in subscribed]),
    )


def conversations(
    source: str, db: sqlite3.Connection, *, limit: int = 50
) -> tuple[ConversationLine, ...]:
    """Return the conversations in which a person spoke last, the latest first."""
    rows = db.execute(
        "SELECT home, excerpt, max(position), occurred_at FROM triggers WHERE source = ? "
        "GROUP BY home ORDER BY max(position) DESC LIMIT ?",
        (source, limit),
    )
    return tuple(
        ConversationLine(
            name=row["home"].partition(":")[2],
            text=row["excerpt"],
            at=moment_of(row["occurred_at"]),
        )
        for row in rows
    )
