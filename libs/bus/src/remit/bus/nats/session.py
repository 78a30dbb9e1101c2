"""One connection to a server, from its making to its loss.

nats-py can reconnect by itself, but then keeps what was buffered, reports nothing to those who
wait, and gives up for good on any protocol error. Here a lost connection is lost: everybody
who waits is told at once, and a new session takes its place (`remit.bus.nats.connection`).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from ssl import SSLContext
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error

_CONNECT_SECONDS = 5.0
_FLUSH_SECONDS = 5.0
_PING_SECONDS = 10
_PENDING_BYTES = 16 * 1024 * 1024
_REFUSED = re.compile(r'permissions violation for publish to "([^"]*)"', re.IGNORECASE)


class Lost(Exception):
    """The connection went away, or there is none."""


class NoResponders(Exception):
    """Nobody serves the subject that a request went to."""


class Forbidden(Exception):
    """The server does not let this user publish there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How to connect.

    Attributes:
        servers: URLs of servers.
        name: What the connection is called on the server.
        user: A user's name.
        password: That user's password.
        token: A token, where the server wants one.
        credentials: A file with a JWT and its key (needs the package nkeys).
        tls: For servers with a private authority, or that want a certificate.
        inbox_prefix: Where answers go; a user may be bound to its own.
    """

    servers: tuple[str, ...]
    name: str
    user: str | None = None
    password: str | None = None
    token: str | None = None
    credentials: Path | None = None
    tls: SSLContext | None = None
    inbox_prefix: str = "_INBOX"

    def arguments(self) -> dict[str, Any]:
        """Return them as nats-py wants them."""
        return {
            "servers": list(self.servers),
            "name": self.name,
            "user": self.user,
            "password": self.password,
            "token": self.token,
            "user_credentials": self.credentials,
            "tls": self.tls,
            "inbox_prefix": self.inbox_prefix,
        }


@dataclass(slots=True)
class _Waiting:
    """A request without its answer."""

    subject: str
    future: asyncio.Future[Msg]


class Session:
    """One connection.

    Attributes:
        lost: Set when it is gone.
        reason: Why, in the words of whatever noticed it first.
    """

    def __init__(self, client: Client, on_error: Callable[[str], None]) -> None:
        self.lost = asyncio.Event()
        self.reason = ""
        self._client = client
        self._on_error = on_error
        self._prefix = ""
        self._numbers = count()
        self._waiting: dict[str, _Waiting] = {}
        self._many: dict[str, asyncio.Queue[Msg | None]] = {}

    @classmethod
    async def open(cls, options: Options, on_error: Callable[[str], None]) -> Session:
        """Connect.

        Raises:
            OSError, nats.errors.Error, TimeoutError: No server can be connected to.
        """
        client = Client()
        session = cls(client, on_error)
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                await client.connect(
                    **options.arguments(),
                    allow_reconnect=False,
                    # Each server is tried twice; the next round is the connection's affair.
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    connect_timeout=2,
                    ping_interval=_PING_SECONDS,
                    max_outstanding_pings=2,
                    pending_size=_PENDING_BYTES,
                    error_cb=session._error,
                    closed_cb=session._closed,
                )
                session._prefix = client.new_inbox()
                await client.subscribe(f"{session._prefix}.*", cb=session._answer)
        except BaseException:
            with suppress(Exception):
                await client.close()
            raise
        return session

    @property
    def alive(self) -> bool:
        """It is connected, as far as is known."""
        return not self.lost.is_set() and self._client.is_connected

    @property
    def max_payload(self) -> int:
        """Bytes that the server takes in one message."""
        return self._client.max_payload

    @property
    def version(self) -> str:
        """What the server says it is."""
        server = self._client.connected_server_version
        return f"{server.major or 0}.{server.minor or 0}.{server.patch or 0}"

    async def send(
        self,
        subject: str,
        data: bytes,
        *,
        reply: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Send and do not wait for anything.

        Raises:
            Lost: The connection is gone.
        """
        if not self.alive:
            raise Lost(self.reason)
        try:
            await self._client.publish(
                subject, data, reply=reply, headers=dict(headers) if headers else None
            )
        except (OSError, Error) as error:
            raise Lost(str(error)) from error

    async def ask(
        self, subject: str, data: bytes, headers: Mapping[str, str] | None = None
    ) -> asyncio.Future[Msg]:
        """Send a request and return where its answer will be. Whoever waits sets the limit.

        The future fails with `Lost`, `NoResponders` or `Forbidden`.

        Raises:
            Lost: The connection is gone.
        """
        number = str(next(self._numbers))
        waiting = _Waiting(subject, asyncio.get_running_loop().create_future())
        self._waiting[number] = waiting
        waiting.future.add_done_callback(lambda _: self._waiting.pop(number, None))
        try:
            await self.send(subject, data, reply=f"{self._prefix}.{number}", headers=headers)
        except Lost:
            waiting.future.cancel()
            raise
        return waiting.future

    @asynccontextmanager
    async def ask_many(self, subject: str, data: bytes) -> AsyncIterator[asyncio.Queue[Msg | None]]:
        """Send a request that has several answers; None among them means that no more can come.

        Raises:
            Lost: The connection is gone.
        """
        number = str(next(self._numbers))
        answers = self._many[number] = asyncio.Queue()
        try:
            await self.send(subject, data, reply=f"{self._prefix}.{number}")
            yield answers
        finally:
            del self._many[number]

    async def subscribe(self, subject: str, take: Callable[[Msg], Awaitable[None]]) -> Subscription:
        """Pass on what is sent to ``subject``.

        Raises:
            Lost: The connection is gone.
        """
        try:
            return await self._client.subscribe(subject, cb=take)
        except (OSError, Error) as error:
            raise Lost(str(error)) from error

    def inbox(self) -> str:
        """Return a subject of our own that nobody else uses."""
        return f"{self._prefix}-{next(self._numbers)}"

    async def round_trip(self) -> None:
        """Wait until the server has taken all that was sent. A message to ourselves tells.

        nats-py's own flush would do, but one that is given up on breaks its reading loop when
        the answer comes after all.

        Raises:
            Lost: The connection is gone, or does not answer in time.
        """
        number = str(next(self._numbers))
        inbox = f"{self._prefix}.{number}"
        waiting = _Waiting(inbox, asyncio.get_running_loop().create_future())
        self._waiting[number] = waiting
        try:
            async with asyncio.timeout(_FLUSH_SECONDS):
                await self.send(inbox, b"")
                await waiting.future
        except (TimeoutError, NoResponders, Forbidden) as error:
            raise Lost(str(error)) from error
        finally:
            self._waiting.pop(number, None)

    async def close(self) -> None:
        """Send what is left, and disconnect."""
        with suppress(Lost):
            await self.round_trip()
        self.end("closed")
        with suppress(OSError, Error, TimeoutError):
            async with asyncio.timeout(_FLUSH_SECONDS):
                await self._client.close()

    def end(self, reason: str) -> None:
        """Tell everybody who waits that the connection is gone."""
        if self.lost.is_set():
            return
        self.reason = self.reason or reason
        self.lost.set()
        for waiting in list(self._waiting.values()):
            if not waiting.future.done():
                waiting.future.set_exception(Lost(self.reason))
                # Perhaps nobody waits any more, and that is no error either.
                waiting.future.exception()
        for answers in self._many.values():
            answers.put_nowait(None)

    # -- called by nats-py --------------------------------------------------------------

    async def _answer(self, message: Msg) -> None:
        number = message.subject.rpartition(".")[2]
        answers = self._many.get(number)
        if answers is not None:
            answers.put_nowait(message)
            return
        waiting = self._waiting.get(number)
        if waiting is None or waiting.future.done():
            return
        if not message.data and message.headers and message.headers.get("Status") == "503":
            waiting.future.set_exception(NoResponders(waiting.subject))
        else:
            waiting.future.set_result(message)

    async def _error(self, error: Exception) -> None:
        refused = _REFUSED.search(str(error))
        if refused is None:
            self.reason = self.reason or str(error)
            return
        self._on_error(str(error))
        for waiting in list(self._waiting.values()):
            # nats-py lowers the case of what the server says.
            if waiting.subject.lower() == refused[1].lower() and not waiting.future.done():
                waiting.future.set_exception(Forbidden(str(error)))

    async def _closed(self) -> None:
        self.end("the connection was closed")
