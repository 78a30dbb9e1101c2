"""What the services say to each other: the payloads of the bus, one model each."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from remit.domain.decision import Decision
from remit.domain.ids import AssignmentId, EvalId, SourceName, ThreadKey, TicketId
from remit.domain.model import Model
from remit.domain.policy import Policy
from remit.domain.thread import ThreadCommand
from remit.domain.ticket import ExecutorCommand, TicketCommand
from remit.domain.trigger import TriggerRef


class EvalRequest(Model):
    """Judge a batch of a Thread (EVL-2).

    Attributes:
        thread: The Thread.
        eval_id: The Eval; its result counts only while it is the Thread's running one.
        batch: The Triggers, in time order.
    """

    thread: ThreadKey
    eval_id: EvalId
    batch: tuple[TriggerRef, ...]


class EvalProposal(Model):
    """An Eval came to a Decision; the Thread takes it only if it still holds."""

    result: Literal["proposal"] = "proposal"
    thread: ThreadKey
    proposal: Decision


class EvalFailure(Model):
    """An Eval ran out of time, or its answer was unusable (EVL-5, EVL-8)."""

    result: Literal["failure"] = "failure"
    thread: ThreadKey
    eval_id: EvalId
    reason: str


EvalResult = Annotated[EvalProposal | EvalFailure, Field(discriminator="result")]


class ToThread(Model):
    """Ask something of a Thread."""

    thread: ThreadKey
    ask: ThreadCommand


class ToTicket(Model):
    """Ask something of a Ticket."""

    ticket: TicketId
    ask: TicketCommand


class FromAssignment(Model):
    """An Executor instance speaks for its Assignment."""

    ticket: TicketId
    said: ExecutorCommand


class Offer(Model):
    """An Assignment that waits for an Executor instance.

    Attributes:
        ticket: The Ticket.
        assignment: The Assignment.
        title: The work's short name.
        executor: Which kind of Executor is to take it.
    """

    ticket: TicketId
    assignment: AssignmentId
    title: str
    executor: str = "default"


class PolicyInForce(Model):
    """A version of the Policy, as it was applied.

    Attributes:
        policy: The Policy.
        text: The document as it was written, for people.
        applied_at: When.
        applied_by: Who, in the words of whoever applied it.
    """

    policy: Policy
    text: str
    applied_at: datetime
    applied_by: str


class EventDropped(Model):
    """An event that became no Trigger: counted, with its reason (SRC-4).

    Attributes:
        source: The Source instance that dropped it.
        reason: Why: one of the closed list of the connectors' contract.
        event: The provider's name of the event.
        delivery: The provider's id of the delivery.
        detail: What it was, for people.
        at: When.
    """

    source: SourceName
    reason: str
    event: str
    delivery: str
    detail: str = ""
    at: datetime
