"""Reports: the state an Assignment reports to its Ticket (ASG-3)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from remit.domain.ids import AssignmentId
from remit.domain.model import Model


class ReportKind(StrEnum):
    """The only things an Assignment can report. That a person asked it to stop is none (ASG-4)."""

    PROGRESS = "progress"
    WAITING = "waiting"
    READY = "ready"
    BLOCKED = "blocked"
    FAILED = "failed"
    DROPPED = "dropped"


TOLD = frozenset({ReportKind.READY, ReportKind.BLOCKED, ReportKind.FAILED, ReportKind.DROPPED})
"""The reports that a person is told of; the others are silent (TON-2)."""
STUCK = frozenset({ReportKind.BLOCKED, ReportKind.FAILED})
"""The reports that pause automatic Input until a person writes (ASG-5)."""


class Report(Model):
    """One report.

    Attributes:
        assignment: Whose it is.
        kind: What it says.
        text: What a person is told, in plain language (TON-4).
        final: Nothing more will come; the Ticket ends once a Channel took it.
        at: When the Ticket took it.
    """

    assignment: AssignmentId
    kind: ReportKind
    text: str
    final: bool = False
    at: datetime
