"""The DEADLETTER stream: what was given up on, and why."""

from __future__ import annotations

from remit.bus import deadletters
from remit.bus.message import Delivery
from remit.panel.live import Change, ChangeKind
from remit.panel.readmodel.projections.projection import trace_id
from remit.panel.readmodel.rows import DeadLetterRow, Projected, Tally
from remit.panel.readmodel.times import micros

LONGEST = 20_000
"""Characters of a dead letter's body that are shown; the stream has the whole of it."""


def project_dead_letter(delivery: Delivery) -> Projected:
    """Return what a dead letter means for the read model."""
    dead = deadletters.read(delivery)
    return Projected(
        rows=(
            DeadLetterRow(
                position=delivery.sequence,
                stream=dead.stream,
                subject=dead.message.subject,
                message=dead.message.id,
                reason=dead.reason,
                at=micros(delivery.stored_at),
                trace=trace_id(delivery),
                document=dead.message.data.decode(errors="replace")[:LONGEST],
            ),
        ),
        tallies=(Tally("dead_letter", dead.stream, delivery.stored_at),),
        change=Change(
            kind=ChangeKind.DEAD_LETTER,
            id=str(delivery.sequence),
            at=delivery.stored_at,
            facts={"stream": dead.stream, "reason": dead.reason, "message": dead.message.id},
        ),
    )
