"""Receive webhooks: verify on the raw bytes, store in the inbox, then answer.

A provider is answered with 2xx only once its delivery is stored. What is refused is counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from remit.bus.clock import Clock
from remit.bus.errors import BusUnavailable, PublishRefused
from remit.bus.ports import Publisher
from remit.connectors.contract import (
    DeliveryMalformed,
    Drop,
    DropReason,
    Instance,
    ProviderUnavailable,
    SignatureInvalid,
)
from remit.domain.ids import SourceName
from remit.source.drops import Drops
from remit.source.inbox import pack
from remit.telemetry import names, tracing


class _TooLarge(Exception):
    """The body is over the limit."""


class ReceiveWebhooks:
    """``POST /webhook/<source>``.

    Args:
        instances: The Source instances by name.
        bus: Where deliveries are stored.
        drops: Counts what is refused.
        clock: Stamps deliveries.
        max_body_bytes: The largest body that is taken.
    """

    def __init__(
        self,
        instances: Mapping[SourceName, Instance],
        bus: Publisher,
        drops: Drops,
        clock: Clock,
        *,
        max_body_bytes: int,
    ) -> None:
        self._instances = instances
        self._bus = bus
        self._drops = drops
        self._clock = clock
        self._max_body_bytes = max_body_bytes

    def router(self) -> APIRouter:
        """Return the endpoint."""
        router = APIRouter()
        router.add_api_route(
            "/webhook/{source}", self.receive, methods=["POST"], response_model=None
        )
        return router

    async def receive(self, source: str, request: Request) -> JSONResponse:
        """Take one delivery."""
        name = SourceName(source)
        instance = self._instances.get(name)
        if instance is None:
            return _answer(HTTPStatus.NOT_FOUND, f"there is no Source named {source!r}")
        with tracing.span(names.SPAN_RECEIVE_WEBHOOK, attributes={names.SOURCE: name}):
            try:
                body = await self._body(request)
            except _TooLarge:
                limit = self._max_body_bytes
                problem = f"the body is over the limit of {limit} bytes"
                return await self._refuse(
                    name,
                    request,
                    Drop(DropReason.TOO_LARGE, problem),
                    HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                    b"",
                )
            return await self._store(instance, request, body)

    async def _store(self, instance: Instance, request: Request, body: bytes) -> JSONResponse:
        headers = {key.lower(): value for key, value in request.headers.items()}
        try:
            raw = instance.source.receive(headers, body, received_at=self._clock.now())
        except SignatureInvalid as error:
            drop = Drop(DropReason.BAD_SIGNATURE, str(error))
            return await self._refuse(instance.name, request, drop, HTTPStatus.UNAUTHORIZED, body)
        except DeliveryMalformed as error:
            drop = Drop(DropReason.MALFORMED, str(error))
            return await self._refuse(instance.name, request, drop, HTTPStatus.BAD_REQUEST, body)
        except ProviderUnavailable as error:
            return _answer(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
        try:
            stored = await self._bus.publish(pack(raw))
        except (BusUnavailable, PublishRefused) as error:
            # The provider keeps the delivery, and its own retry or our sweep brings it again.
            return _answer(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
        return JSONResponse({"stored": True, "duplicate": stored.duplicate}, HTTPStatus.ACCEPTED)

    async def _body(self, request: Request) -> bytes:
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > self._max_body_bytes:
            raise _TooLarge
        chunks: list[bytes] = []
        size = 0
        async for chunk in request.stream():
            size += len(chunk)
            if size > self._max_body_bytes:
                raise _TooLarge
            chunks.append(chunk)
        return b"".join(chunks)

    async def _refuse(
        self,
        source: SourceName,
        request: Request,
        drop: Drop,
        status: HTTPStatus,
        body: bytes,
    ) -> JSONResponse:
        now = self._clock.now()
        digest = hashlib.sha256(body).hexdigest()[:16]
        try:
            await self._drops.count_one(
                source,
                drop,
                event=request.headers.get("x-github-event", ""),
                delivery="",
                key=f"{source}/{drop.reason}/{now.timestamp()}/{digest}",
                at=now,
            )
        except BusUnavailable as error:
            return _answer(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
        return _answer(status, drop.detail)


def _answer(status: HTTPStatus, problem: str) -> JSONResponse:
    headers = {"Retry-After": "5"} if status is HTTPStatus.SERVICE_UNAVAILABLE else None
    return JSONResponse({"error": problem}, status, headers=headers)
