"""Normalise deliveries: raw bytes to Triggers, or to counted drops; then publish, then settle.

A Trigger is stored only if its id was never stored before, whatever its Thread and however it came
(TRG-3, SRC-7): over replicas, restarts and modes, and for as long as the stream remembers.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from remit.bus import subjects
from remit.bus.message import Delivery
from remit.bus.ports import Done, Later, Never, Outcome, Publisher
from remit.connectors.contract import DeliveryMalformed, Drop, DropReason, Instance, RawDelivery
from remit.domain.ids import SourceName
from remit.domain.trigger import Trigger
from remit.runtime.wire import message_of
from remit.source.drops import Drops
from remit.source.inbox import unpack
from remit.telemetry import metrics, names, tracing


class NormaliseDeliveries:
    """Handles the inbox.

    Args:
        instances: The Source instances by name.
        bus: Where Triggers go.
        drops: Counts what becomes none.
        horizon: How old an event may be.
    """

    def __init__(
        self,
        instances: Mapping[SourceName, Instance],
        bus: Publisher,
        drops: Drops,
        *,
        horizon: timedelta,
    ) -> None:
        self._instances = instances
        self._bus = bus
        self._drops = drops
        self._horizon = horizon

    async def __call__(self, delivery: Delivery) -> Outcome:
        """Normalise one delivery."""
        try:
            raw = unpack(delivery)
        except (KeyError, ValueError) as error:
            return Never(f"not a delivery of a Source: {error}")
        instance = self._instances.get(raw.source)
        if instance is None:
            # A replica with newer settings may know it.
            return Later(f"no Source named {raw.source!r} is configured here")
        tracing.annotate({names.SOURCE: raw.source})
        try:
            found = instance.source.normalise(raw)
        except DeliveryMalformed as error:
            return Never(str(error))
        drops: list[Drop] = []
        for one in found:
            if isinstance(one, Drop):
                drops.append(one)
            elif raw.received_at - one.occurred_at > self._horizon:
                drops.append(Drop(DropReason.TOO_OLD, one.id))
            else:
                await self._publish(one, raw)
        await self._drops.count(raw, drops)
        return Done()

    async def _publish(self, trigger: Trigger, raw: RawDelivery) -> None:
        facts = {names.TRIGGER_ID: trigger.id, names.TRIGGER_KIND: trigger.kind}
        with tracing.span(names.SPAN_TRIGGER, attributes=facts):
            stored = await self._bus.create(
                message_of(trigger, id=trigger.id, source="source"),
                scope=subjects.trigger_scope(trigger.source, trigger.id),
            )
        if not stored.duplicate:
            metrics.counter(names.METRIC_TRIGGERS).add(1, {names.SOURCE: raw.source})
