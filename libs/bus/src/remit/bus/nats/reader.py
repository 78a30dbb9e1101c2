"""Reading single messages: direct from any replica, or through the stream's leader."""

from __future__ import annotations

import asyncio
import json
import random
from base64 import b64decode
from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from typing import Any

from nats.aio.msg import Msg

from remit.bus import cloudevents
from remit.bus.errors import BusError, BusUnavailable, NotAnEvent, StreamMismatch
from remit.bus.message import Delivery
from remit.bus.nats.connection import Connection
from remit.bus.nats.retrying import TRY, tries
from remit.bus.nats.session import Forbidden, Lost, NoResponders
from remit.telemetry.logs import logger

_NOT_FOUND = "404"
_NO_RESPONDERS = "503"
_END_OF_BATCH = "204"
_STREAM_NOT_FOUND = 10059
_NO_MESSAGE = 10037
_BATCH = 256


class NatsReader:
    """Reads messages without a consumer; see `remit.bus.ports.Reader`.

    Args:
        connection: To the server.
        rng: Spreads tries.
    """

    def __init__(self, connection: Connection, rng: random.Random) -> None:
        self._connection = connection
        self._rng = rng
        self._log = logger("remit.bus.nats")

    async def last(self, stream: str, subject: str, *, leader: bool = False) -> Delivery | None:
        """Return the last message on ``subject``, if there is one."""
        if leader:
            return await self._from_leader(stream, {"last_by_subj": subject})
        if "*" in subject or ">" in subject:
            return await self._direct(stream, "", {"last_by_subj": subject})
        return await self._direct(stream, f".{subject}", None)

    async def at(self, stream: str, sequence: int) -> Delivery | None:
        """Return the message at ``sequence``, if the stream still holds it."""
        return await self._direct(stream, "", {"seq": sequence})

    async def next(self, stream: str, subject: str, *, after: int) -> Delivery | None:
        """Return the first message on ``subject`` past ``after``."""
        return await self._direct(stream, "", {"seq": after + 1, "next_by_subj": subject})

    async def history(
        self, stream: str, subject: str, *, after: int = 0
    ) -> AsyncIterator[Delivery]:
        """Yield the stored messages on ``subject`` past ``after``, then stop."""
        more = True
        while more:
            found, after, more = await self._batch(stream, subject, after)
            for delivery in found:
                yield delivery

    async def _direct(
        self, stream: str, suffix: str, query: Mapping[str, Any] | None
    ) -> Delivery | None:
        data = json.dumps(query).encode() if query is not None else b""
        reason = ""
        async for seconds in tries(self._rng):
            try:
                answer = await self._connection.request(
                    f"$JS.API.DIRECT.GET.{stream}{suffix}", data, within=seconds
                )
            except NoResponders:
                await self._check_stream(stream)
                reason = "no replica answers"
            except (Lost, TimeoutError, Forbidden) as error:
                reason = str(error) or "no answer"
            else:
                return _delivery(answer)
        raise BusUnavailable(f"read from stream {stream}", reason)

    async def _from_leader(self, stream: str, query: Mapping[str, Any]) -> Delivery | None:
        reason = ""
        async for seconds in tries(self._rng):
            try:
                told = await self._connection.api(f"STREAM.MSG.GET.{stream}", query, within=seconds)
            except (Lost, TimeoutError, NoResponders, Forbidden) as error:
                reason = str(error) or "no answer"
                continue
            refusal = told.get("error")
            if refusal is None:
                return _delivery_from_leader(stream, told["message"])
            if refusal["err_code"] == _NO_MESSAGE:
                return None
            if refusal["err_code"] == _STREAM_NOT_FOUND:
                raise StreamMismatch(stream, "it is missing")
            reason = refusal["description"]
        raise BusUnavailable(f"read from the leader of stream {stream}", reason)

    async def _batch(
        self, stream: str, subject: str, after: int
    ) -> tuple[list[Delivery], int, bool]:
        """Return some messages past ``after``, the place to go on from, and whether to go on."""
        query = {"seq": after + 1, "next_by_subj": subject, "batch": _BATCH}
        data = json.dumps(query).encode()
        reason = ""
        async for seconds in tries(self._rng):
            found: list[Delivery] = []
            place = after
            try:
                async with asyncio.timeout(seconds):
                    session = await self._connection.session(seconds)
                    async with session.ask_many(f"$JS.API.DIRECT.GET.{stream}", data) as answers:
                        while (answer := await answers.get()) is not None:
                            headers = answer.headers or {}
                            status = headers.get("Status")
                            if status == _NO_RESPONDERS:
                                break
                            if status in (_NOT_FOUND, _END_OF_BATCH):
                                place = int(headers.get("Nats-Last-Sequence", place))
                                return found, place, headers.get("Nats-Num-Pending", "0") != "0"
                            place = int(headers["Nats-Sequence"])
                            self._add(found, answer)
                reason = "the answer broke off"
                await self._check_stream(stream)
            except (Lost, TimeoutError) as error:
                reason = str(error) or "no answer"
            if place > after:
                return found, place, True
        raise BusUnavailable(f"read from stream {stream}", reason)

    def _add(self, found: list[Delivery], answer: Msg) -> None:
        try:
            delivery = _delivery(answer)
        except NotAnEvent as error:
            self._log.error("skipped a message", reason=str(error))
            return
        if delivery is not None:
            found.append(delivery)

    async def _check_stream(self, stream: str) -> None:
        """Tell a stream that does not exist from one that cannot answer now."""
        try:
            told = await self._connection.api(f"STREAM.INFO.{stream}", within=TRY)
        except (Lost, TimeoutError, NoResponders, Forbidden):
            return
        error = told.get("error")
        if error is not None and error["err_code"] == _STREAM_NOT_FOUND:
            raise StreamMismatch(stream, "it is missing")
        if error is None and not told["config"].get("allow_direct"):
            raise StreamMismatch(stream, "it does not allow direct reads")


def _delivery(answer: Msg) -> Delivery | None:
    headers = answer.headers or {}
    status = headers.get("Status")
    if status == _NOT_FOUND:
        return None
    if status is not None:
        raise BusError(f"NATS refused a read: {status} {headers.get('Description', '')}")
    subject = headers["Nats-Subject"]
    return Delivery(
        message=cloudevents.decode(subject, headers, answer.data),
        stream=headers["Nats-Stream"],
        sequence=int(headers["Nats-Sequence"]),
        stored_at=datetime.fromisoformat(headers["Nats-Time-Stamp"]),
    )


def _delivery_from_leader(stream: str, told: Mapping[str, Any]) -> Delivery:
    headers: dict[str, str] = {}
    for line in b64decode(told.get("hdrs", "")).decode("utf-8", "replace").split("\r\n")[1:]:
        name, found, value = line.partition(":")
        if found:
            headers[name] = value.strip()
    return Delivery(
        message=cloudevents.decode(told["subject"], headers, b64decode(told.get("data", ""))),
        stream=stream,
        sequence=told["seq"],
        stored_at=datetime.fromisoformat(told["time"]),
    )
