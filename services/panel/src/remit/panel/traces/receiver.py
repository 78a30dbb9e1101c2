"""The OTLP receiver: ``POST /otlp/v1/traces`` (OTLP 1.x over HTTP, binary protobuf)."""

from __future__ import annotations

import zlib
from http import HTTPStatus

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from remit.panel.access.tokens import Token
from remit.panel.settings import is_loopback
from remit.panel.traces.span import NotOtlp
from remit.panel.traces.store import TooBusy, TraceStore

PROTOBUF = "application/x-protobuf"
MOST_RECEIVED = 8 * 1024 * 1024
"""Bytes of a request as it is sent."""
MOST_UNPACKED = 32 * 1024 * 1024
"""Bytes of a request once gzip is undone."""
_RETRY_SECONDS = "2"


class _Refused(Exception):
    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason


class OtlpReceiver:
    """Takes traces.

    Args:
        store: Where they are kept.
        token: What senders must show as a bearer token; None takes traces from this machine only.
    """

    def __init__(self, store: TraceStore, token: Token | None) -> None:
        self._store = store
        self._token = token

    def router(self) -> APIRouter:
        """Return the endpoint."""
        router = APIRouter()
        router.add_api_route(
            "/otlp/v1/traces",
            self.take,
            methods=["POST"],
            response_model=None,
            include_in_schema=False,
        )
        return router

    async def take(self, request: Request) -> Response:
        """Take one export request."""
        try:
            self._admit(request)
            body = await _body(request)
            await self._store.take(body)
        except _Refused as refused:
            return _answer(refused.status, refused.reason)
        except NotOtlp as error:
            return _answer(HTTPStatus.BAD_REQUEST, str(error))
        except TooBusy as error:
            # Senders keep the spans and come again, as OTLP says.
            return _answer(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
        # An ExportTraceServiceResponse without a word is empty.
        return Response(b"", media_type=PROTOBUF)

    def _admit(self, request: Request) -> None:
        if self._token is not None:
            scheme, _, given = request.headers.get("authorization", "").partition(" ")
            if scheme.casefold() != "bearer" or not self._token.matches(given.strip()):
                raise _Refused(HTTPStatus.UNAUTHORIZED, "traces need the panel's OTLP bearer token")
        elif request.client is None or not is_loopback(request.client.host):
            raise _Refused(
                HTTPStatus.FORBIDDEN,
                "without an OTLP token, traces are taken from this machine only; "
                "set REMIT_PANEL_OTLP_TOKEN_FILE",
            )
        content = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if content != PROTOBUF:
            raise _Refused(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send {PROTOBUF}, not {content or 'nothing'!r}"
            )
        encoding = request.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("identity", "gzip"):
            raise _Refused(
                HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send it plain or as gzip, not as {encoding!r}"
            )


async def _body(request: Request) -> bytes:
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > MOST_RECEIVED:
            raise _Refused(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MOST_RECEIVED} bytes at once"
            )
        chunks.append(chunk)
    body = b"".join(chunks)
    if request.headers.get("content-encoding", "").strip().lower() == "gzip":
        return _unpacked(body)
    return body


def _unpacked(body: bytes) -> bytes:
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        unpacked = unpacker.decompress(body, MOST_UNPACKED)
    except zlib.error as error:
        raise _Refused(HTTPStatus.BAD_REQUEST, f"not gzip: {error}") from error
    if unpacker.unconsumed_tail:
        raise _Refused(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"more than {MOST_UNPACKED} bytes unpacked"
        )
    if not unpacker.eof:
        raise _Refused(HTTPStatus.BAD_REQUEST, "the gzip data ends too early")
    return unpacked


def _answer(status: HTTPStatus, reason: str) -> JSONResponse:
    headers = {"Retry-After": _RETRY_SECONDS} if status is HTTPStatus.SERVICE_UNAVAILABLE else None
    return JSONResponse({"message": reason}, status, headers=headers)
