"""Routing: which Tickets a Trigger reaches (SUB-2, SUB-3, SUB-5, SUB-6)."""

from __future__ import annotations

from collections.abc import Iterable

from remit.domain.disposition import FilterReason
from remit.domain.gate import may_enter
from remit.domain.ids import TicketId
from remit.domain.policy import Policy
from remit.domain.subscription import Standing, Subscription
from remit.domain.trigger import Trigger


def reached_by(
    trigger: Trigger, subscriptions: Iterable[Subscription], also: Iterable[TicketId] = ()
) -> tuple[TicketId, ...]:
    """Return the Tickets that ``trigger`` fans out to, each once.

    Every live subscribed Ticket, whoever sent it (SUB-2); for a person's message also the ended
    ones that it may resume (SUB-5); never a stopped one (SUB-6).

    Args:
        trigger: The Trigger.
        subscriptions: A Thread's Subscriptions.
        also: Tickets that it reaches through its other Threads.
    """
    reached = [
        subscription.ticket
        for subscription in subscriptions
        if subscription.standing is Standing.LIVE
        or (trigger.from_person and subscription.may_resume)
    ]
    return tuple(dict.fromkeys((*reached, *also)))


def filtered(trigger: Trigger, policy: Policy) -> FilterReason | None:
    """Say why ``trigger`` enters no Thread at all; None where it does."""
    if not may_enter(trigger, policy):
        return FilterReason.NOT_LISTENED_TO
    return None
