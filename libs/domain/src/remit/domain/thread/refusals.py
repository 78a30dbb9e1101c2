"""Commands that a Thread will not carry out."""

from __future__ import annotations

from remit.domain.ids import (
    DecisionId,
    ThreadKey,
    TicketId,
)
from remit.domain.subscription import SubscriptionKind
from remit.domain.trigger import TriggerRef


class ThreadRefusal(Exception):
    """A command that a Thread will not carry out."""


class HistoryNeeded(ThreadRefusal):
    """Only the Thread's history can tell whether it has this Trigger.

    Attributes:
        thread: The Thread.
        ref: The Trigger.
    """

    def __init__(self, thread: ThreadKey, ref: TriggerRef) -> None:
        super().__init__(f"{thread} no longer remembers whether it took {ref.id}")
        self.thread = thread
        self.ref = ref


class RequestMissing(ThreadRefusal):
    """A Decision starts or stops work, but the Trigger that asks for it is not at hand.

    Attributes:
        thread: The Thread.
        decision: The Decision.
    """

    def __init__(self, thread: ThreadKey, decision: DecisionId) -> None:
        super().__init__(f"{decision} came without the Trigger that asks for it")
        self.thread = thread
        self.decision = decision


class SubscriptionKept(ThreadRefusal):
    """An Executor may not drop this Subscription (SUB-8).

    Attributes:
        thread: The Thread.
        ticket: The Ticket.
        kind: Why not: it started there, or a Source made it follow.
    """

    def __init__(self, thread: ThreadKey, ticket: TicketId, kind: SubscriptionKind) -> None:
        super().__init__(f"{ticket} cannot leave {thread}: its Subscription is of kind {kind}")
        self.thread = thread
        self.ticket = ticket
        self.kind = kind
