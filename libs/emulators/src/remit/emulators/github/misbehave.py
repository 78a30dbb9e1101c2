"""Requests that go wrong on demand: refused before they are done, or left unanswered after."""

import asyncio
import json

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .control import PREFIX
from .faults import TimeOut, refusal
from .hub import Hub


class Misbehave:
    """Wraps the whole application; the emulator's own API always behaves."""

    def __init__(self, app: ASGIApp, *, hub: Hub) -> None:
        self._app = app
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or do not."""
        if scope["type"] != "http" or scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        fault = self._hub.faults.for_request(scope["method"], scope["path"])
        if fault is None:
            await self._app(scope, receive, send)
        elif isinstance(fault, TimeOut):
            await self._app(scope, receive, _swallow)
            await _wait_while_connected(receive, fault.seconds)
            await _answer(send, 504, {"message": "We couldn't respond to your request in time."})
        else:
            instead = refusal(fault, self._hub.now())
            await _answer(send, instead.status, instead.body, instead.headers)


async def _swallow(message: Message) -> None:
    """Take an answer that nobody is to see."""


async def _wait_while_connected(receive: Receive, seconds: float) -> None:
    async def lost() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    try:
        await asyncio.wait_for(lost(), timeout=seconds)
    except TimeoutError:
        return


async def _answer(
    send: Send, status: int, body: dict[str, str], headers: dict[str, str] | None = None
) -> None:
    content = json.dumps(body).encode()
    fields = {
        "Content-Type": "application/json; charset=utf-8",
        "Content-Length": str(len(content)),
    } | (headers or {})
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(name.lower().encode(), value.encode()) for name, value in fields.items()],
        }
    )
    await send({"type": "http.response.body", "body": content})
