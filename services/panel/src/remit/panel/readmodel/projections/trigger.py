"""The TRIGGER stream: what entered the domain."""

from __future__ import annotations

from remit.bus.message import Delivery
from remit.domain.trigger import Trigger
from remit.panel.live import Change, ChangeKind
from remit.panel.readmodel.projections.projection import trace_id
from remit.panel.readmodel.rows import (
    Projected,
    Tally,
    ThreadTriggerRow,
    TriggerRow,
    TriggerSearchRow,
)
from remit.panel.readmodel.search import searchable
from remit.panel.readmodel.times import micros
from remit.runtime.wire import read

EXCERPT = 200
"""Characters of a text that lists show."""


def project_trigger(delivery: Delivery) -> Projected:
    """Return what a Trigger means for the read model."""
    trigger = read(delivery, Trigger)
    occurred_at = micros(trigger.occurred_at)
    trace = trace_id(delivery)
    return Projected(
        rows=(
            TriggerRow(
                position=delivery.sequence,
                id=trigger.id,
                source=trigger.source,
                kind=trigger.kind,
                actor=trigger.actor.id,
                actor_name=trigger.actor.name,
                home=trigger.home,
                title=trigger.title,
                excerpt=trigger.text[:EXCERPT],
                occurred_at=occurred_at,
                received_at=micros(trigger.received_at),
                stored_at=micros(delivery.stored_at),
                trace=trace,
                document=delivery.message.data.decode(),
            ),
            TriggerSearchRow(
                delivery.sequence, searchable(trigger.title), searchable(trigger.text)
            ),
            *(
                ThreadTriggerRow(thread, occurred_at, trigger.id)
                for thread in dict.fromkeys(trigger.threads)
            ),
        ),
        tallies=(Tally("trigger", trigger.source, delivery.stored_at),),
        change=Change(
            kind=ChangeKind.TRIGGER,
            id=trigger.id,
            at=delivery.stored_at,
            about=trigger.threads,
            facts={
                "source": trigger.source,
                "kind": trigger.kind,
                "actor": trigger.actor.name,
                "title": trigger.title,
                "text": trigger.text[:EXCERPT],
                "trace": trace,
            },
        ),
    )
