"""One stream in memory."""

from __future__ import annotations

import heapq
from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from remit.bus.streams import Stream
from remit.bus.subjects import matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A stored message.

    Attributes:
        sequence: Its place.
        subject: Its subject.
        headers: Its headers, as sent.
        data: Its body.
        at: When it was stored.
        target: For a timer: where it goes when it fires.
        due: For a timer: when it fires.
    """

    sequence: int
    subject: str
    headers: Mapping[str, str]
    data: bytes
    at: datetime
    target: str | None = None
    due: datetime | None = None


class Store:
    """The messages of one stream, by sequence and by subject."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.last_sequence = 0
        self._entries: dict[int, Entry] = {}
        self._order: list[int] = []
        self._by_subject: dict[str, list[int]] = {}
        self._subjects: list[str] = []
        self._ids: dict[str, tuple[int, datetime]] = {}
        self._timers: list[tuple[datetime, int]] = []

    def append(
        self,
        subject: str,
        headers: Mapping[str, str],
        data: bytes,
        now: datetime,
        *,
        target: str | None = None,
        due: datetime | None = None,
    ) -> Entry:
        """Store a message; a timer takes the place of the one its subject holds."""
        if target is not None:
            self.purge(subject)
        self.last_sequence += 1
        entry = Entry(
            sequence=self.last_sequence,
            subject=subject,
            headers=headers,
            data=data,
            at=now,
            target=target,
            due=due,
        )
        self._entries[entry.sequence] = entry
        self._order.append(entry.sequence)
        if subject not in self._by_subject:
            self._by_subject[subject] = []
            insort(self._subjects, subject)
        kept = self._by_subject[subject]
        kept.append(entry.sequence)
        if due is not None:
            heapq.heappush(self._timers, (due, entry.sequence))
        bound = self.stream.max_per_subject
        if bound is not None and len(kept) > bound:
            self.remove(kept[0])
        return entry

    def remember(self, message_id: str, sequence: int, now: datetime) -> None:
        """Remember an id for the duplicate window."""
        self._ids[message_id] = (sequence, now)

    def seen(self, message_id: str, now: datetime) -> int | None:
        """Return the sequence that an id was stored at, within the duplicate window."""
        known = self._ids.get(message_id)
        if known is None or now - known[1] >= self.stream.duplicate_window:
            return None
        return known[0]

    def expire(self, now: datetime) -> None:
        """Forget what is too old."""
        age = self.stream.max_age
        if age is None:
            return
        while self._entries:
            first = next(iter(self._entries.values()))
            if now - first.at < age:
                return
            self.remove(first.sequence)

    def fire(self, now: datetime) -> Iterator[Entry]:
        """Take out the timers that are due, in order."""
        while self._timers and self._timers[0][0] <= now:
            _, sequence = heapq.heappop(self._timers)
            entry = self._entries.get(sequence)
            if entry is not None:
                self.remove(sequence)
                yield entry

    def next_timer(self) -> datetime | None:
        """Return when the next timer is due."""
        while self._timers and self._timers[0][1] not in self._entries:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def get(self, sequence: int) -> Entry | None:
        """Return the message at a place, if it is still there."""
        return self._entries.get(sequence)

    def last(self, pattern: str) -> Entry | None:
        """Return the last message on a subject or pattern."""
        places = [self._by_subject[subject][-1] for subject in self._subjects_under(pattern)]
        return self._entries[max(places)] if places else None

    def after(self, pattern: str, sequence: int) -> Iterator[Entry]:
        """Yield the messages on a subject or pattern past a place, as they are now."""
        places = self._by_subject.get(pattern, self._order)
        for place in places[bisect_right(places, sequence) :]:
            entry = self._entries.get(place)
            if entry is not None and matches(pattern, entry.subject):
                yield entry

    def purge(self, pattern: str) -> None:
        """Remove every message on a subject or pattern."""
        for subject in self._subjects_under(pattern):
            for sequence in list(self._by_subject[subject]):
                self.remove(sequence)

    def remove(self, sequence: int) -> None:
        """Remove one message, if it is there."""
        entry = self._entries.pop(sequence, None)
        if entry is None:
            return
        kept = self._by_subject[entry.subject]
        kept.remove(sequence)
        if not kept:
            del self._by_subject[entry.subject]
            self._subjects.pop(bisect_right(self._subjects, entry.subject) - 1)
        if len(self._order) > 64 and len(self._order) > 2 * len(self._entries):
            self._order = sorted(self._entries)

    def _subjects_under(self, pattern: str) -> list[str]:
        if "*" not in pattern and ">" not in pattern:
            return [pattern] if pattern in self._by_subject else []
        literal = pattern[: min(i for i in (pattern.find("*"), pattern.find(">")) if i >= 0)]
        first = bisect_right(self._subjects, literal)
        found = []
        for subject in self._subjects[first:]:
            if not subject.startswith(literal):
                break
            if matches(pattern, subject):
                found.append(subject)
        return found
