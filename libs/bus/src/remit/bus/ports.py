"""What the rest of Remit may ask of the bus.

Each port has two implementations, over NATS JetStream (`remit.bus.nats`) and in
memory (`remit.bus.memory`), and one contract suite runs over both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from remit.bus.errors import NotAnEvent
from remit.bus.message import Delivery, Message, Stored


class Publisher(Protocol):
    """Stores messages."""

    async def publish(self, message: Message) -> Stored:
        """Store a message and wait until the server has it.

        A publish that times out is tried again with the same id, with back-off and
        a bound, so that it is stored once inside the stream's duplicate window.
        With ``deliver_at`` set the message is stored as a schedule; a later publish of
        a timer with the same id replaces it.

        Raises:
            BusUnavailable: No answer within the bound; the message may have been stored.
            PublishRefused: The server will not take it (no such stream, too large).
        """
        ...

    async def publish_all(self, messages: Sequence[Message]) -> list[Stored]:
        """Store several messages with one wait; as `publish`, in order, pipelined.

        One that is refused does not stop the others; the first refusal is raised at the end.
        """
        ...

    async def create(self, message: Message, *, scope: str | None = None) -> Stored:
        """Store a message only if nothing is on ``scope`` yet (its own subject if not given).

        ``scope`` may end in ``.>``. The check is the server's and holds for as long as the
        stream keeps messages, unlike the duplicate window. Where something is there
        already, the answer says ``duplicate`` and carries the sequence of the last message there.

        Raises:
            BusUnavailable: No answer within the bound; the message may have been stored,
                in which case the next try answers ``duplicate``.
            PublishRefused: The server will not take it.
        """
        ...

    async def replace(self, message: Message, *, expected: int) -> Stored:
        """Store a message only if the last one on its subject has sequence ``expected``.

        0 means that the subject must be empty. This is the fence of every commit.

        Raises:
            Conflict: Another message came first.
            BusUnavailable: No answer in time; the message may have been stored. Not
                retried here: the caller loads and looks (`remit.bus.commits`).
            PublishRefused: The server will not take it.
        """
        ...

    async def cancel(self, subject: str) -> None:
        """Remove what is stored on ``subject``, a timer that is no longer wanted."""
        ...


class Reader(Protocol):
    """Reads single messages without a consumer."""

    async def last(self, stream: str, subject: str, *, leader: bool = False) -> Delivery | None:
        """Return the last message on ``subject`` (wildcards allowed), if there is one.

        Without ``leader`` a replica may answer, and what it says may be stale: right for a
        read that a fenced commit follows, wrong for a read that decides by itself.
        """
        ...

    async def at(self, stream: str, sequence: int) -> Delivery | None:
        """Return the message at ``sequence``, if the stream still holds it."""
        ...

    async def next(self, stream: str, subject: str, *, after: int) -> Delivery | None:
        """Return the first message on ``subject`` (wildcards allowed) past ``after``."""
        ...

    def history(self, stream: str, subject: str, *, after: int = 0) -> AsyncIterator[Delivery]:
        """Yield the stored messages on ``subject`` (wildcards allowed) past ``after``, then stop.

        What cannot be read is told in the log and skipped.
        """
        ...

    def follow(self, stream: str, subject: str, *, after: int = 0) -> AsyncIterator[Delivery]:
        """Yield messages on ``subject`` past ``after``, in order, each once, without end.

        For read models and watchers: nothing is acknowledged, a lost connection is resumed
        at the next message, what cannot be read is told in the log and skipped. Ends when the
        bus is closed. Not for work queues, whose messages go to one consumer only.
        """
        ...


@dataclass(frozen=True, slots=True)
class Done:
    """The message was worked on; it never comes again."""


@dataclass(frozen=True, slots=True)
class Later:
    """The message is put back and comes again after ``delay``.

    Attributes:
        reason: Why, in a few words, for logs.
        delay: How long to wait; None takes the consumer's back-off for the attempt.
    """

    reason: str
    delay: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Never:
    """The message cannot be worked on; it goes to the dead letters with ``reason``."""

    reason: str


Outcome = Done | Later | Never


class Handler(Protocol):
    """Works on the messages of one key that wait together, in stream order."""

    async def __call__(self, deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        """Return one outcome per delivery, in the same order.

        An exception counts as `Later` for all of them: it is logged with its trace back,
        and the message is put back until the consumer's attempts are used up, then it
        goes to the dead letters. Handlers are idempotent by their own keys.
        """
        ...


def one_by_one(handle: Callable[[Delivery], Awaitable[Outcome]]) -> Handler:
    """Make a `Handler` of a function that works on a single message."""

    async def handler(deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        return [await handle(delivery) for delivery in deliveries]

    return handler


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    """A durable consumer: a named place in a stream that replicas of a service share.

    Attributes:
        stream: The stream it reads.
        name: Its durable name.
        subject: The subjects it wants, wildcards allowed.
        ack_wait: How long a delivery may stay silent before another replica gets it; workers
            say ``in_progress`` well before that.
        max_ack_pending: How many deliveries may be in work over all replicas.
        attempts: How often a delivery is tried before it goes to the dead letters.
        backoff: Delays before attempt 2, 3, ...; the last one repeats.
    """

    stream: str
    name: str
    subject: str
    ack_wait: timedelta = timedelta(seconds=30)
    max_ack_pending: int = 1024
    attempts: int = 10
    backoff: tuple[timedelta, ...] = (
        timedelta(milliseconds=200),
        timedelta(seconds=1),
        timedelta(seconds=5),
        timedelta(seconds=30),
    )


class Taken(Protocol):
    """A delivery that this process answers for until it settles it.

    Settling is transport, not truth. An answer that does not get through raises nothing: the
    delivery comes again. One that comes too late may settle the delivery that somebody else
    has got meanwhile. Whatever must not happen twice is fenced in the stream
    (`Publisher.replace`, `Publisher.create`).
    """

    @property
    def delivery(self) -> Delivery:
        """The message. Where `fault` is set, what could be read of it."""
        ...

    @property
    def fault(self) -> NotAnEvent | None:
        """Why the stored message cannot be read, if it cannot."""
        ...

    async def working(self) -> None:
        """Say that the work goes on, which starts ``ack_wait`` anew."""
        ...

    async def done(self) -> None:
        """Settle: it never comes again. A work queue drops the message."""
        ...

    async def put_back(self, delay: timedelta) -> None:
        """Settle: it comes again after ``delay``, to whichever replica is free."""
        ...

    async def drop(self, reason: str) -> None:
        """Settle: it is never delivered again, and the server tells who listens why."""
        ...


class Pull(Protocol):
    """The deliveries of one durable consumer to this process, never more than it has room for."""

    @property
    def heard_at(self) -> datetime:
        """When the server was last heard on this pull: a delivery, or the beat of an idle one."""
        ...

    async def take(self) -> Sequence[Taken]:
        """Wait for deliveries and return those that are there, at least one.

        A lost connection, a restarted server and a consumer that went missing are waited out
        and put right, with back-off and one log line per change.
        """
        ...

    async def stop(self) -> Sequence[Taken]:
        """Ask for nothing more; return what had arrived and was not taken, for putting back."""
        ...


class Consumers(Protocol):
    """Durable consumers and what they deliver."""

    async def ensure_consumer(self, consumer: Consumer) -> None:
        """Create the consumer, or bring an existing one up to date; its place is kept.

        Raises:
            StreamMismatch: Its stream is missing, or another consumer of that work queue
                already has some of its subjects.
            BusUnavailable: No answer within the bound.
        """
        ...

    async def pull(self, consumer: Consumer, *, window: int) -> Pull:
        """Start to receive; at most ``window`` deliveries are asked for and unsettled together."""
        ...


class Bus(Publisher, Reader, Consumers, Protocol):
    """A connection to the bus."""

    def ready(self) -> bool:
        """Say whether the connection is up and the server answers."""
        ...

    async def subscribe(self, subject: str) -> AsyncIterator[Message]:
        """Listen to ``subject`` without a stream behind it: a wake-up that may be missed."""
        ...

    async def close(self) -> None:
        """Flush what is under way, drain and close."""
        ...
