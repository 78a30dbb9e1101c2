"""The DROP stream: events that became no Trigger, each with its reason (SRC-4)."""

from __future__ import annotations

from remit.bus.message import Delivery
from remit.domain.messages import EventDropped
from remit.panel.live import Change, ChangeKind
from remit.panel.readmodel.rows import DropRow, Projected, Tally
from remit.panel.readmodel.times import micros
from remit.runtime.wire import read


def project_drop(delivery: Delivery) -> Projected:
    """Return what a dropped event means for the read model."""
    dropped = read(delivery, EventDropped)
    return Projected(
        rows=(
            DropRow(
                position=delivery.sequence,
                source=dropped.source,
                reason=dropped.reason,
                at=micros(dropped.at),
                document=delivery.message.data.decode(),
            ),
        ),
        tallies=(Tally("drop", f"{dropped.reason}@{dropped.source}", delivery.stored_at),),
        change=Change(
            kind=ChangeKind.DROP,
            id=f"{dropped.source}/{dropped.reason}",
            at=delivery.stored_at,
            facts={
                "source": dropped.source,
                "reason": dropped.reason,
                "event": dropped.event,
                "detail": dropped.detail,
            },
        ),
    )
