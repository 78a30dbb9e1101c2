"""What the events of a Ticket say was done for it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from datetime import datetime

from pydantic import TypeAdapter, ValidationError

from remit.domain.assignment import AssignmentEnd, AssignmentState
from remit.domain.attention import Attention
from remit.domain.channel import ChannelWrite, Receipt
from remit.domain.inputs import InputKind
from remit.domain.model import Model
from remit.domain.report import Report
from remit.domain.ticket import (
    AssignmentEnded,
    AssignmentOffered,
    AssignmentStarted,
    AssignmentTakenOver,
    AttentionClosed,
    AttentionOpened,
    InputAdded,
    InputDelivered,
    ReportTaken,
    TicketEvent,
    WriteRequested,
    WriteSettled,
)
from remit.panel.readmodel.times import moment_of


class AssignmentAnswer(Model):
    """An Assignment from offer to end."""

    id: str
    number: int
    state: AssignmentState = AssignmentState.PENDING
    host: str | None = None
    end: AssignmentEnd | None = None
    offered_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None


class InputAnswer(Model):
    """An Input, and whether the agent has read it."""

    number: int
    kind: InputKind
    person: bool
    trigger: str | None = None
    at: datetime
    delivered_at: datetime | None = None


class AttentionAnswer(Model):
    """A question to a person."""

    attention: Attention
    closed_at: datetime | None = None


class WriteAnswer(Model):
    """A Channel write and what the provider answered.

    Attributes:
        number: Its number in the Ticket.
        write: The write; None where the stream no longer holds its request.
        ends: The Ticket ends once it is accepted.
        requested_at: When the Ticket asked for it.
        receipt: The provider's answer, with the URL of what was written.
        settled_at: When that came.
    """

    number: int
    write: ChannelWrite | None = None
    ends: bool = False
    requested_at: datetime | None = None
    receipt: Receipt | None = None
    settled_at: datetime | None = None


class TicketHistory:
    """What was done for a Ticket, put together event by event.

    Attributes:
        inputs: Its Inputs, by number.
        assignments: Its Assignments, by id, in order.
        reports: Its Reports, oldest first.
        attentions: The questions that were asked, oldest first.
        writes: Its Channel writes, by number.
    """

    def __init__(self) -> None:
        self.inputs: dict[int, InputAnswer] = {}
        self.assignments: dict[str, AssignmentAnswer] = {}
        self.reports: list[Report] = []
        self.attentions: list[AttentionAnswer] = []
        self.writes: dict[int, WriteAnswer] = {}

    @property
    def host(self) -> str | None:
        """The Executor instance that the Ticket was bound to last."""
        hosts = [one.host for one in self.assignments.values() if one.host]
        return hosts[-1] if hosts else None

    def take(self, event: TicketEvent, at: datetime) -> None:
        """Add what happened ``at`` that time."""
        match event:
            case InputAdded(ref=ref):
                self.inputs[ref.number] = InputAnswer(
                    number=ref.number,
                    kind=ref.kind,
                    person=ref.person,
                    trigger=ref.trigger,
                    at=ref.at,
                )
            case InputDelivered(number=number):
                self._delivered(number, at)
            case AssignmentOffered():
                self.assignments[event.assignment] = AssignmentAnswer(
                    id=event.assignment, number=event.number, offered_at=event.at
                )
            case AssignmentTakenOver():
                self.assignments[event.assignment] = AssignmentAnswer(
                    id=event.assignment,
                    number=event.number,
                    state=AssignmentState.RUNNING,
                    host=event.host,
                    offered_at=event.at,
                    started_at=event.at,
                )
            case AssignmentStarted():
                self._change(
                    event.assignment,
                    {"state": AssignmentState.RUNNING, "host": event.host, "started_at": event.at},
                )
            case AssignmentEnded():
                self._change(
                    event.assignment,
                    {"state": AssignmentState.ENDED, "end": event.end, "ended_at": event.at},
                )
            case ReportTaken(report=report):
                self.reports.append(report)
            case AttentionOpened(attention=attention):
                self.attentions.append(AttentionAnswer(attention=attention))
            case AttentionClosed():
                if self.attentions:
                    last = self.attentions[-1]
                    self.attentions[-1] = last.model_copy(update={"closed_at": at})
            case WriteRequested(number=number, write=write, ends=ends):
                self.writes[number] = WriteAnswer(
                    number=number, write=write, ends=ends, requested_at=at
                )
            case WriteSettled(number=number, receipt=receipt):
                asked_for = self.writes.get(number, WriteAnswer(number=number))
                settled = {"receipt": receipt, "settled_at": at}
                self.writes[number] = asked_for.model_copy(update=settled)
            case _:
                pass

    def _delivered(self, number: int, at: datetime) -> None:
        for one in list(self.inputs.values()):
            if one.number <= number and one.delivered_at is None:
                self.inputs[one.number] = one.model_copy(update={"delivered_at": at})

    def _change(self, assignment: str, changes: dict[str, object]) -> None:
        known = self.assignments.get(assignment)
        if known is not None:
            self.assignments[assignment] = known.model_copy(update=changes)


def ticket_history(moments: Iterable[sqlite3.Row]) -> TicketHistory:
    """Return what the moments of a Ticket, oldest first, say was done for it."""
    events: TypeAdapter[TicketEvent] = TypeAdapter(TicketEvent)
    history = TicketHistory()
    for row in moments:
        try:
            event = events.validate_json(row["document"])
        except ValidationError:
            # An event of a newer version of the ticket service: the timeline shows it by name.
            continue
        history.take(event, moment_of(row["at"]))
    return history
