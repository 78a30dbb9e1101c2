"""A bus that fails on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from remit.bus.errors import BusUnavailable
from remit.bus.message import Delivery, Message, Stored
from remit.bus.ports import Bus


class FaultyBus:
    """Passes everything to ``inner`` but for the faults that a test has asked for.

    Attributes:
        lose_answers: How many of the next writes are stored, their answers lost.
        lose_writes: How many of the next writes never arrive.
        stale: Deliveries that the next reads without ``leader`` answer with.
        calls: How often each method was called.
    """

    def __init__(self, inner: Bus) -> None:
        self._inner = inner
        self.lose_answers = 0
        self.lose_writes = 0
        self.stale: list[Delivery | None] = []
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def publish(self, message: Message) -> Stored:
        self._before("publish")
        return self._after(await self._inner.publish(message))

    async def publish_all(self, messages: Sequence[Message]) -> list[Stored]:
        self._before("publish_all")
        stored = []
        for message in messages:
            stored.append(await self._inner.publish(message))
            self._after(stored[-1])
        return stored

    async def replace(self, message: Message, *, expected: int) -> Stored:
        self._before("replace")
        return self._after(await self._inner.replace(message, expected=expected))

    async def last(self, stream: str, subject: str, *, leader: bool = False) -> Delivery | None:
        self.calls["leader" if leader else "last"] += 1
        if self.stale and not leader:
            return self.stale.pop(0)
        return await self._inner.last(stream, subject, leader=leader)

    def _before(self, call: str) -> None:
        self.calls[call] += 1
        if self.lose_writes:
            self.lose_writes -= 1
            raise BusUnavailable(call)

    def _after(self, stored: Stored) -> Stored:
        if self.lose_answers:
            self.lose_answers -= 1
            raise BusUnavailable("wait for an answer")
        return stored
