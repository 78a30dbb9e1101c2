"""The composition root of the source service."""

from __future__ import annotations

from contextlib import AsyncExitStack

from remit.bus import subjects
from remit.bus.clock import SystemClock
from remit.bus.errors import BusError
from remit.bus.ports import Bus, Consumer, one_by_one
from remit.bus.worker import Worker
from remit.connectors.contract import ProviderUnavailable
from remit.connectors.hosting import configured_instances
from remit.runtime.connect import connect_bus
from remit.runtime.service import Assembly, main
from remit.source.drops import Drops
from remit.source.normalise_deliveries import NormaliseDeliveries
from remit.source.receive_webhooks import ReceiveWebhooks
from remit.source.settings import SourceSettings

NAME = "source"
INBOX = Consumer(stream="INBOX", name="source-normalise", subject=subjects.INBOXES)


async def build(settings: SourceSettings, stack: AsyncExitStack) -> Assembly:
    """Connect, and put the service together."""
    bus = await connect_bus(settings, NAME, stack)
    instances = await configured_instances(settings.sources_file, bus, stack)
    drops = Drops(bus)
    normalise = NormaliseDeliveries(instances, bus, drops, horizon=settings.horizon)
    webhooks = ReceiveWebhooks(
        instances, bus, drops, SystemClock(), max_body_bytes=settings.max_body_bytes
    )
    worker = normalising(bus, normalise, concurrency=settings.concurrency)
    return Assembly(parts=[worker], routers=[webhooks.router()], needs={"nats": bus.ready})


def normalising(bus: Bus, normalise: NormaliseDeliveries, *, concurrency: int) -> Worker:
    """Return the worker of the inbox: each delivery by itself, for none depends on another."""
    return Worker(
        bus,
        INBOX,
        one_by_one(normalise),
        key=lambda delivery: delivery.message.id,
        concurrency=concurrency,
    )


def run() -> int:
    """Run the service to its end; return its exit status."""
    settings = SourceSettings()
    away = (BusError, ProviderUnavailable)
    return main(NAME, settings, lambda stack: build(settings, stack), away=away)
