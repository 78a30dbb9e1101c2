"""What can happen to a Ticket."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from remit.domain.assignment import AssignmentEnd
from remit.domain.attention import Attention
from remit.domain.channel import (
    Address,
    ChannelWrite,
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
from remit.domain.report import Report
from remit.domain.ticket.state import TicketThread
from remit.domain.trigger import Actor, TriggerRef


class TicketOpened(Model):
    """A Ticket came to be."""

    event: Literal["ticket_opened"] = "ticket_opened"
    ticket: TicketId
    mandate: Mandate
    decision: DecisionId
    title: str
    language: Language
    threads: tuple[TicketThread, ...]
    channels: tuple[Address, ...]
    trace: str | None = None


class TicketResumed(Model):
    """A person's message opened the Ticket again, under the same Mandate (SUB-5)."""

    event: Literal["ticket_resumed"] = "ticket_resumed"


class TicketStopped(Model):
    """A person withdrew the Mandate."""

    event: Literal["ticket_stopped"] = "ticket_stopped"
    actor: Actor
    reason: str


class TicketEnded(Model):
    """The Ticket is done."""

    event: Literal["ticket_ended"] = "ticket_ended"


class InputAdded(Model):
    """The Ticket took an Input.

    Attributes:
        ref: The Input, as the Ticket remembers it.
        position: The Trigger's position, for a fanned-out one.
        settles: The Trigger whose home Thread waits for this Ticket's answer.
    """

    event: Literal["input_added"] = "input_added"
    ref: InputRef
    position: int | None = None
    settles: TriggerRef | None = None


class InputRefused(Model):
    """The Ticket would not have a Trigger: it ended, or was stopped."""

    event: Literal["input_refused"] = "input_refused"
    ref: TriggerRef
    position: int
    home: ThreadKey


class InputDelivered(Model):
    """The Executor's agent has read every Input up to ``number``."""

    event: Literal["input_delivered"] = "input_delivered"
    number: int


class AssignmentOffered(Model):
    """The Ticket wants an Executor instance."""

    event: Literal["assignment_offered"] = "assignment_offered"
    assignment: AssignmentId
    number: int
    at: datetime


class AssignmentStarted(Model):
    """An Executor instance took the Assignment."""

    event: Literal["assignment_started"] = "assignment_started"
    assignment: AssignmentId
    host: HostName
    at: datetime


class AssignmentTakenOver(Model):
    """Another Executor instance goes on where a lost one was (ASG-7): one more Assignment."""

    event: Literal["assignment_taken_over"] = "assignment_taken_over"
    assignment: AssignmentId
    number: int
    offer: AssignmentId
    host: HostName
    at: datetime


class AssignmentEnded(Model):
    """The Assignment is over."""

    event: Literal["assignment_ended"] = "assignment_ended"
    assignment: AssignmentId
    end: AssignmentEnd
    at: datetime


class MessageHeard(Model):
    """A message of the Assignment was taken; a repeat of it changes nothing."""

    event: Literal["message_heard"] = "message_heard"
    message: int


class ReportTaken(Model):
    """A Report counts from now on."""

    event: Literal["report_taken"] = "report_taken"
    report: Report


class ReportRecorded(Model):
    """A message from an Assignment that is no longer the Ticket's; it changes nothing (ASG-6)."""

    event: Literal["report_recorded"] = "report_recorded"
    assignment: AssignmentId
    message: int
    command: str


class AttentionOpened(Model):
    """A question waits for a person."""

    event: Literal["attention_opened"] = "attention_opened"
    attention: Attention


class AttentionClosed(Model):
    """The Assignment has the answer (field report C14), or the question was dropped."""

    event: Literal["attention_closed"] = "attention_closed"


class WriteRequested(Model):
    """The Ticket wants something written."""

    event: Literal["write_requested"] = "write_requested"
    number: int
    write: ChannelWrite
    ends: bool = False


class WriteSettled(Model):
    """A Channel answered."""

    event: Literal["write_settled"] = "write_settled"
    number: int
    kind: WriteKind
    receipt: Receipt


class ThreadJoined(Model):
    """The Ticket is on one more Thread, such as its pull request's."""

    event: Literal["thread_joined"] = "thread_joined"
    thread: TicketThread
    channel: Address | None = None
    at: datetime


TicketEvent = Annotated[
    TicketOpened
    | TicketResumed
    | TicketStopped
    | TicketEnded
    | InputAdded
    | InputRefused
    | InputDelivered
    | AssignmentOffered
    | AssignmentStarted
    | AssignmentTakenOver
    | AssignmentEnded
    | MessageHeard
    | ReportTaken
    | ReportRecorded
    | AttentionOpened
    | AttentionClosed
    | WriteRequested
    | WriteSettled
    | ThreadJoined,
    Field(discriminator="event"),
]
