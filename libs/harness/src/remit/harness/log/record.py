"""A session's events in memory, checked against the format's rules as they come (LOG-1)."""

from __future__ import annotations

from typing import TypeVar

from remit.harness.log.event import Event
from remit.harness.log.inbox import Inbox
from remit.harness.log.json_text import JsonObject
from remit.harness.log.lifecycle import Lifecycle
from remit.harness.log.payloads import Header, Payload
from remit.harness.log.surface import Surface

P = TypeVar("P", bound=Payload)


class Record:
    """A header and the events after it.

    Attributes:
        header: Whose session it is.
        header_row: The header as it is on disk.
        lifecycle: Where its turns, steps and tool calls stand.
        surface: Which events are the conversation.
        inbox: What is still to be read.
    """

    def __init__(self, header: Header, header_row: JsonObject) -> None:
        self.header = header
        self.header_row = header_row
        self.lifecycle = Lifecycle()
        self.surface = Surface()
        self.inbox = Inbox()
        self._events: list[Event] = []
        self._latest: dict[str, Event] = {}

    @property
    def events(self) -> tuple[Event, ...]:
        """All events so far."""
        return tuple(self._events)

    @property
    def next_seq(self) -> int:
        """The place the next event takes."""
        return len(self._events)

    def add(self, event: Event) -> None:
        """Take in the next event.

        Raises:
            RowError: The event may not come now; the record can then no longer be used, because
                some of its parts may know of it.
        """
        self.lifecycle.add(event)
        self.surface.add(event)
        self.inbox.add(event)
        self._events.append(event)
        self._latest[event.type] = event

    def last(self) -> Event | None:
        """The newest event."""
        return self._events[-1] if self._events else None

    def latest_event(self, kind: type[Payload]) -> Event | None:
        """The newest event of one type."""
        return self._latest.get(kind.TYPE)

    def latest(self, kind: type[P]) -> P | None:
        """The newest event's data of one type: for types of which the last one counts."""
        event = self._latest.get(kind.TYPE)
        return event.payload if event is not None and isinstance(event.payload, kind) else None
