"""Durable consumers, and following a stream without one."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from nats.aio.msg import Msg

from remit.bus import cloudevents
from remit.bus.clock import Clock
from remit.bus.errors import BusUnavailable, NotAnEvent, StreamMismatch
from remit.bus.message import Delivery, Message
from remit.bus.nats.connection import Connection
from remit.bus.nats.puller import Puller
from remit.bus.nats.retrying import tries
from remit.bus.nats.session import Forbidden, Lost, NoResponders
from remit.bus.ports import Consumer
from remit.telemetry.logs import logger

_STREAM_NOT_FOUND = 10059
_TRY_AGAIN = 503
_ABANDONED = timedelta(minutes=5)
_FOLLOW_WINDOW = 512
_LONGEST_REASON = 500


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a delivery stands, from its reply subject."""

    attempt: int
    sequence: int
    consumer_sequence: int
    stored_at: datetime


class NatsConsumers:
    """Durable consumers; see `remit.bus.ports.Consumers`.

    Args:
        connection: To the server.
        clock: Tells when the server was heard.
        rng: Spreads tries.
    """

    def __init__(self, connection: Connection, clock: Clock, rng: random.Random) -> None:
        self._connection = connection
        self._clock = clock
        self._rng = rng
        self._log = logger("remit.bus.nats")

    async def ensure_consumer(self, consumer: Consumer) -> None:
        """Create the consumer, or bring an existing one up to date; its place is kept."""
        await self._create(
            consumer.stream,
            f"{consumer.stream}.{consumer.name}.{consumer.subject}",
            {
                "durable_name": consumer.name,
                "name": consumer.name,
                "filter_subject": consumer.subject,
                "deliver_policy": "all",
                "ack_policy": "explicit",
                "ack_wait": _nanoseconds(consumer.ack_wait),
                "max_ack_pending": consumer.max_ack_pending,
                # Attempts are counted by workers, which keep what they give up on.
                "max_deliver": -1,
            },
        )

    async def pull(self, consumer: Consumer, *, window: int) -> NatsPull:
        """Start to receive."""
        await self.ensure_consumer(consumer)
        pull = NatsPull(self, self._connection, consumer, window, self._clock, self._rng)
        pull.start()
        return pull

    async def follow(self, stream: str, subject: str, *, after: int = 0) -> AsyncIterator[Delivery]:
        """Yield messages past ``after``, in order, each once, until the bus is closed."""
        arrived: asyncio.Queue[Delivery | None] = asyncio.Queue()
        last = after
        expected = 1
        # A stream that cannot be followed is told at once; one that cannot answer is waited for.
        found: str | None = None
        with suppress(BusUnavailable):
            found = await self._follower(stream, subject, after)

        async def find() -> str:
            nonlocal expected, found
            if found is None:
                expected = 1
                found = await self._follower(stream, subject, last)
            name, found = found, None
            return name

        def receive(message: Msg) -> None:
            nonlocal last, expected
            place = _place(message.reply)
            if place.sequence <= last:
                return  # A request of before the pull was renewed.
            if place.consumer_sequence != expected:
                puller.restart("a message is missing in between")
                return
            expected += 1
            last = place.sequence
            try:
                arrived.put_nowait(_delivery(stream, message, place))
            except NotAnEvent as error:
                self._log.error("skipped a message", reason=str(error))

        puller = Puller(
            self._connection,
            stream=stream,
            label=f"follow {subject}",
            find=find,
            room=lambda: _FOLLOW_WINDOW - arrived.qsize(),
            receive=receive,
            window=_FOLLOW_WINDOW,
            clock=self._clock,
            rng=self._rng,
        )
        puller.on_end = lambda: arrived.put_nowait(None)
        puller.start()
        try:
            while (delivery := await arrived.get()) is not None:
                yield delivery
                if arrived.empty():
                    await puller.refill()
        finally:
            await puller.stop()

    async def _follower(self, stream: str, subject: str, after: int) -> str:
        told = await self._create(
            stream,
            stream,
            {
                "filter_subject": subject,
                "deliver_policy": "by_start_sequence",
                "opt_start_seq": after + 1,
                "ack_policy": "none",
                "inactive_threshold": _nanoseconds(_ABANDONED),
                "mem_storage": True,
                "num_replicas": 1,
            },
        )
        name: str = told["name"]
        return name

    async def _create(self, stream: str, path: str, config: Mapping[str, Any]) -> dict[str, Any]:
        request = {"stream_name": stream, "config": config, "action": ""}
        reason = ""
        async for seconds in tries(self._rng):
            try:
                told = await self._connection.api(
                    f"CONSUMER.CREATE.{path}", request, within=seconds
                )
            except (Lost, TimeoutError, NoResponders) as error:
                reason = str(error) or "no answer"
                continue
            except Forbidden as error:
                raise StreamMismatch(stream, str(error)) from error
            refusal = told.get("error")
            if refusal is None:
                return told
            if refusal["err_code"] == _STREAM_NOT_FOUND:
                raise StreamMismatch(stream, "it is missing")
            if refusal["code"] != _TRY_AGAIN:
                subject = config["filter_subject"]
                raise StreamMismatch(stream, f"no consumer for {subject}: {refusal['description']}")
            reason = refusal["description"]
        raise BusUnavailable(f"make a consumer on stream {stream}", reason)


class NatsPull:
    """The deliveries of one durable consumer to this process; see `remit.bus.ports.Pull`."""

    def __init__(
        self,
        consumers: NatsConsumers,
        connection: Connection,
        consumer: Consumer,
        window: int,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self._connection = connection
        self._consumers = consumers
        self._consumer = consumer
        self._window = window
        self._held: set[NatsTaken] = set()
        self._arrived: list[NatsTaken] = []
        self._waiting = asyncio.Event()
        self._stopped = False
        self._puller = Puller(
            connection,
            stream=consumer.stream,
            label=consumer.name,
            find=self._find,
            room=lambda: self._window - len(self._held),
            receive=self._receive,
            window=window,
            clock=clock,
            rng=rng,
        )
        self._puller.on_end = self._waiting.set

    @property
    def heard_at(self) -> datetime:
        """When the server was last heard on this pull."""
        return self._puller.heard_at

    def start(self) -> None:
        """Start to receive; returns at once."""
        self._puller.start()

    async def take(self) -> Sequence[NatsTaken]:
        """Wait for deliveries and return those that are there; none once stopped or closed."""
        while not self._arrived and not self._stopped and not self._connection.closed:
            self._waiting.clear()
            await self._waiting.wait()
        return self._hand_out()

    async def stop(self) -> Sequence[NatsTaken]:
        """Ask for nothing more; return what had arrived and was not taken."""
        self._stopped = True
        await self._puller.stop()
        left = self._hand_out()
        self._waiting.set()
        return left

    async def settle(self, taken: NatsTaken, answer: bytes) -> None:
        """Send an answer that makes room for another delivery."""
        self._held.discard(taken)
        await self.answer(taken, answer)
        await self._puller.refill()

    async def answer(self, taken: NatsTaken, answer: bytes) -> None:
        """Send an answer. One that does not get through means that the delivery comes again."""
        session = self._connection.current
        if session is not None:
            try:
                await session.send(taken.reply, answer)
            except Lost:
                return

    async def _find(self) -> str:
        await self._consumers.ensure_consumer(self._consumer)
        return self._consumer.name

    def _hand_out(self) -> list[NatsTaken]:
        taken, self._arrived = self._arrived, []
        return taken

    def _receive(self, message: Msg) -> None:
        taken = NatsTaken(self, self._consumer.stream, message)
        self._held.add(taken)
        self._arrived.append(taken)
        self._waiting.set()


class NatsTaken:
    """A delivery in work; see `remit.bus.ports.Taken`."""

    __slots__ = ("_pull", "delivery", "fault", "reply")

    def __init__(self, pull: NatsPull, stream: str, message: Msg) -> None:
        self._pull = pull
        self.reply = message.reply
        self.fault: NotAnEvent | None = None
        place = _place(message.reply)
        try:
            self.delivery = _delivery(stream, message, place)
        except NotAnEvent as fault:
            self.fault = fault
            self.delivery = _unreadable(stream, message, place)

    async def working(self) -> None:
        """Start ``ack_wait`` anew."""
        await self._pull.answer(self, b"+WPI")

    async def done(self) -> None:
        """Settle for good."""
        await self._pull.settle(self, b"+ACK")

    async def put_back(self, delay: timedelta) -> None:
        """Settle; it comes again after ``delay``."""
        answer = b'-NAK {"delay":%d}' % _nanoseconds(delay) if delay else b"-NAK"
        await self._pull.settle(self, answer)

    async def drop(self, reason: str) -> None:
        """Settle for good, with the reason in the server's advisory."""
        told = " ".join(reason[:_LONGEST_REASON].split())
        await self._pull.settle(self, f"+TERM {told}".encode(errors="replace"))


def _place(reply: str) -> _Place:
    # $JS.ACK.<stream>.<consumer>.<delivered>.<seq>.<consumer seq>.<time>.<pending>, or with
    # <domain>.<account> after ACK and a random token at the end.
    tokens = reply.split(".")
    first = 4 if len(tokens) == 9 else 6
    delivered, sequence, consumer_sequence, nanoseconds = map(int, tokens[first : first + 4])
    stored_at = datetime.fromtimestamp(nanoseconds // 10**9, UTC) + timedelta(
        microseconds=nanoseconds % 10**9 // 1000
    )
    return _Place(delivered, sequence, consumer_sequence, stored_at)


def _delivery(stream: str, message: Msg, place: _Place) -> Delivery:
    return Delivery(
        message=cloudevents.decode(message.subject, message.headers, message.data),
        stream=stream,
        sequence=place.sequence,
        stored_at=place.stored_at,
        attempt=place.attempt,
    )


def _unreadable(stream: str, message: Msg, place: _Place) -> Delivery:
    return Delivery(
        message=Message(
            subject=message.subject,
            id=f"{stream}:{place.sequence}",
            type="",
            source="",
            data=message.data,
            headers=dict(message.headers or {}),
        ),
        stream=stream,
        sequence=place.sequence,
        stored_at=place.stored_at,
        attempt=place.attempt,
    )


def _nanoseconds(span: timedelta) -> int:
    return round(span / timedelta(microseconds=1)) * 1000
