"""Durable consumers in memory."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from remit.bus.errors import NotAnEvent
from remit.bus.memory.store import Entry, Store
from remit.bus.message import Delivery, Message
from remit.bus.ports import Consumer

if TYPE_CHECKING:
    from remit.bus.memory.bus import MemoryBus


class Place:
    """A durable consumer's place in its stream, shared by every pull on it."""

    def __init__(self, consumer: Consumer, store: Store) -> None:
        self.consumer = consumer
        self._store = store
        self._seen = 0
        self._attempts: dict[int, int] = {}
        self._in_work: dict[int, datetime] = {}
        self._returning: list[tuple[datetime, int]] = []

    def offer(self, room: int, now: datetime) -> list[tuple[Entry, int]]:
        """Hand out up to ``room`` deliveries, those that came back first."""
        self._expire(now)
        offered: list[tuple[Entry, int]] = []
        while len(offered) < room:
            entry = self._returned(now) or self._fresh()
            if entry is None:
                break
            attempt = self._attempts.get(entry.sequence, 0) + 1
            self._attempts[entry.sequence] = attempt
            self._in_work[entry.sequence] = now + self.consumer.ack_wait
            offered.append((entry, attempt))
        return offered

    def next_due(self) -> datetime | None:
        """Return when a delivery comes back by itself."""
        times = [*self._in_work.values(), *(when for when, _ in self._returning)]
        return min(times, default=None)

    def busy(self, now: datetime) -> bool:
        """Say whether anything is in work or waits to be handed out now."""
        self._expire(now)
        return (
            bool(self._in_work)
            or any(when <= now for when, _ in self._returning)
            or next(self._store.after(self.consumer.subject, self._seen), None) is not None
        )

    def working(self, sequence: int, now: datetime) -> None:
        """Start ``ack_wait`` anew."""
        if sequence in self._in_work:
            self._in_work[sequence] = now + self.consumer.ack_wait

    def put_back(self, sequence: int, when: datetime) -> None:
        """Hand the delivery out again at ``when``."""
        if self._in_work.pop(sequence, None) is not None:
            heapq.heappush(self._returning, (when, sequence))

    def settle(self, sequence: int) -> None:
        """Never hand it out again; a work queue drops the message."""
        if self._attempts.pop(sequence, None) is None:
            return
        self._in_work.pop(sequence, None)
        self._returning = [one for one in self._returning if one[1] != sequence]
        heapq.heapify(self._returning)
        if self._store.stream.retention == "workqueue":
            self._store.remove(sequence)

    def _expire(self, now: datetime) -> None:
        for sequence, deadline in list(self._in_work.items()):
            if deadline <= now:
                self.put_back(sequence, deadline)

    def _returned(self, now: datetime) -> Entry | None:
        while self._returning and self._returning[0][0] <= now:
            _, sequence = heapq.heappop(self._returning)
            entry = self._store.get(sequence)
            if entry is not None:
                return entry
            self._attempts.pop(sequence, None)
        return None

    def _fresh(self) -> Entry | None:
        if len(self._attempts) >= self.consumer.max_ack_pending:
            return None
        entry = next(self._store.after(self.consumer.subject, self._seen), None)
        if entry is not None:
            self._seen = entry.sequence
        return entry


class MemoryTaken:
    """A delivery in work."""

    def __init__(self, pull: MemoryPull, entry: Entry, attempt: int) -> None:
        self._pull = pull
        self._sequence = entry.sequence
        self.fault: NotAnEvent | None = None
        try:
            self.delivery = pull.bus.delivery(pull.place.consumer.stream, entry, attempt)
        except NotAnEvent as fault:
            self.fault = fault
            self.delivery = Delivery(
                message=Message(
                    subject=entry.subject,
                    id=f"{pull.place.consumer.stream}:{entry.sequence}",
                    type="",
                    source="",
                    data=entry.data,
                    headers=dict(entry.headers),
                ),
                stream=pull.place.consumer.stream,
                sequence=entry.sequence,
                stored_at=entry.at,
                attempt=attempt,
            )

    async def working(self) -> None:
        """Start ``ack_wait`` anew."""
        self._pull.place.working(self._sequence, self._pull.bus.now())

    async def done(self) -> None:
        """Settle for good."""
        self._pull.settled(self)
        self._pull.place.settle(self._sequence)
        self._pull.bus.changed()

    async def put_back(self, delay: timedelta) -> None:
        """Settle; it comes again after ``delay``."""
        self._pull.settled(self)
        self._pull.place.put_back(self._sequence, self._pull.bus.now() + delay)
        self._pull.bus.changed()

    async def drop(self, reason: str) -> None:  # noqa: ARG002 - nobody listens in memory
        """Settle for good."""
        await self.done()


class MemoryPull:
    """The deliveries of one consumer to one worker."""

    def __init__(self, bus: MemoryBus, place: Place, window: int) -> None:
        self.bus = bus
        self.place = place
        self.heard_at = bus.now()
        self._window = window
        self._held: set[MemoryTaken] = set()
        self._stopped = False

    async def take(self) -> Sequence[MemoryTaken]:
        """Wait for deliveries; nothing once stopped."""
        while not self._stopped and self.bus.ready():
            now = self.heard_at = self.bus.now()
            offered = self.place.offer(self._window - len(self._held), now)
            if offered:
                taken = [MemoryTaken(self, entry, attempt) for entry, attempt in offered]
                self._held.update(taken)
                return taken
            await self.bus.wait_for_change(self.place.consumer.stream, self.place.next_due())
        return ()

    async def stop(self) -> Sequence[MemoryTaken]:
        """Ask for nothing more. Nothing arrives unasked in memory, so there is nothing to return."""
        self._stopped = True
        self.bus.changed()
        return ()

    def settled(self, taken: MemoryTaken) -> None:
        """Make room for another delivery."""
        self._held.discard(taken)
