"""Commands that a Ticket will not carry out."""

from __future__ import annotations

from remit.domain.ids import (
    TicketId,
)
from remit.domain.trigger import TriggerRef


class TicketRefusal(Exception):
    """A command that a Ticket will not carry out.

    Attributes:
        ticket: The Ticket.
    """

    def __init__(self, ticket: TicketId, message: str) -> None:
        super().__init__(f"{ticket}: {message}")
        self.ticket = ticket


class TicketUnknown(TicketRefusal):
    """Only an Eval's accept creates a Ticket (TKT-1), and none created this one."""

    def __init__(self, ticket: TicketId, command: str) -> None:
        super().__init__(ticket, f"there is no such Ticket, so it cannot take {command}")


class TicketHistoryNeeded(TicketRefusal):
    """Only the Ticket's history can tell whether it took this Trigger.

    Attributes:
        ref: The Trigger.
    """

    def __init__(self, ticket: TicketId, ref: TriggerRef) -> None:
        super().__init__(ticket, f"no longer remembers whether it took {ref.id}")
        self.ref = ref


class MessageTooEarly(TicketRefusal):
    """An earlier message of the Assignment is still under way; this one waits for it.

    Attributes:
        message: Its number.
        heard: The last one that was taken.
    """

    def __init__(self, ticket: TicketId, message: int, heard: int) -> None:
        super().__init__(ticket, f"message {message} came before message {heard + 1}")
        self.message = message
        self.heard = heard
