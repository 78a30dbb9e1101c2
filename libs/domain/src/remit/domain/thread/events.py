"""What can happen to a Thread."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from remit.domain.decision import Decision
from remit.domain.ids import (
    EvalId,
    ThreadKey,
    TicketId,
)
from remit.domain.model import Model
from remit.domain.subscription import Standing, Subscription
from remit.domain.thread.state import Pending
from remit.domain.trigger import TriggerRef


class TriggerAppended(Model):
    """A Trigger took its place.

    Attributes:
        ref: The Trigger.
        home: This is its home Thread, which routes it.
        reached: The Tickets it fans out to.
        evaluates: It waits for an Eval here.
        correlated: The Trigger's other Threads.
    """

    event: Literal["trigger_appended"] = "trigger_appended"
    ref: TriggerRef
    home: bool
    reached: tuple[TicketId, ...] = ()
    evaluates: bool = False
    correlated: tuple[ThreadKey, ...] = ()


class TriggerReturned(Model):
    """A Trigger that no Ticket would have waits for an Eval after all."""

    event: Literal["trigger_returned"] = "trigger_returned"
    ref: TriggerRef


class DeliverySettled(Model):
    """One of several Tickets answered a delivery."""

    event: Literal["delivery_settled"] = "delivery_settled"
    ref: TriggerRef
    ticket: TicketId
    taken: bool


class EvalStarted(Model):
    """A batch was put before an Eval."""

    event: Literal["eval_started"] = "eval_started"
    eval_id: EvalId
    batch: tuple[Pending, ...]
    at: datetime


class EvalDiscarded(Model):
    """An Eval came to nothing; its batch is judged again.

    Attributes:
        eval_id: The Eval.
        reason: Why.
        counts: It used up a try (EVL-5); a change of Policy does not (POL-5).
    """

    event: Literal["eval_discarded"] = "eval_discarded"
    eval_id: EvalId
    reason: str
    counts: bool = False


class DecisionRecorded(Model):
    """A Decision holds from now on.

    Attributes:
        decision: The Decision.
        ticket: The Ticket that an accept opens.
    """

    event: Literal["decision_recorded"] = "decision_recorded"
    decision: Decision
    ticket: TicketId | None = None


class TicketSubscribed(Model):
    """A Ticket is on this Thread from now on."""

    event: Literal["ticket_subscribed"] = "ticket_subscribed"
    subscription: Subscription


class StandingNoted(Model):
    """The Thread heard what became of a Ticket."""

    event: Literal["standing_noted"] = "standing_noted"
    ticket: TicketId
    standing: Standing
    turn: int


class SubscriptionDropped(Model):
    """A Ticket is on this Thread no longer."""

    event: Literal["subscription_dropped"] = "subscription_dropped"
    ticket: TicketId


ThreadEvent = Annotated[
    TriggerAppended
    | TriggerReturned
    | DeliverySettled
    | EvalStarted
    | EvalDiscarded
    | DecisionRecorded
    | TicketSubscribed
    | StandingNoted
    | SubscriptionDropped,
    Field(discriminator="event"),
]
