"""The bus over NATS JetStream."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from ssl import SSLContext
from typing import Any

from nats.aio.msg import Msg
from opentelemetry.trace import TracerProvider

from remit.bus import cloudevents, tracing
from remit.bus.clock import Clock, SystemClock
from remit.bus.errors import BusUnavailable, NotAnEvent, StreamMismatch
from remit.bus.message import Delivery, Message, Stored
from remit.bus.nats.connection import Connection, OnSession
from remit.bus.nats.consumers import NatsConsumers, NatsPull
from remit.bus.nats.publisher import NatsPublisher
from remit.bus.nats.reader import NatsReader
from remit.bus.nats.retrying import tries
from remit.bus.nats.session import Forbidden, Lost, NoResponders, Options, Session
from remit.bus.ports import Consumer
from remit.bus.streams import stream_of
from remit.telemetry.logs import logger

_CONNECT_SECONDS = 5.0
_TRY_AGAIN = 503


class NatsBus:
    """A `remit.bus.ports.Bus` over one connection to NATS. Made by `connect`."""

    def __init__(
        self,
        connection: Connection,
        *,
        clock: Clock,
        rng: random.Random,
        tracer_provider: TracerProvider | None,
    ) -> None:
        self._connection = connection
        self._rng = rng
        self._publisher = NatsPublisher(connection, tracing.tracer_of(tracer_provider), rng)
        self._reader = NatsReader(connection, rng)
        self._consumers = NatsConsumers(connection, clock, rng)
        self._log = logger("remit.bus.nats")

    @classmethod
    async def connect(
        cls,
        servers: str | Sequence[str],
        *,
        name: str,
        user: str | None = None,
        password: str | None = None,
        token: str | None = None,
        credentials: Path | None = None,
        tls: SSLContext | None = None,
        inbox_prefix: str = "_INBOX",
        within: float = _CONNECT_SECONDS,
        clock: Clock | None = None,
        rng: random.Random | None = None,
        tracer_provider: TracerProvider | None = None,
    ) -> NatsBus:
        """Connect, and from then on connect again for ever whenever the connection is lost.

        Args:
            servers: URLs of one server, or of several of a cluster.
            name: What the connection is called on the server.
            user: A user's name.
            password: That user's password.
            token: A token, where the server wants one.
            credentials: A file with a JWT and its key (needs the package nkeys).
            tls: For servers with a private authority, or that want a certificate.
            inbox_prefix: Where answers go; a user may be bound to its own.
            within: Seconds for the first connection.
            clock: Tells when the server was heard.
            rng: Spreads tries of many processes.
            tracer_provider: Where spans go; the process's own unless given.

        Raises:
            BusUnavailable: No server could be reached in time, or none lets this user in.
        """
        options = Options(
            servers=(servers,) if isinstance(servers, str) else tuple(servers),
            name=name,
            user=user,
            password=password,
            token=token,
            credentials=credentials,
            tls=tls,
            inbox_prefix=inbox_prefix,
        )
        spread = rng or random.Random()  # noqa: S311 - spreads load, guards nothing
        connection = Connection(options, rng=spread)
        await connection.open(within)
        return cls(
            connection, clock=clock or SystemClock(), rng=spread, tracer_provider=tracer_provider
        )

    # -- publishing ---------------------------------------------------------------------

    async def publish(self, message: Message) -> Stored:
        """Store a message; see `remit.bus.ports.Publisher`."""
        return await self._publisher.publish(message)

    async def publish_all(self, messages: Sequence[Message]) -> list[Stored]:
        """Store several messages, pipelined."""
        return await self._publisher.publish_all(messages)

    async def create(self, message: Message, *, scope: str | None = None) -> Stored:
        """Store a message only if nothing is on ``scope`` yet."""
        return await self._publisher.create(message, scope=scope)

    async def replace(self, message: Message, *, expected: int) -> Stored:
        """Store a message only if the last one on its subject has sequence ``expected``."""
        return await self._publisher.replace(message, expected=expected)

    async def cancel(self, subject: str) -> None:
        """Remove what is stored on ``subject``."""
        stream = stream_of(subject)
        if stream is None:
            raise StreamMismatch(subject, "no stream stores this subject")
        await self.api(f"STREAM.PURGE.{stream.name}", {"filter": subject})

    # -- reading ------------------------------------------------------------------------

    async def last(self, stream: str, subject: str, *, leader: bool = False) -> Delivery | None:
        """Return the last message on ``subject``; see `remit.bus.ports.Reader`."""
        return await self._reader.last(stream, subject, leader=leader)

    async def at(self, stream: str, sequence: int) -> Delivery | None:
        """Return the message at ``sequence``."""
        return await self._reader.at(stream, sequence)

    async def next(self, stream: str, subject: str, *, after: int) -> Delivery | None:
        """Return the first message on ``subject`` past ``after``."""
        return await self._reader.next(stream, subject, after=after)

    def history(self, stream: str, subject: str, *, after: int = 0) -> AsyncIterator[Delivery]:
        """Yield the stored messages on ``subject`` past ``after``, then stop."""
        return self._reader.history(stream, subject, after=after)

    def follow(self, stream: str, subject: str, *, after: int = 0) -> AsyncIterator[Delivery]:
        """Yield messages on ``subject`` past ``after``, in order, each once, without end."""
        return self._consumers.follow(stream, subject, after=after)

    # -- consumers ----------------------------------------------------------------------

    async def ensure_consumer(self, consumer: Consumer) -> None:
        """Create the consumer, or bring it up to date; see `remit.bus.ports.Consumers`."""
        await self._consumers.ensure_consumer(consumer)

    async def pull(self, consumer: Consumer, *, window: int) -> NatsPull:
        """Start to receive; the consumer is created if it is missing."""
        return await self._consumers.pull(consumer, window=window)

    # -- the rest -----------------------------------------------------------------------

    def ready(self) -> bool:
        """Say whether the connection is up."""
        return self._connection.current is not None

    @property
    def server_version(self) -> str:
        """What the server says it is; ``0.0.0`` without a connection."""
        session = self._connection.current
        return session.version if session is not None else "0.0.0"

    async def api(self, path: str, payload: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Ask the JetStream API, such as ``STREAM.INFO.THREAD``; the answer may hold an ``error``.

        Raises:
            BusUnavailable: No answer within the bound.
        """
        reason = ""
        async for seconds in tries(self._rng):
            try:
                told = await self._connection.api(path, payload, within=seconds)
            except (Lost, TimeoutError, NoResponders, Forbidden) as error:
                reason = str(error) or "no answer"
                continue
            if told.get("error", {}).get("code") != _TRY_AGAIN:
                return told
            reason = told["error"]["description"]
        raise BusUnavailable(f"ask JetStream for {path}", reason)

    async def subscribe(self, subject: str) -> AsyncIterator[Message]:
        """Listen to ``subject`` from now on, over lost connections, until the bus is closed."""
        heard: asyncio.Queue[Msg] = asyncio.Queue()

        async def listen(session: Session) -> None:
            await session.subscribe(subject, heard.put)
            await session.round_trip()

        await self._connection.on_session(listen)
        return self._listen(heard, listen)

    async def close(self) -> None:
        """Send what is under way and disconnect."""
        await self._connection.close()

    async def _listen(self, heard: asyncio.Queue[Msg], listen: OnSession) -> AsyncIterator[Message]:
        try:
            while not self._connection.closed:
                message = await self._connection.unless_closed(heard.get())
                if message is None:
                    return
                try:
                    yield cloudevents.decode(message.subject, message.headers, message.data)
                except NotAnEvent as error:
                    self._log.error("skipped a message", reason=str(error))
        finally:
            self._connection.forget(listen)
