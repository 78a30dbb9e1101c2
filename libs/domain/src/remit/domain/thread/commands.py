"""What can be asked of a Thread."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from remit.domain.decision import Decision
from remit.domain.gate import Verdict
from remit.domain.ids import (
    EvalId,
    PolicyVersion,
    TicketId,
)
from remit.domain.model import Model
from remit.domain.subscription import Subscription
from remit.domain.trigger import Trigger, TriggerRef


class AppendTrigger(Model):
    """Take a Trigger.

    Attributes:
        trigger: The Trigger.
        ref: Its reference.
        verdict: What the gate says of its actor; it travels with what is fanned out.
        may_resume: The Policy lets its actor resume an ended Ticket from there (SUB-5).
        reach: Tickets that it reaches through its other Threads; the home Thread routes for all.
        known: What the history says, where the Thread itself no longer remembers.
    """

    command: Literal["append_trigger"] = "append_trigger"
    trigger: Trigger
    ref: TriggerRef
    verdict: Verdict
    may_resume: bool = False
    reach: tuple[TicketId, ...] = ()
    known: bool | None = None


class RecordDecision(Model):
    """Take what an Eval proposes.

    Attributes:
        proposal: The proposed Decision.
        current: The Policy version in force now.
        request: The Trigger that an accept rests on, whole.
        ref: Its reference.
    """

    command: Literal["record_decision"] = "record_decision"
    proposal: Decision
    current: PolicyVersion
    request: Trigger | None = None
    ref: TriggerRef | None = None


class EndEval(Model):
    """An attempt of an Eval ran out of time or came to nothing usable (EVL-5, EVL-8).

    Attributes:
        eval_id: The Eval.
        tries: How many attempts the configuration allows.
        current: The Policy version in force now.
        reason: What happened, in a sentence.
    """

    command: Literal["end_eval"] = "end_eval"
    eval_id: EvalId
    tries: int
    current: PolicyVersion
    reason: str


class DiscardEval(Model):
    """The Policy changed under a running Eval: ask again under the new version (POL-5)."""

    command: Literal["discard_eval"] = "discard_eval"
    eval_id: EvalId


class SubscribeTicket(Model):
    """Put a Ticket on this Thread."""

    command: Literal["subscribe_ticket"] = "subscribe_ticket"
    subscription: Subscription


class NoteStanding(Model):
    """A Ticket ended, was stopped, or was resumed.

    Attributes:
        subscription: Its Subscription here with its standing now. Older news than what the
            Thread has is ignored; news of a Ticket that is yet to be subscribed subscribes it.
    """

    command: Literal["note_standing"] = "note_standing"
    subscription: Subscription


class SettleDelivery(Model):
    """A Ticket answered a delivery: it took the Trigger, or would not have it."""

    command: Literal["settle_delivery"] = "settle_delivery"
    ref: TriggerRef
    ticket: TicketId
    taken: bool


class DropSubscriptions(Model):
    """A person drops every Subscription, or an Executor its own Ticket's (SUB-8).

    Attributes:
        executor_of: The Ticket whose Executor asks; None when a person does.
    """

    command: Literal["drop_subscriptions"] = "drop_subscriptions"
    executor_of: TicketId | None = None


ThreadCommand = Annotated[
    AppendTrigger
    | RecordDecision
    | EndEval
    | DiscardEval
    | SubscribeTicket
    | NoteStanding
    | SettleDelivery
    | DropSubscriptions,
    Field(discriminator="command"),
]
