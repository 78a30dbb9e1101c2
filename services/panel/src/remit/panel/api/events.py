"""Changes as they are projected, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict

from fastapi.responses import StreamingResponse

from remit.panel.live import Change, ChangeKind, Live

KEEP_ALIVE = 15.0
"""Seconds after which a silent stream says that it is still there."""
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def event_stream(
    live: Live, *, kinds: Iterable[ChangeKind] = (), about: str | None = None
) -> StreamingResponse:
    """Return every change as an event named after its kind, until the caller goes.

    The first event, ``hello``, says that changes count from here on.
    """
    return _response(_changes(live, kinds, about))


def pulse(live: Live, *, about: str | None = None, every: float = 1.0) -> StreamingResponse:
    """Return one ``changed`` event, without data, for all changes of ``every`` seconds.

    For pages that show themselves anew; ``hello`` says that they should do so once now, because
    something may have changed while nobody listened.
    """
    return _response(_pulse(live, about, every))


def encode(change: Change) -> bytes:
    """Return a change as a server-sent event."""
    data = {**asdict(change), "at": change.at.isoformat()}
    return f"event: {change.kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _response(events: AsyncIterator[bytes]) -> StreamingResponse:
    return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)


async def _changes(
    live: Live, kinds: Iterable[ChangeKind], about: str | None
) -> AsyncIterator[bytes]:
    with live.watch(kinds=kinds, about=about) as watch:
        yield b"event: hello\ndata: {}\n\n"
        while not live.closed:
            change = await watch.next(KEEP_ALIVE)
            yield encode(change) if change is not None else b": still here\n\n"


async def _pulse(live: Live, about: str | None, every: float) -> AsyncIterator[bytes]:
    with live.watch(about=about) as watch:
        yield b"event: hello\ndata: {}\n\n"
        while not live.closed:
            change = await watch.next(KEEP_ALIVE)
            if change is None:
                yield b": still here\n\n"
                continue
            watch.forget()
            yield b"event: changed\ndata: {}\n\n"
            await asyncio.sleep(every)
