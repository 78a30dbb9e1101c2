"""Assignments: the binding of a Ticket to one Executor instance (ASG-1..7)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from remit.domain.ids import AssignmentId, HostName
from remit.domain.model import Model


class AssignmentState(StrEnum):
    """pending → running → ended, independently of the Ticket (ASG-2)."""

    PENDING = "pending"
    RUNNING = "running"
    ENDED = "ended"


class AssignmentEnd(StrEnum):
    """Why an Assignment ended."""

    REPORTED = "reported"
    """It gave its final report."""
    HOST_LOST = "host_lost"
    """Its Executor instance died or lost its lease (ASG-7)."""
    STOPPED = "stopped"
    """A person stopped the Ticket, and the Executor confirmed."""


class Assignment(Model):
    """One Assignment.

    Attributes:
        id: Its id.
        number: Its place among the Ticket's Assignments, from 1.
        state: pending, running or ended.
        offer: The Assignment that was offered; one that took over from a lost host keeps it.
        host: The Executor instance it is bound to, once it runs (ASG-1). A name belongs to one
            process: an instance that was started again is another one.
        heard: The highest message number taken from it; its messages are taken in order, once.
        end: Why it ended.
        since: When it came into this state.
    """

    id: AssignmentId
    number: int
    offer: AssignmentId
    state: AssignmentState = AssignmentState.PENDING
    host: HostName | None = None
    heard: int = 0
    end: AssignmentEnd | None = None
    since: datetime
