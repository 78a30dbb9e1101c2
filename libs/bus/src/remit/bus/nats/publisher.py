"""Publishing: pipelined, fenced, and tried again with the same id."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from nats.aio.msg import Msg
from opentelemetry.trace import Tracer

from remit.bus import cloudevents, tracing
from remit.bus.errors import BusUnavailable, Conflict, PublishRefused
from remit.bus.message import Message, Stored
from remit.bus.nats.connection import Connection
from remit.bus.nats.retrying import TRY, tries
from remit.bus.nats.session import Forbidden, Lost, NoResponders
from remit.bus.streams import stream_of
from remit.bus.timers import holder, rfc3339, unique_id
from remit.telemetry import metrics, names

_IN_FLIGHT = 500
_HEADERS_BYTES = 16 * 1024
"""More than the headers of a message without headers of its own ever take."""

_WRONG_SEQUENCE = frozenset({10071, 10164})
_TRY_AGAIN = 503
_SEQUENCE = re.compile(r"wrong last sequence: (\d+)")

_ID = "Nats-Msg-Id"
_EXPECTED = "Nats-Expected-Last-Subject-Sequence"
_EXPECTED_ON = "Nats-Expected-Last-Subject-Sequence-Subject"
_SCHEDULE = "Nats-Schedule"
_TARGET = "Nats-Schedule-Target"


@dataclass(frozen=True, slots=True)
class _Ready:
    """A message as it goes over the wire."""

    subject: str
    headers: dict[str, str]
    data: bytes


class _Behind(Exception):
    """The fence did not hold: something else is the last message.

    Attributes:
        last: Its sequence, where the server says it.
    """

    def __init__(self, last: int | None) -> None:
        super().__init__(last)
        self.last = last


class _Again(Exception):
    """Nothing was stored, and it may be the next time."""


class NatsPublisher:
    """Stores messages in streams; see `remit.bus.ports.Publisher`.

    Args:
        connection: To the server.
        tracer: Makes the spans of what is sent.
        rng: Spreads tries.
    """

    def __init__(self, connection: Connection, tracer: Tracer, rng: random.Random) -> None:
        self._connection = connection
        self._tracer = tracer
        self._rng = rng
        self._sent = metrics.counter(names.METRIC_SENT)

    async def publish(self, message: Message) -> Stored:
        """Store a message, tried again with the same id until it is stored or time is up."""
        with tracing.sending(self._tracer, message) as traced:
            return await self._store(self._ready(traced))

    async def publish_all(self, messages: Sequence[Message]) -> list[Stored]:
        """Store messages with one wait for each few hundred."""
        stored: list[Stored] = []
        refused: list[PublishRefused] = []
        for start in range(0, len(messages), _IN_FLIGHT):
            for one in await self._pipeline(messages[start : start + _IN_FLIGHT]):
                if isinstance(one, Stored):
                    stored.append(one)
                else:
                    refused.append(one)
        if refused:
            raise refused[0]
        return stored

    async def create(self, message: Message, *, scope: str | None = None) -> Stored:
        """Store a message only if nothing is on ``scope`` yet."""
        with tracing.sending(self._tracer, message) as traced:
            ready = self._ready(traced)
            ready.headers[_EXPECTED] = "0"
            if scope is not None:
                ready.headers[_EXPECTED_ON] = scope
            reason = ""
            async for seconds in tries(self._rng):
                try:
                    return await self._once(ready, seconds)
                except _Behind as behind:
                    if behind.last:
                        stream = stream_of(message.subject)
                        name = stream.name if stream else ""
                        return Stored(stream=name, sequence=behind.last, duplicate=True)
                    reason = "the other message is still on its way through the replicas"
                except (Lost, TimeoutError, _Again) as error:
                    reason = str(error) or "no answer"
            raise _unavailable(ready, reason)

    async def replace(self, message: Message, *, expected: int) -> Stored:
        """Store a message only if the last one on its subject has sequence ``expected``.

        What may have been stored is not tried again here, only what certainly was not.
        """
        with tracing.sending(self._tracer, message) as traced:
            ready = self._ready(traced)
            ready.headers[_EXPECTED] = str(expected)
            reason = ""
            async for seconds in tries(self._rng):
                try:
                    # Waiting for a connection stores nothing, so it may take as long as it takes.
                    await self._connection.session(seconds)
                except Lost as error:
                    reason = str(error)
                    continue
                try:
                    return await self._once(ready, TRY)
                except _Behind as behind:
                    raise Conflict(message.subject, expected) from behind
                except _Again as error:
                    reason = str(error)
                except (Lost, TimeoutError) as error:
                    raise _unavailable(ready, str(error)) from error
            raise _unavailable(ready, reason)

    # -- inside -------------------------------------------------------------------------

    def _ready(self, message: Message) -> _Ready:
        headers = cloudevents.encode(message)
        subject = message.subject
        if message.deliver_at is None:
            headers[_ID] = headers["ce-id"]
        else:
            subject = holder(message)
            headers[_ID] = quote(unique_id(message))
            headers[_SCHEDULE] = f"@at {rfc3339(message)}"
            headers[_TARGET] = message.subject
        session = self._connection.current
        if session is not None and (
            message.headers or len(message.data) + _HEADERS_BYTES > session.max_payload
        ):
            _check_size(message, headers, session.max_payload)
        return _Ready(subject, headers, message.data)

    async def _store(self, ready: _Ready) -> Stored:
        reason = ""
        async for seconds in tries(self._rng):
            try:
                return await self._once(ready, seconds)
            except (Lost, TimeoutError, _Again) as error:
                reason = str(error) or "no answer"
        raise _unavailable(ready, reason)

    async def _once(self, ready: _Ready, seconds: float) -> Stored:
        try:
            answer = await self._connection.request(
                ready.subject, ready.data, headers=ready.headers, within=seconds
            )
        except NoResponders as error:
            await self._check_stream(ready.subject)
            raise _Again("no stream answers") from error
        except Forbidden as error:
            raise PublishRefused(ready.subject, 0, str(error)) from error
        return self._stored(ready, answer)

    async def _pipeline(self, messages: Sequence[Message]) -> list[Stored | PublishRefused]:
        """Send all, then wait; what got no answer is tried again one by one, in order."""
        outcomes: list[Stored | PublishRefused | None] = [None] * len(messages)
        ready: list[_Ready | None] = [None] * len(messages)
        waiting: dict[int, asyncio.Future[Msg]] = {}
        for place, message in enumerate(messages):
            with tracing.sending(self._tracer, message) as traced:
                try:
                    one = ready[place] = self._ready(traced)
                except PublishRefused as refused:
                    outcomes[place] = refused
                    continue
            session = self._connection.current
            if session is not None:
                try:
                    waiting[place] = await session.ask(one.subject, one.data, one.headers)
                except Lost:
                    continue
        if waiting:
            await asyncio.wait(waiting.values(), timeout=TRY)
        for place, sent in enumerate(ready):
            if sent is not None:
                outcomes[place] = await self._settle(sent, waiting.get(place))
        return [outcome for outcome in outcomes if outcome is not None]

    async def _settle(
        self, ready: _Ready, answer: asyncio.Future[Msg] | None
    ) -> Stored | PublishRefused:
        try:
            if answer is not None and answer.done():
                try:
                    return self._stored(ready, answer.result())
                except Forbidden as error:
                    return PublishRefused(ready.subject, 0, str(error))
                except (Lost, NoResponders, _Again):
                    pass
            if answer is not None:
                answer.cancel()
            return await self._store(ready)
        except PublishRefused as refused:
            return refused

    def _stored(self, ready: _Ready, answer: Msg) -> Stored:
        try:
            told = json.loads(answer.data)
        except ValueError as error:
            raise PublishRefused(ready.subject, 0, "the answer is not JetStream's") from error
        refusal = told.get("error")
        if refusal is None:
            self._sent.add(1, {names.MESSAGING_DESTINATION: told["stream"]})
            return Stored(
                stream=told["stream"],
                sequence=told["seq"],
                duplicate=told.get("duplicate", False),
            )
        code, reason = refusal.get("err_code", 0), refusal.get("description", "")
        if code in _WRONG_SEQUENCE:
            last = _SEQUENCE.search(reason)
            raise _Behind(int(last[1]) if last else None)
        if refusal.get("code") == _TRY_AGAIN:
            raise _Again(reason)
        raise PublishRefused(ready.subject, code, reason)

    async def _check_stream(self, subject: str) -> None:
        """Tell a stream that does not exist from one that cannot answer now."""
        try:
            found = await self._connection.api("STREAM.NAMES", {"subject": subject}, within=TRY)
        except (Lost, TimeoutError, NoResponders, Forbidden):
            return
        if not found.get("error") and not found.get("streams"):
            raise PublishRefused(subject, 0, "no stream stores this subject")


def _check_size(message: Message, headers: Mapping[str, str], most: int) -> None:
    size = cloudevents.size(headers, message.data)
    if size > most:
        raise PublishRefused(
            message.subject, 0, f"its {size} bytes are larger than the {most} that the server takes"
        )


def _unavailable(ready: _Ready, reason: str) -> BusUnavailable:
    return BusUnavailable(f"store a message on {ready.subject}", reason)
