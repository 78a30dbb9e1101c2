"""What a Ticket keeps."""

from __future__ import annotations

from enum import StrEnum

from remit.domain.assignment import Assignment, AssignmentState
from remit.domain.attention import Attention
from remit.domain.channel import (
    Address,
    Receipt,
    WriteKind,
)
from remit.domain.ids import (
    AssignmentId,
    DecisionId,
    HostName,
    ThreadKey,
    TicketId,
)
from remit.domain.inputs import InputRef
from remit.domain.language import Language
from remit.domain.mandate import Mandate
from remit.domain.model import Model
from remit.domain.positions import Positions
from remit.domain.report import STUCK, Report, ReportKind
from remit.domain.subscription import Standing, SubscriptionKind

RECENT = 16
"""How many delivered Inputs, writes and receipts a Ticket keeps in sight."""


class TicketStatus(StrEnum):
    """open → ended, and back to open when a person resumes it (TKT-3)."""

    OPEN = "open"
    ENDED = "ended"


class Stage(StrEnum):
    """Where an open Ticket stands (TKT-5)."""

    DELIVERING = "delivering"
    AWAITING_ANSWER = "awaiting_answer"
    AWAITING_REVIEW = "awaiting_review"
    STUCK = "stuck"
    QUEUED = "queued"
    IDLE = "idle"
    WORKING = "working"


class TicketThread(Model):
    """A Thread that the Ticket is on, and how it came there."""

    key: ThreadKey
    kind: SubscriptionKind


class PendingWrite(Model):
    """A Channel write that no receipt answered yet.

    Attributes:
        write: Its number.
        kind: What it is.
        ends: The Ticket ends once a Channel took it: it carries the final report.
    """

    number: int
    kind: WriteKind
    ends: bool = False


class Settled(Model):
    """A Channel write and its receipt."""

    number: int
    kind: WriteKind
    receipt: Receipt


class Ticket(Model):
    """A Ticket as its last commit left it.

    Attributes:
        id: Its id, derived from the Trigger that asked.
        mandate: What it may do, unchanged for ever (MAN-2).
        decision: The Decision that opened it (TKT-1, TKT-2).
        title: A short name for the work.
        language: The language that people are answered in (TON-4).
        threads: Its Threads; the first is where it started.
        channels: Where it answers; the first is the closest to the request.
        status: Open or ended.
        stopped: A person stopped it: the Mandate is withdrawn, it never reopens (TKT-3).
        taken: The positions of the Triggers it took as Inputs.
        inputs: How many Inputs it ever had.
        delivered: Every Input up to this number reached the Executor (INP-1).
        waiting: The Inputs past that, in order.
        assignment: The current Assignment, or the last one.
        report: The latest Report.
        heard_person: A person wrote since the latest Report.
        attention: The open question.
        writes: How many Channel writes it ever asked for.
        unsettled: The writes that no receipt answered yet.
        settled: The last ones that were answered.
        turns: How often its standing changed; its Threads ignore older news.
        trace: The trace of the Trigger that asked; the Ticket's work goes on it.
    """

    id: TicketId
    mandate: Mandate
    decision: DecisionId
    title: str
    language: Language
    threads: tuple[TicketThread, ...]
    channels: tuple[Address, ...]
    status: TicketStatus = TicketStatus.OPEN
    stopped: bool = False
    taken: Positions = Positions()
    inputs: int = 0
    delivered: int = 0
    waiting: tuple[InputRef, ...] = ()
    assignment: Assignment | None = None
    report: Report | None = None
    heard_person: bool = False
    attention: Attention | None = None
    writes: int = 0
    unsettled: tuple[PendingWrite, ...] = ()
    settled: tuple[Settled, ...] = ()
    turns: int = 0
    trace: str | None = None

    @property
    def home(self) -> ThreadKey:
        """The Thread it started on."""
        return self.threads[0].key

    @property
    def standing(self) -> Standing:
        """What its Threads are to know of it."""
        if self.stopped:
            return Standing.STOPPED
        return Standing.LIVE if self.status is TicketStatus.OPEN else Standing.ENDED

    @property
    def stage(self) -> Stage | None:
        """The first stage that matches (TKT-5); None once the Ticket ended."""
        if self.status is TicketStatus.ENDED:
            return None
        assigned = self.assignment.state if self.assignment else AssignmentState.PENDING
        report = self.report.kind if self.report else None
        if self.waiting and assigned is AssignmentState.RUNNING:
            return Stage.DELIVERING
        if self.attention is not None:
            return Stage.AWAITING_ANSWER
        if report is ReportKind.READY and not self.heard_person:
            return Stage.AWAITING_REVIEW
        if report in STUCK and not self.heard_person:
            return Stage.STUCK
        if assigned is AssignmentState.PENDING:
            return Stage.QUEUED
        if report is ReportKind.WAITING or assigned is AssignmentState.ENDED:
            return Stage.IDLE
        return Stage.WORKING

    def is_assigned_to(self, assignment: AssignmentId, host: HostName | None = None) -> bool:
        """Say whether ``assignment`` is the current one and runs, on ``host`` if given."""
        current = self.assignment
        return (
            current is not None
            and current.id == assignment
            and current.state is AssignmentState.RUNNING
            and (host is None or current.host == host)
        )
