"""The connection: one session after another, for ever."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from nats.aio.msg import Msg

from remit.bus.errors import BusUnavailable
from remit.bus.nats.session import Lost, Options, Session
from remit.telemetry.logs import logger

_FIRST_DELAY = 0.1
_LONGEST_DELAY = 5.0
_LOOK_SECONDS = 1.0

T = TypeVar("T")
OnSession = Callable[[Session], Awaitable[None]]


class Connection:
    """Keeps a session, and makes another with jittered back-off when it is lost.

    Says once that NATS is away and once that it is back (field report D6).

    Args:
        options: How to connect.
        rng: Spreads reconnects of many processes.
    """

    def __init__(self, options: Options, *, rng: random.Random | None = None) -> None:
        self._options = options
        self._rng = rng or random.Random()  # noqa: S311 - spreads load, guards nothing
        self._session: Session | None = None
        self._changed = asyncio.Condition()
        self._listeners: list[OnSession] = []
        self._keeper: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()
        self._told_away = False
        self._why = ""
        self._refusals: set[str] = set()
        self._log = logger("remit.bus.nats").bind(servers=",".join(map(_bare, options.servers)))

    async def open(self, within: float) -> None:
        """Connect, and stay connected from then on.

        Raises:
            BusUnavailable: No server could be reached within so many seconds.
        """
        self._keeper = asyncio.create_task(self._keep(), name="nats connection")
        try:
            await self.session(within)
        except Lost as error:
            await self.close()
            raise BusUnavailable("connect", str(error)) from error

    @property
    def current(self) -> Session | None:
        """The session, where there is one now."""
        return self._session if self._session is not None and self._session.alive else None

    @property
    def closed(self) -> bool:
        """It was closed and stays so."""
        return self._closed.is_set()

    async def session(self, within: float) -> Session:
        """Return the session, waiting for one if need be.

        Raises:
            Lost: There was none within so many seconds, or the connection is closed.
        """
        current = self.current
        if current is not None:
            return current
        try:
            async with asyncio.timeout(within), self._changed:
                await self._changed.wait_for(lambda: self.current is not None or self.closed)
        except TimeoutError:
            raise Lost(self._why or "not connected") from None
        current = self.current
        if current is None:
            raise Lost("the bus is closed")
        return current

    async def request(
        self,
        subject: str,
        data: bytes = b"",
        *,
        headers: Mapping[str, str] | None = None,
        within: float,
    ) -> Msg:
        """Ask once and wait for the answer.

        Raises:
            Lost: There is no connection, or it was lost meanwhile.
            TimeoutError: No answer within so many seconds.
            NoResponders, Forbidden: As in `Session.ask`.
        """
        async with asyncio.timeout(within):
            session = await self.session(within)
            return await (await session.ask(subject, data, headers))

    async def api(
        self, path: str, payload: Mapping[str, Any] | None = None, *, within: float
    ) -> dict[str, Any]:
        """Ask the JetStream API once and return its answer, which may hold an ``error``.

        Raises:
            Lost, TimeoutError, NoResponders, Forbidden: As in `request`.
        """
        data = json.dumps(payload).encode() if payload is not None else b""
        answer = await self.request(f"$JS.API.{path}", data, within=within)
        found: dict[str, Any] = json.loads(answer.data)
        return found

    async def on_session(self, listener: OnSession) -> None:
        """Call ``listener`` with the session now, if there is one, and with each later one."""
        self._listeners.append(listener)
        if self.current is not None:
            await listener(self.current)

    def forget(self, listener: OnSession) -> None:
        """Call ``listener`` no more."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    async def unless_closed(self, waiting: Coroutine[Any, Any, T]) -> T | None:
        """Wait for something, or return None when the connection is closed first."""
        task = asyncio.ensure_future(waiting)
        closed = asyncio.ensure_future(self._closed.wait())
        try:
            await asyncio.wait({task, closed}, return_when=asyncio.FIRST_COMPLETED)
            return task.result() if task.done() else None
        finally:
            task.cancel()
            closed.cancel()

    async def close(self) -> None:
        """Send what is left, and disconnect for good."""
        if self.closed:
            return
        self._closed.set()
        if self._session is not None:
            await self._session.close()
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        async with self._changed:
            self._changed.notify_all()

    # -- keeping ------------------------------------------------------------------------

    async def _keep(self) -> None:
        delay = _FIRST_DELAY
        while not self.closed:
            try:
                session = await Session.open(self._options, self._refused)
            except Exception as error:  # noqa: BLE001 - whatever a library finds wrong, we try again
                self._tell_away(error)
                await asyncio.sleep(self._rng.uniform(delay / 2, delay))
                delay = min(delay * 2, _LONGEST_DELAY)
                continue
            delay = _FIRST_DELAY
            await self._use(session)
            await self._until_lost(session)
            if not self.closed:
                self._tell_away(Lost(session.reason))

    async def _use(self, session: Session) -> None:
        self._session = session
        self._why = ""
        if self._told_away:
            self._told_away = False
            self._log.info("NATS is back")
        async with self._changed:
            self._changed.notify_all()
        for listener in list(self._listeners):
            try:
                await listener(session)
            except Lost:
                return

    async def _until_lost(self, session: Session) -> None:
        # nats-py does not always call back when it closes (a failed flush on the way hides it).
        while not session.lost.is_set():
            try:
                await asyncio.wait_for(session.lost.wait(), _LOOK_SECONDS)
            except TimeoutError:
                if not session.alive:
                    session.end("the connection ended silently")
        await session.close()

    def _tell_away(self, error: Exception) -> None:
        self._why = str(error) or type(error).__name__
        if not self._told_away:
            self._told_away = True
            self._log.warning("NATS is away", reason=self._why)

    def _refused(self, reason: str) -> None:
        if reason not in self._refusals and len(self._refusals) < 100:
            self._refusals.add(reason)
            self._log.error("NATS refused", reason=reason)


def _bare(url: str) -> str:
    """Return a server's URL without what might be a password in it."""
    scheme, found, rest = url.rpartition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}"
