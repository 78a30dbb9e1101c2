"""Server-sent events, read from bytes as they arrive.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""The largest event that is read; a peer that sends a larger one is at fault."""


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event of a stream.

    Attributes:
        name: Its type; `message` where the stream names none.
        data: Its data lines, joined by line feeds.
    """

    name: str
    data: str


class EventTooLargeError(ValueError):
    """An event is larger than `MAX_EVENT_BYTES`."""


class SseDecoder:
    """Turns a stream of bytes, cut anywhere, into its events."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._size = 0
        self._name = ""
        self._data: list[str] = []

    def feed(self, data: bytes) -> list[ServerEvent]:
        """Take in more bytes and give the events they complete.

        Raises:
            EventTooLargeError: An event grows beyond the limit.
        """
        self._rest += data
        events: list[ServerEvent] = []
        for line in self._whole_lines():
            self._size += len(line)
            event = self._line(line.decode("utf-8", "replace"))
            if event is not None:
                events.append(event)
        if self._size + len(self._rest) > MAX_EVENT_BYTES:
            raise EventTooLargeError(f"a server-sent event is larger than {MAX_EVENT_BYTES} bytes")
        return events

    def _whole_lines(self) -> Iterator[bytes]:
        """Cut whole lines off the front; they end in CRLF, LF or a CR that is not the last byte."""
        start = 0
        while True:
            end = _line_end(self._rest, start)
            if end is None:
                break
            yield bytes(self._rest[start : end[0]])
            start = end[1]
        del self._rest[:start]

    def _line(self, line: str) -> ServerEvent | None:
        if not line:
            return self._dispatch()
        if line.startswith(":"):
            return None
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        return None

    def _dispatch(self) -> ServerEvent | None:
        name, data = self._name, self._data
        self._name, self._data, self._size = "", [], 0
        if not data:
            return None
        return ServerEvent(name or "message", "\n".join(data))


def _line_end(data: bytearray, start: int) -> tuple[int, int] | None:
    """Where the line at `start` ends and where the next begins; None while that is unknown."""
    feed, carriage = data.find(b"\n", start), data.find(b"\r", start)
    if carriage < 0 or 0 <= feed < carriage:
        return None if feed < 0 else (feed, feed + 1)
    if carriage == len(data) - 1:
        return None
    return (carriage, carriage + (2 if data[carriage + 1] == 0x0A else 1))
