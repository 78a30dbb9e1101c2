"""The DISPOSITION stream: what became of each Trigger."""

from __future__ import annotations

from remit.bus.message import Delivery
from remit.domain.disposition import Disposition
from remit.panel.live import Change, ChangeKind
from remit.panel.readmodel.rows import DispositionRow, Projected, Tally
from remit.panel.readmodel.times import micros
from remit.runtime.wire import read


def project_disposition(delivery: Delivery) -> Projected:
    """Return what a Disposition means for the read model."""
    disposition = read(delivery, Disposition)
    return Projected(
        rows=(
            DispositionRow(
                position=delivery.sequence,
                trigger=disposition.trigger,
                kind=disposition.kind,
                outcome=disposition.outcome,
                stored_at=micros(delivery.stored_at),
                document=delivery.message.data.decode(),
            ),
        ),
        tallies=(Tally("disposition", disposition.kind, delivery.stored_at),),
        change=Change(
            kind=ChangeKind.DISPOSITION,
            id=disposition.trigger,
            at=delivery.stored_at,
            about=(disposition.thread, *disposition.tickets),
            facts={
                "kind": disposition.kind,
                "outcome": disposition.outcome,
                "reason": disposition.reason,
                "rules": disposition.rules,
                "tickets": disposition.tickets,
            },
        ),
    )
