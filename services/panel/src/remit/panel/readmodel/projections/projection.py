"""What a projection is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from remit.bus.message import Delivery
from remit.panel.readmodel.rows import Projected
from remit.runtime.wire import trace_of


@dataclass(frozen=True, slots=True)
class Projection:
    """How one stream is read.

    Attributes:
        stream: The stream.
        subject: Its subjects.
        project: Says what one message means. It raises `PayloadUnreadable` or `NotAnEvent` for
            one that it cannot read; that one is noted and passed over.
    """

    stream: str
    subject: str
    project: Callable[[Delivery], Projected]


def trace_id(delivery: Delivery) -> str | None:
    """Return the id of the trace that a message goes on (W3C Trace Context)."""
    parts = (trace_of(delivery) or "").split("-")
    return parts[1] if len(parts) >= 4 and len(parts[1]) == 32 else None
