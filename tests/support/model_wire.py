"""Model endpoints in memory: an httpx transport that answers with server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import httpx

from remit.harness.log.messages import (
    AssistantMessage,
    Block,
    Message,
    ModelSource,
    Source,
    TextBlock,
    ToolMessage,
    ToolSource,
    UserMessage,
)
from remit.harness.models import Model, ModelEvent, ModelRequest, ToolSchema

READ = ToolSchema("read", "Reads.", {"type": "object", "properties": {}})


def sse(*events: dict[str, Any] | str) -> bytes:
    """A stream of events, each a JSON object or a bare text."""
    pieces = []
    for event in events:
        name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
        data = event if isinstance(event, str) else json.dumps(event)
        pieces.append(f"{name}data: {data}\n\n")
    return "".join(pieces).encode()


@dataclass
class Wire:
    """What an endpoint was asked, and what it answers."""

    answer: Callable[[], httpx.Response]
    requests: list[httpx.Request] = field(default_factory=list)
    closed: bool = False

    def client(self) -> httpx.AsyncClient:
        def handle(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            return self.answer()

        return httpx.AsyncClient(transport=httpx.MockTransport(handle))

    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.requests[-1].content)
        return body


@dataclass
class _Pieces(httpx.AsyncByteStream):
    pieces: Sequence[bytes | Exception | asyncio.Event]
    wire: Wire

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            if isinstance(piece, Exception):
                raise piece
            if isinstance(piece, asyncio.Event):
                await piece.wait()
            else:
                yield piece

    async def aclose(self) -> None:
        self.wire.closed = True


def streaming(*pieces: bytes | Exception | asyncio.Event) -> Wire:
    """An endpoint whose answer comes in pieces, waits at an event, and may break."""
    wire = Wire(lambda: httpx.Response(200, stream=_Pieces(pieces, wire)))
    return wire


def user(text: str, kind: str = "user") -> UserMessage:
    return UserMessage(content=(TextBlock(text=text),), source=Source(kind=kind), id="u")


def assistant(*blocks: Block, replay: dict[str, Any] | None = None) -> AssistantMessage:
    source = ModelSource(provider="p", model="m", replay_state=replay)
    return AssistantMessage(content=blocks, source=source, id="a")


def tool_result(call_id: str, text: str, *, failed: bool = False) -> ToolMessage:
    return ToolMessage(
        source=ToolSource(call_id=call_id),
        tool_call_id=call_id,
        content=(TextBlock(text=text),),
        is_error=failed,
        id="r",
    )


def request(
    *messages: Message, system: str | None = "Be good.", tools: Sequence[ToolSchema] = (READ,)
) -> ModelRequest:
    return ModelRequest(
        system=system, messages=messages or (user("hi"),), tools=tuple(tools), cwd="/work"
    )


async def answer_of(model: Model, *messages: Message) -> list[ModelEvent]:
    return [event async for event in model.stream(request(*messages))]
