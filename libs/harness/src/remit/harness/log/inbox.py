"""What an agent is still to read: messages that were taken in and not yet taken up."""

from __future__ import annotations

from remit.harness.log.errors import RowError
from remit.harness.log.event import Event
from remit.harness.log.messages import UserMessage
from remit.harness.log.payloads import InboxSpliced


class Inbox:
    """The waiting messages, by what they wait for; kept up to date as events are added."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[UserMessage]] = {}

    def add(self, event: Event) -> None:
        """Take note of one event.

        Raises:
            RowError: It takes out what is not there.
        """
        splice = event.payload
        if not isinstance(splice, InboxSpliced):
            return
        waiting = self._waiting.setdefault(splice.target, [])
        end = splice.start + (splice.removed_count or 0)
        if end > len(waiting):
            raise RowError(f"it takes out message {end - 1} of {len(waiting)} that wait")
        waiting[splice.start : end] = splice.inserted

    def withdrawals(self) -> list[InboxSpliced]:
        """What must be recorded so that nothing waits any more, as cancelled."""
        return [
            InboxSpliced(
                target="next-step" if target == "next-step" else "next-turn",
                start=0,
                removed_count=len(waiting),
                inserted=(),
                outcome="canceled",
            )
            for target, waiting in self._waiting.items()
            if waiting
        ]
