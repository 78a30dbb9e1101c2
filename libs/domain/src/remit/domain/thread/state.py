"""What a Thread keeps."""

from __future__ import annotations

from datetime import datetime

from remit.domain.decision import Outcome
from remit.domain.ids import (
    DecisionId,
    EvalId,
    ThreadKey,
    TicketId,
    TriggerId,
)
from remit.domain.model import Model
from remit.domain.positions import Positions
from remit.domain.subscription import Subscription
from remit.domain.trigger import TriggerRef

RECENT = 16
"""How many Triggers and Decisions a Thread keeps in sight."""
CORRELATED = 16
"""How many correlated Threads a Thread remembers."""


class Pending(Model):
    """A Trigger that waits for an Eval.

    Attributes:
        ref: The Trigger.
        returned: It came back from a Ticket that would not have it, or whose Executor handed
            it back; it enters Eval once, as if it had never been fanned out (SUB-9).
        tries: How many Evals of it ran out of time (EVL-5).
    """

    ref: TriggerRef
    returned: bool = False
    tries: int = 0


class RunningEval(Model):
    """The Eval that runs now; there is never another (THR-2).

    Attributes:
        id: Its id; a result under any other id is discarded.
        batch: What it judges, in time order.
        started_at: When it was asked for.
    """

    id: EvalId
    batch: tuple[Pending, ...]
    started_at: datetime


class DecisionSummary(Model):
    """A Decision as its Thread keeps it in sight; the whole of it is in the commit that took it."""

    id: DecisionId
    outcome: Outcome
    triggers: tuple[TriggerId, ...]
    reason: str
    ticket: TicketId | None = None
    decided_at: datetime


class FanOut(Model):
    """A person's Trigger on its way to several Tickets; it waits for their answers.

    Attributes:
        ref: The Trigger.
        waiting: The Tickets that have not answered.
        reached: One of them took it, so it takes no Eval (SUB-3).
    """

    ref: TriggerRef
    waiting: tuple[TicketId, ...]
    reached: bool = False


class Thread(Model):
    """A Thread as its last commit left it.

    Attributes:
        key: Its key.
        taken: The positions of the Triggers that were appended.
        recent: The last Triggers, in time order.
        pending: What waits for the next Eval, in time order.
        fan_outs: Deliveries whose answers decide whether an Eval is needed.
        running: The Eval that runs now.
        evals: How many were ever started.
        decisions: The last Decisions, oldest first.
        subscriptions: The Tickets on this Thread, ended ones too (THR-4).
        dropped: The last Tickets that were taken off this Thread; news of them is ignored.
        correlated: Threads that share a Trigger with this one: context, never a route (COR-1, COR-2).
    """

    key: ThreadKey
    taken: Positions = Positions()
    recent: tuple[TriggerRef, ...] = ()
    pending: tuple[Pending, ...] = ()
    fan_outs: tuple[FanOut, ...] = ()
    running: RunningEval | None = None
    evals: int = 0
    decisions: tuple[DecisionSummary, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    dropped: tuple[TicketId, ...] = ()
    correlated: tuple[ThreadKey, ...] = ()

    def subscription_of(self, ticket: TicketId) -> Subscription | None:
        """Return the Subscription of ``ticket``, if it has one here."""
        return next((sub for sub in self.subscriptions if sub.ticket == ticket), None)
