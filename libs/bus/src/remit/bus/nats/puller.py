"""Continuous pulls: what a consumer delivers, asked for ahead of need and within room.

One request asks for as many messages as there is room for, and the next one goes out when half
of that has come, so that the server always has somewhere to send the next message. Beats of the
idle server tell a quiet stream from a dead one.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import datetime

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error

from remit.bus.clock import Clock
from remit.bus.errors import BusError
from remit.bus.nats.connection import Connection
from remit.bus.nats.session import Lost, Session
from remit.telemetry.logs import logger

_BEAT_SECONDS = 5
_SILENCE_SECONDS = 12.0
_EXPIRES_SECONDS = 30
_LOOK_SECONDS = 1.0
_STOP_SECONDS = 5.0
_FIRST_DELAY = 0.1
_LONGEST_DELAY = 5.0

_BEAT = "100"
_GOES_ON = frozenset({"404", "408"})
"""A request ended by itself. Every other status means that the consumer or its server is gone,
or moved: the pull starts over."""

Find = Callable[[], Awaitable[str]]
"""Makes sure that the consumer is there and returns its name.

Raises:
    BusError: It cannot be made now.
"""


class Puller:
    """Keeps asking one consumer for messages, over lost connections and missing consumers.

    Attributes:
        heard_at: When the server was last heard.
        on_end: Called when the bus was closed and nothing more can come.

    Says once that nothing can be received and once that it goes on (field report D6).

    Args:
        connection: To the server.
        stream: The stream.
        label: What it is called in logs.
        find: Makes sure that the consumer is there.
        room: Says how many more messages there is room for.
        receive: Takes each message as it comes; must not wait.
        window: The most there is ever room for.
        clock: Tells when the server was heard.
        rng: Spreads tries.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        stream: str,
        label: str,
        find: Find,
        room: Callable[[], int],
        receive: Callable[[Msg], None],
        window: int,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self.heard_at: datetime = clock.now()
        self.on_end: Callable[[], None] = lambda: None
        self._connection = connection
        self._stream = stream
        self._find = find
        self._room = room
        self._receive = receive
        self._enough = window // 2
        self._clock = clock
        self._rng = rng
        self._asked = 0
        self._session: Session | None = None
        self._subscription: Subscription | None = None
        self._inbox = ""
        self._request = ""
        self._heard = 0.0
        self._broken = asyncio.Event()
        self._why = ""
        self._told = False
        self._stopped = False
        self._keeper: asyncio.Task[None] | None = None
        self._log = logger("remit.bus.nats").bind(stream=stream, consumer=label)

    def start(self) -> None:
        """Start to receive; returns at once."""
        self._keeper = asyncio.create_task(self._keep(), name=f"pull {self._stream}")

    async def refill(self) -> None:
        """Ask for more, if there is room for enough of it."""
        session = self._session
        if session is None or self._stopped or self._broken.is_set():
            return
        if self._asked > self._enough:
            return
        wanted = self._room() - self._asked
        if wanted <= 0:
            return
        self._asked += wanted
        try:
            await session.send(
                self._request,
                b'{"batch":%d,"expires":%d,"idle_heartbeat":%d}'
                % (wanted, _EXPIRES_SECONDS * 10**9, _BEAT_SECONDS * 10**9),
                reply=self._inbox,
            )
        except Lost as error:
            self.restart(str(error))

    def restart(self, why: str) -> None:
        """Start over with the consumer."""
        self._why = why
        self._broken.set()

    async def stop(self) -> None:
        """Ask for nothing more. What the server had sent by then has been received after this."""
        self._stopped = True
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        await self._leave()

    # -- keeping ------------------------------------------------------------------------

    async def _keep(self) -> None:
        delay = _FIRST_DELAY
        while not self._connection.closed:
            try:
                await self._attach()
            except (Lost, BusError) as error:
                self._tell_broken(str(error))
                await asyncio.sleep(self._rng.uniform(delay / 2, delay))
                delay = min(delay * 2, _LONGEST_DELAY)
                continue
            delay = _FIRST_DELAY
            if self._told:
                self._told = False
                self._log.info("receives again")
            await self._watch()
            await self._leave()
            await asyncio.sleep(self._rng.uniform(0, _FIRST_DELAY))
            if self._why:
                self._tell_broken(self._why)
        self.on_end()

    async def _attach(self) -> None:
        session = await self._connection.session(_EXPIRES_SECONDS)
        name = await self._find()
        self._inbox = session.inbox()
        self._request = f"$JS.API.CONSUMER.MSG.NEXT.{self._stream}.{name}"
        self._subscription = await session.subscribe(self._inbox, self._take)
        self._session = session
        self._asked = 0
        self._why = ""
        self._broken.clear()
        self._hear()
        await self.refill()

    async def _watch(self) -> None:
        """Return when the pull is broken or its connection is lost."""
        session = self._session
        if session is None:
            return
        loop = asyncio.get_running_loop()
        ends = {
            asyncio.ensure_future(self._broken.wait()),
            asyncio.ensure_future(session.lost.wait()),
        }
        try:
            while True:
                ended, _ = await asyncio.wait(
                    ends, timeout=_LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED
                )
                if ended:
                    return
                if self._asked > 0 and loop.time() - self._heard > _SILENCE_SECONDS:
                    self.restart("the server has fallen silent")
                else:
                    await self.refill()
        finally:
            for end in ends:
                end.cancel()

    async def _leave(self) -> None:
        """Give up the inbox, having received what was sent to it."""
        subscription, session = self._subscription, self._session
        self._subscription = self._session = None
        if subscription is None or session is None or not session.alive:
            return
        with suppress(Error, OSError, TimeoutError):
            async with asyncio.timeout(_STOP_SECONDS):
                await subscription.drain()  # type: ignore[no-untyped-call]

    def _tell_broken(self, why: str) -> None:
        # A lost connection is told by the connection, once for all that it carries.
        if not self._told and self._connection.current is not None:
            self._told = True
            self._log.warning("cannot receive", reason=why)

    def _hear(self) -> None:
        self._heard = asyncio.get_running_loop().time()
        self.heard_at = self._clock.now()

    async def _take(self, message: Msg) -> None:
        self._hear()
        headers = message.headers
        if not message.reply and headers is not None and (status := headers.get("Status")):
            if status == _BEAT:
                return
            self._asked = max(0, self._asked - int(headers.get("Nats-Pending-Messages", "0")))
            if status not in _GOES_ON:
                self.restart(f"{status} {headers.get('Description', '')}".strip())
        else:
            self._asked -= 1
            self._receive(message)
        await self.refill()
