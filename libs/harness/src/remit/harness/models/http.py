"""What the HTTP adapters share: one POST whose answer is a stream of server-sent events."""

from __future__ import annotations

import asyncio
import email.utils
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

import httpx

from remit.harness.models.port import ErrorCode, ModelError
from remit.harness.models.sse import EventTooLargeError, ServerEvent, SseDecoder

_RETRYABLE = frozenset({408, 409, 429})
_MAX_ERROR_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a model call may take, in seconds.

    Attributes:
        connect: Until the connection stands.
        read: Between two pieces of the answer.
        total: From the request to the end of the answer.
    """

    connect: float = 10.0
    read: float = 120.0
    total: float = 900.0

    def timeout(self) -> httpx.Timeout:
        """The same as httpx wants it; the total is kept by `post_events`."""
        return httpx.Timeout(self.read, connect=self.connect, pool=self.connect)


async def post_events(
    client: httpx.AsyncClient,
    url: str,
    *,
    headers: dict[str, str],
    body: dict[str, Any],
    limits: Limits,
) -> AsyncGenerator[ServerEvent]:
    """POST a JSON body and give the events of the answer.

    Raises:
        ModelError: The endpoint could not be reached, refused, took too long or broke off. Status
            408, 409, 429 and 5xx, and everything on the way, may be tried again.
    """
    deadline = asyncio.get_running_loop().time() + limits.total
    request = client.build_request(
        "POST",
        url,
        # Escaped to ASCII, because a text may hold a lone surrogate, which UTF-8 cannot carry.
        content=json.dumps(body).encode("ascii"),
        headers={
            "accept": "text/event-stream",
            "content-type": "application/json",
            **headers,
        },
        timeout=limits.timeout(),
    )
    try:
        async with asyncio.timeout_at(deadline):
            response = await client.send(request, stream=True)
        try:
            if response.status_code != httpx.codes.OK:
                async with asyncio.timeout_at(deadline):
                    raise _status_error(response, await _read_some(response))
            decoder = SseDecoder()
            # httpx types the generator it gives as a mere iterator.
            stream = cast("AsyncGenerator[bytes]", response.aiter_bytes())
            async with aclosing(stream) as pieces:
                while (piece := await _next_piece(pieces, deadline)) is not None:
                    for event in decoder.feed(piece):
                        yield event
        finally:
            await response.aclose()
    except TimeoutError:
        raise ModelError(
            f"the model at {_place(url)} did not finish within {limits.total:g} s",
            code="TIMEOUT",
            retryable=True,
        ) from None
    except httpx.TimeoutException as error:
        raise ModelError(
            f"the model at {_place(url)} was silent for too long ({type(error).__name__})",
            code="TIMEOUT",
            retryable=True,
        ) from error
    except (httpx.TransportError, httpx.InvalidURL, EventTooLargeError) as error:
        raise ModelError(
            f"talking to the model at {_place(url)} failed: {error or type(error).__name__}",
            code="TRANSPORT",
            retryable=isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError),
        ) from error


def parse_object(text: str) -> dict[str, Any]:
    """Read the JSON object of one event.

    Raises:
        ModelError: It is none.
    """
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ModelError(
            f"the model sent something that is not a JSON object: {text[:200]!r}",
            code="BAD_RESPONSE",
            retryable=True,
        )
    return value


def broke_off(url: str) -> ModelError:
    """The failure of a stream that ended before its answer did."""
    return ModelError(
        f"the model at {_place(url)} broke off in the middle of its answer",
        code="TRANSPORT",
        retryable=True,
    )


async def _next_piece(pieces: AsyncIterator[bytes], deadline: float) -> bytes | None:
    async with asyncio.timeout_at(deadline):
        return await anext(pieces, None)


async def _read_some(response: httpx.Response) -> bytes:
    read = bytearray()
    async for piece in response.aiter_bytes():
        read += piece
        if len(read) >= _MAX_ERROR_BYTES:
            break
    return bytes(read)


def _status_error(response: httpx.Response, body: bytes) -> ModelError:
    status = response.status_code
    code: ErrorCode = "BAD_REQUEST"
    if status in (401, 403):
        code = "AUTH"
    elif status == 429:
        code = "RATE_LIMIT"
    elif status == 408:
        code = "TIMEOUT"
    elif status >= 500:
        code = "SERVER"
    return ModelError(
        f"the model at {_place(str(response.request.url))} answered {status}: {_explain(body)}",
        code=code,
        status=status,
        retry_after=_retry_after(response.headers),
        retryable=status in _RETRYABLE or status >= 500,
    )


def _explain(body: bytes) -> str:
    """The provider's own words, where its error body has any."""
    text = body.decode("utf-8", "replace").strip()
    try:
        parsed = json.loads(text)
    except ValueError:
        return text[:300] or "no reason given"
    error = parsed.get("error", parsed) if isinstance(parsed, dict) else None
    message = error.get("message") if isinstance(error, dict) else error
    return str(message)[:300] if message else text[:300]


def _retry_after(headers: httpx.Headers) -> float | None:
    """Seconds to wait, from either form of the header (RFC 9110, section 10.2.3)."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        until, now = _date(value), _date(headers.get("date", ""))
    return None if until is None or now is None else max(0.0, until - now)


def _date(value: str) -> float | None:
    try:
        return email.utils.parsedate_to_datetime(value).timestamp()
    except ValueError:
        return None


def _place(url: str) -> str:
    """An address without anything that may be secret in it."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return "an address that is not valid"
    return f"{parsed.scheme}://{parsed.netloc.decode()}{parsed.path}"
