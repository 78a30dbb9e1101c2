"""What projections write: one type per table, in the order of its columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from remit.panel.live import Change


class TriggerRow(NamedTuple):
    """A Trigger; ``document`` is the whole of it as it was published."""

    position: int
    id: str
    source: str
    kind: str
    actor: str
    actor_name: str
    home: str
    title: str | None
    excerpt: str
    occurred_at: int
    received_at: int
    stored_at: int
    trace: str | None
    document: str


class TriggerSearchRow(NamedTuple):
    """What a Trigger is found by."""

    rowid: int
    title: str
    text: str


class ThreadTriggerRow(NamedTuple):
    """A Trigger's place in one of its Threads (THR-1)."""

    thread: str
    occurred_at: int
    trigger: str


class DispositionRow(NamedTuple):
    """One ending of a Trigger."""

    position: int
    trigger: str
    kind: str
    outcome: str | None
    stored_at: int
    document: str


class ThreadRow(NamedTuple):
    """A Thread as its last commit left it."""

    key: str
    position: int
    at: int
    document: str


class TicketRow(NamedTuple):
    """A Ticket as its last commit left it."""

    id: str
    position: int
    title: str
    searchable: str
    source: str
    status: str
    stage: str | None
    stopped: int
    asked_at: int | None
    opened_at: int
    at: int
    document: str


class DecisionRow(NamedTuple):
    """A Decision, whole."""

    id: str
    thread: str
    ticket: str | None
    document: str


class MomentRow(NamedTuple):
    """An event of a Thread's or a Ticket's commit."""

    aggregate: str
    key: str
    position: int
    number: int
    at: int
    event: str
    document: str


class MentionRow(NamedTuple):
    """A moment that is about a Trigger."""

    trigger: str
    aggregate: str
    key: str
    position: int
    number: int


class PolicyRow(NamedTuple):
    """A version of the Policy."""

    position: int
    version: str
    at: int
    document: str


class DropRow(NamedTuple):
    """An event that became no Trigger."""

    position: int
    source: str
    reason: str
    at: int
    document: str


class DeadLetterRow(NamedTuple):
    """A message that was given up on."""

    position: int
    stream: str
    subject: str
    message: str
    reason: str
    at: int
    trace: str | None
    document: str


class ConsoleLineRow(NamedTuple):
    """What the agent said in a console conversation, named by its subject's token."""

    position: int
    conversation: str
    at: int
    document: str


class UnreadableRow(NamedTuple):
    """A message that no projection could read."""

    stream: str
    position: int
    subject: str
    problem: str
    stored_at: int


Row = (
    TriggerRow
    | TriggerSearchRow
    | ThreadTriggerRow
    | DispositionRow
    | ThreadRow
    | TicketRow
    | DecisionRow
    | MomentRow
    | MentionRow
    | PolicyRow
    | DropRow
    | DeadLetterRow
    | ConsoleLineRow
    | UnreadableRow
)


class Tally(NamedTuple):
    """Something to be counted.

    Attributes:
        what: What is counted, such as ``disposition``.
        key: Which of them, such as ``fanned_out``.
        at: When it happened.
    """

    what: str
    key: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Projected:
    """What one message means for the read model.

    Attributes:
        rows: What is written.
        tallies: What is counted.
        change: What those who watch are told, once it is written.
    """

    rows: tuple[Row, ...] = ()
    tallies: tuple[Tally, ...] = ()
    change: Change | None = field(default=None)
