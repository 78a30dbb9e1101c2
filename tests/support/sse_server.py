"""A small HTTP server that answers model requests with server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

Answer = Callable[[dict[str, Any]], bytes | tuple[int, bytes] | None]
"""From a request's body to the stream that answers it; a status and a body; or None to hang."""


@dataclass
class SseServer:
    """What the server was asked.

    Attributes:
        url: Its address.
        requests: Every request: its path, its headers, its body.
        left: How many clients went away while they were kept waiting.
    """

    url: str = ""
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    left: int = 0


@asynccontextmanager
async def sse_server(answer: Answer) -> AsyncIterator[SseServer]:
    """Serve on loopback."""
    served = SseServer()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        first, *lines = head.strip().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in lines)
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        served.requests.append((first.split(" ")[1], headers, body))
        given = answer(body)
        if given is None:
            await reader.read()
            served.left += 1
        else:
            status, content = given if isinstance(given, tuple) else (200, given)
            kind = "text/event-stream" if status == 200 else "application/json"
            writer.write(
                f"HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n".encode()
            )
            writer.write(content)
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield served
