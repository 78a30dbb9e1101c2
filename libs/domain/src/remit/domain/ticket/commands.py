"""What can be asked of a Ticket."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from remit.domain.channel import (
    PullRequest,
    Receipt,
)
from remit.domain.gate import Verdict
from remit.domain.ids import (
    AssignmentId,
    DecisionId,
    HostName,
)
from remit.domain.mandate import Mandate
from remit.domain.model import Model
from remit.domain.report import ReportKind
from remit.domain.trigger import Actor, Trigger, TriggerRef


class OpenTicket(Model):
    """An Eval accepted: open the Ticket (TKT-1). Sent by the Thread that recorded the Decision.

    Attributes:
        mandate: What it may do.
        decision: The Decision.
        title: A short name for the work.
        request: The Trigger that asked, whole: the first Input.
        ref: Its reference.
        verdict: What the gate said of it.
    """

    command: Literal["open_ticket"] = "open_ticket"
    mandate: Mandate
    decision: DecisionId
    title: str
    request: Trigger
    ref: TriggerRef
    verdict: Verdict | None = None


class DeliverTrigger(Model):
    """Take a Trigger that fanned out to this Ticket.

    Attributes:
        trigger: The Trigger, whole.
        ref: Its reference.
        verdict: What the gate says of its actor.
        may_resume: The Policy lets this actor resume an ended Ticket from there (SUB-5).
        several: Its home Thread waits for the answers of several Tickets.
        known: What the history says, where the Ticket itself no longer remembers.
    """

    command: Literal["deliver_trigger"] = "deliver_trigger"
    trigger: Trigger
    ref: TriggerRef
    verdict: Verdict
    may_resume: bool = False
    several: bool = False
    known: bool | None = None


class TakeAssignment(Model):
    """An Executor instance takes the pending Assignment, or one whose host was lost (ASG-7).

    Attributes:
        assignment: The Assignment that was offered; where another instance had taken it, that one
            counts as lost.
        host: The instance.
    """

    command: Literal["take_assignment"] = "take_assignment"
    assignment: AssignmentId
    host: HostName


class FromExecutor(Model):
    """What an Executor instance says for its Assignment.

    Attributes:
        assignment: The Assignment it speaks for.
        message: Its number, from 1 without gaps; each is taken once, in order.
    """

    assignment: AssignmentId
    message: int


class TakeInput(FromExecutor):
    """The agent has read every Input up to ``number``."""

    command: Literal["take_input"] = "take_input"
    number: int


class GiveReport(FromExecutor):
    """The agent, or its host, reports."""

    command: Literal["give_report"] = "give_report"
    kind: ReportKind
    text: str
    final: bool = False


class AskPerson(FromExecutor):
    """The agent asks a person, in a structured field (ATT-1)."""

    command: Literal["ask_person"] = "ask_person"
    question: str
    choices: tuple[str, ...] = ()


class ReplyToPerson(FromExecutor):
    """The agent writes to people while it works, because they can use it now (TON-2)."""

    command: Literal["reply_to_person"] = "reply_to_person"
    text: str


class ProposePullRequest(FromExecutor):
    """The Ticket's branch was pushed: open a pull request for it."""

    command: Literal["propose_pull_request"] = "propose_pull_request"
    pull_request: PullRequest
    body: str


class ConfirmStop(FromExecutor):
    """The agent has stopped."""

    command: Literal["confirm_stop"] = "confirm_stop"


class SettleWrite(Model):
    """A Channel answered a write."""

    command: Literal["settle_write"] = "settle_write"
    receipt: Receipt


class StopTicket(Model):
    """A person stops the Ticket: its Mandate is withdrawn at once (MAN-3).

    Attributes:
        actor: Who.
        reason: What they said.
    """

    command: Literal["stop_ticket"] = "stop_ticket"
    actor: Actor
    reason: str


ExecutorCommand = Annotated[
    TakeAssignment
    | TakeInput
    | GiveReport
    | AskPerson
    | ReplyToPerson
    | ProposePullRequest
    | ConfirmStop,
    Field(discriminator="command"),
]
"""What may arrive as a report; nothing here can create a Ticket or widen one (TKT-1)."""

TicketCommand = Annotated[
    OpenTicket
    | DeliverTrigger
    | SettleWrite
    | StopTicket
    | TakeAssignment
    | TakeInput
    | GiveReport
    | AskPerson
    | ReplyToPerson
    | ProposePullRequest
    | ConfirmStop,
    Field(discriminator="command"),
]
