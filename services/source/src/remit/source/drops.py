"""Counting events that became no Trigger, each with its reason (SRC-4)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from remit.bus.ports import Publisher
from remit.connectors.contract import Drop, RawDelivery
from remit.domain.ids import SourceName
from remit.domain.messages import EventDropped
from remit.runtime.wire import message_of
from remit.telemetry import metrics, names
from remit.telemetry.logs import logger


class Drops:
    """Keeps the count, on the bus and as a metric."""

    def __init__(self, bus: Publisher) -> None:
        self._bus = bus
        self._log = logger("remit.source")

    async def count(self, raw: RawDelivery, drops: Sequence[Drop]) -> None:
        """Count the events of one delivery that were dropped; a repeat counts once."""
        for number, drop in enumerate(drops):
            await self.count_one(
                raw.source,
                drop,
                event=raw.event,
                delivery=raw.delivery,
                key=f"{raw.source}/{raw.event}/{raw.delivery}/{number}",
                at=raw.received_at,
            )

    async def count_one(
        self,
        source: SourceName,
        drop: Drop,
        *,
        event: str,
        delivery: str,
        key: str,
        at: datetime,
    ) -> None:
        """Count one event that was dropped.

        Args:
            source: The instance that dropped it.
            drop: Why.
            event: The provider's name of the event.
            delivery: The provider's id of the delivery.
            key: Names the drop: the same for a repeat of the delivery.
            at: When it was received.
        """
        dropped = EventDropped(
            source=source,
            reason=drop.reason,
            event=event,
            delivery=delivery,
            detail=drop.detail,
            at=at,
        )
        await self._bus.publish(message_of(dropped, id=f"drop/{key}", source="source"))
        labels = {names.SOURCE: source, names.DROP_REASON: drop.reason}
        metrics.counter(names.METRIC_DROPS).add(1, labels)
        self._log.info("event dropped", source=source, reason=drop.reason, detail=drop.detail)
