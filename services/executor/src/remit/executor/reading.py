"""Telling a Ticket that its agent has read its Inputs: once, and before anything the agent says.

Said when the agent shows that it works on them, not when they were sent: an Input that an agent never
saw stays the Ticket's (field report C1), and a question closes only with an answer that was read
(field report C14). Said before the agent's own words, because with its final report the Assignment
ends and hears nothing more.
"""

from __future__ import annotations

from remit.domain.ids import AssignmentId
from remit.domain.ticket import TakeInput
from remit.executor.speaking import Spokesman


class Reading:
    """What was read of a Ticket's Inputs.

    Args:
        spokesman: Says it to the Ticket.
        delivered: What the Ticket knows already.
    """

    def __init__(self, spokesman: Spokesman, *, delivered: int) -> None:
        self._spokesman = spokesman
        self._told = delivered
        self._giving = delivered
        self._trace: str | None = None

    def begin(self, number: int, trace: str | None) -> None:
        """Note that Inputs up to ``number`` are being given, on ``trace``."""
        self._giving = max(number, self._giving)
        self._trace = trace

    async def read(self) -> None:
        """Tell the Ticket that the agent has read what is being given, unless it knows.

        Raises:
            Unheard: It could not be told.
        """
        number = self._giving
        if number <= self._told:
            return
        # Whoever speaks after this speaks after it: what is said keeps the order it was asked in.
        self._told = number

        def take(assignment: AssignmentId, message: int) -> TakeInput:
            return TakeInput(assignment=assignment, message=message, number=number)

        await self._spokesman.say(take, trace=self._trace)
