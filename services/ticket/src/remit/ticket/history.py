"""Asking an aggregate's earlier commits what it no longer remembers.

Rare: only for a Trigger that comes later than the last hundred and more of its neighbours.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from remit.bus.ports import Reader
from remit.domain.thread import TriggerAppended
from remit.domain.ticket import InputAdded, InputRefused


class _Event(BaseModel):
    """The little of an event that the question needs."""

    model_config = ConfigDict(extra="ignore")

    event: str
    position: int | None = None
    ref: dict[str, object] = {}


class _Commit(BaseModel):
    model_config = ConfigDict(extra="ignore")

    events: list[_Event]


async def was_taken(
    bus: Reader,
    stream: str,
    subject: str,
    by: type[TriggerAppended] | type[InputAdded] | type[InputRefused],
    position: int,
) -> bool:
    """Say whether an earlier commit on ``subject`` took the Trigger at ``position``."""
    kind = by.model_fields["event"].default
    async for delivery in bus.history(stream, subject):
        for event in _Commit.model_validate_json(delivery.message.data).events:
            held = event.position if event.position is not None else event.ref.get("position")
            if event.event == kind and held == position:
                return True
    return False
