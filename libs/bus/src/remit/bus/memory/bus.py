"""The bus in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import datetime

from opentelemetry.trace import TracerProvider

from remit.bus import cloudevents, tracing
from remit.bus.clock import Clock, SystemClock
from remit.bus.errors import BusUnavailable, Conflict, NotAnEvent, PublishRefused, StreamMismatch
from remit.bus.memory.consumers import MemoryPull, Place
from remit.bus.memory.store import Entry, Store
from remit.bus.message import Delivery, Message, Stored
from remit.bus.ports import Consumer
from remit.bus.streams import STREAMS, Stream
from remit.bus.subjects import matches
from remit.bus.timers import holder, unique_id
from remit.telemetry.logs import logger


class MemoryBus:
    """A `remit.bus.ports.Bus` whose streams live in this process.

    Args:
        streams: The streams there are.
        clock: Tells when timers fire, deliveries come back and messages grow old.
        max_payload: Bytes that a message may have.
        tracer_provider: Where spans go; the process's own unless given.
    """

    def __init__(
        self,
        *,
        streams: Iterable[Stream] = STREAMS,
        clock: Clock | None = None,
        max_payload: int = 1024 * 1024,
        tracer_provider: TracerProvider | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._tracer = tracing.tracer_of(tracer_provider)
        self._max_payload = max_payload
        self._stores = {stream.name: Store(stream) for stream in streams}
        self._places: dict[tuple[str, str], Place] = {}
        self._listeners: dict[asyncio.Queue[Message | None], str] = {}
        self._waiters: set[asyncio.Future[None]] = set()
        self._closed = False
        self._log = logger("remit.bus.memory")

    # -- publishing ---------------------------------------------------------------------

    async def publish(self, message: Message) -> Stored:
        """Store a message; see `remit.bus.ports.Publisher`."""
        await asyncio.sleep(0)
        return self._publish(message)

    async def publish_all(self, messages: Sequence[Message]) -> list[Stored]:
        """Store several messages, in order; one that is refused does not stop the others."""
        await asyncio.sleep(0)
        stored: list[Stored] = []
        refused: list[PublishRefused] = []
        for message in messages:
            try:
                stored.append(self._publish(message))
            except PublishRefused as error:
                refused.append(error)
        if refused:
            raise refused[0]
        return stored

    async def create(self, message: Message, *, scope: str | None = None) -> Stored:
        """Store a message only if nothing is on ``scope`` yet."""
        await asyncio.sleep(0)
        store = self._store_for(message.subject)
        last = store.last(scope or message.subject)
        if last is not None:
            return Stored(stream=store.stream.name, sequence=last.sequence, duplicate=True)
        return self._publish(message)

    async def replace(self, message: Message, *, expected: int) -> Stored:
        """Store a message only if the last one on its subject has sequence ``expected``."""
        await asyncio.sleep(0)
        last = self._store_for(message.subject).last(message.subject)
        if (last.sequence if last else 0) != expected:
            raise Conflict(message.subject, expected)
        return self._publish(message)

    async def cancel(self, subject: str) -> None:
        """Remove what is stored on ``subject``."""
        await asyncio.sleep(0)
        self._store_for(subject).purge(subject)

    # -- reading ------------------------------------------------------------------------

    async def last(self, stream: str, subject: str, *, leader: bool = False) -> Delivery | None:  # noqa: ARG002
        """Return the last message on ``subject``. There are no replicas to be stale."""
        await asyncio.sleep(0)
        entry = self._store(stream).last(subject)
        return self.delivery(stream, entry) if entry else None

    async def at(self, stream: str, sequence: int) -> Delivery | None:
        """Return the message at ``sequence``."""
        await asyncio.sleep(0)
        entry = self._store(stream).get(sequence)
        return self.delivery(stream, entry) if entry else None

    async def next(self, stream: str, subject: str, *, after: int) -> Delivery | None:
        """Return the first message on ``subject`` past ``after``."""
        await asyncio.sleep(0)
        entry = next(self._store(stream).after(subject, after), None)
        return self.delivery(stream, entry) if entry else None

    async def history(
        self, stream: str, subject: str, *, after: int = 0
    ) -> AsyncIterator[Delivery]:
        """Yield the stored messages on ``subject`` past ``after``, then stop."""
        await asyncio.sleep(0)
        for entry in list(self._store(stream).after(subject, after)):
            delivery = self._readable(stream, entry)
            if delivery is not None:
                yield delivery

    async def follow(self, stream: str, subject: str, *, after: int = 0) -> AsyncIterator[Delivery]:
        """Yield messages on ``subject`` past ``after`` until the bus is closed."""
        while not self._closed:
            entry = next(self._store(stream).after(subject, after), None)
            if entry is None:
                await self.wait_for_change(stream, None)
                continue
            after = entry.sequence
            delivery = self._readable(stream, entry)
            if delivery is not None:
                yield delivery

    # -- consumers ----------------------------------------------------------------------

    async def ensure_consumer(self, consumer: Consumer) -> None:
        """Create the consumer, or take over its new settings and keep its place."""
        await asyncio.sleep(0)
        store = self._store(consumer.stream)
        for (stream, name), other in self._places.items():
            if stream != consumer.stream or name == consumer.name:
                continue
            if store.stream.retention == "workqueue" and _overlap(
                other.consumer.subject, consumer.subject
            ):
                raise StreamMismatch(
                    stream, f"consumer {name} already has some of {consumer.subject}"
                )
        place = self._places.setdefault((consumer.stream, consumer.name), Place(consumer, store))
        place.consumer = consumer

    async def pull(self, consumer: Consumer, *, window: int) -> MemoryPull:
        """Start to receive; the consumer is created if it is missing."""
        await self.ensure_consumer(consumer)
        return MemoryPull(self, self._places[consumer.stream, consumer.name], window)

    # -- the rest -----------------------------------------------------------------------

    def ready(self) -> bool:
        """Say whether it is open."""
        return not self._closed

    async def subscribe(self, subject: str) -> AsyncIterator[Message]:
        """Listen to ``subject`` from now on, until the bus is closed."""
        heard: asyncio.Queue[Message | None] = asyncio.Queue()
        self._listeners[heard] = subject
        return self._listen(heard)

    async def close(self) -> None:
        """Wake everybody who waits, and take nothing more."""
        self._closed = True
        self.changed()
        for heard in self._listeners:
            heard.put_nowait(None)

    # -- for tests ----------------------------------------------------------------------

    def now(self) -> datetime:
        """Return the time on this bus's clock."""
        return self._clock.now()

    def stored(self, pattern: str) -> list[Delivery]:
        """Return what is stored on a subject or pattern, stream by stream."""
        self._catch_up()
        return [
            self.delivery(name, entry)
            for name, store in self._stores.items()
            for entry in store.after(pattern, 0)
        ]

    def busy(self) -> bool:
        """Say whether any consumer has something in work or waiting to be taken now."""
        self._catch_up()
        now = self.now()
        return any(place.busy(now) for place in self._places.values())

    def store_raw(self, subject: str, headers: dict[str, str], data: bytes) -> int:
        """Store what no `Message` could say, as a foreign publisher might; return its place."""
        store = self._store_for(subject)
        sequence = store.append(subject, headers, data, self.now()).sequence
        self.changed()
        return sequence

    # -- inside -------------------------------------------------------------------------

    def delivery(self, stream: str, entry: Entry, attempt: int = 0) -> Delivery:
        """Read a stored message."""
        return Delivery(
            message=cloudevents.decode(entry.subject, entry.headers, entry.data),
            stream=stream,
            sequence=entry.sequence,
            stored_at=entry.at,
            attempt=attempt,
        )

    def _readable(self, stream: str, entry: Entry) -> Delivery | None:
        try:
            return self.delivery(stream, entry)
        except NotAnEvent as error:
            self._log.error("skipped a message", reason=str(error))
            return None

    def changed(self) -> None:
        """Wake everybody who waits for something to happen."""
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait_for_change(self, stream: str, due: datetime | None) -> None:
        """Wait until something happened, or the time has come for ``due`` or a timer."""
        timer = self._store(stream).next_timer()
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        times = [time for time in (due, timer) if time is not None]
        if not times:
            await waiter
            return
        seconds = (min(times) - self.now()).total_seconds()
        sleeping = asyncio.ensure_future(self._clock.sleep(max(seconds, 0)))
        try:
            await asyncio.wait({waiter, sleeping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._waiters.discard(waiter)
            sleeping.cancel()
        self._catch_up()

    def _publish(self, message: Message) -> Stored:
        store = self._store_for(message.subject)
        with tracing.sending(self._tracer, message) as traced:
            headers = cloudevents.encode(traced)
        if cloudevents.size(headers, message.data) > self._max_payload:
            raise PublishRefused(
                message.subject, 0, f"the message is larger than {self._max_payload} bytes"
            )
        now = self.now()
        unique = unique_id(message)
        seen = store.seen(unique, now)
        if seen is not None:
            return Stored(stream=store.stream.name, sequence=seen, duplicate=True)
        if message.deliver_at is None:
            entry = store.append(message.subject, headers, message.data, now)
        else:
            entry = store.append(
                self._holder(message, store),
                headers,
                message.data,
                now,
                target=message.subject,
                due=message.deliver_at,
            )
        store.remember(unique, entry.sequence, now)
        for heard, pattern in self._listeners.items():
            if matches(pattern, entry.subject):
                heard.put_nowait(traced)
        self.changed()
        return Stored(stream=store.stream.name, sequence=entry.sequence)

    def _holder(self, message: Message, store: Store) -> str:
        if not store.stream.schedules:
            raise PublishRefused(message.subject, 0, "its stream holds no timers")
        return holder(message)

    def _store_for(self, subject: str) -> Store:
        for store in self._stores.values():
            if any(matches(pattern, subject) for pattern in store.stream.subjects):
                return self._store(store.stream.name)
        raise PublishRefused(subject, 0, "no stream stores this subject")

    def _store(self, stream: str) -> Store:
        if self._closed:
            raise BusUnavailable("use a closed bus")
        self._catch_up()
        try:
            return self._stores[stream]
        except KeyError:
            raise StreamMismatch(stream, "it is missing") from None

    def _catch_up(self) -> None:
        now = self.now()
        for store in self._stores.values():
            store.expire(now)
            for timer in store.fire(now):
                store.append(timer.target or "", timer.headers, timer.data, now)
                self.changed()

    async def _listen(self, heard: asyncio.Queue[Message | None]) -> AsyncIterator[Message]:
        try:
            while not self._closed:
                message = await heard.get()
                if message is None:
                    return
                yield message
        finally:
            self._listeners.pop(heard, None)


def _overlap(one: str, other: str) -> bool:
    return matches(one, other.replace("*", "x").replace(">", "x")) or matches(
        other, one.replace("*", "x").replace(">", "x")
    )
