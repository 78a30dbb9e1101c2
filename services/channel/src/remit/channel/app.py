"""The composition root of the channel service."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import timedelta

from remit.bus import subjects
from remit.bus.clock import SystemClock
from remit.bus.errors import BusError
from remit.bus.ports import Bus, Consumer
from remit.bus.worker import Worker
from remit.channel.settings import ChannelSettings
from remit.channel.write_to_provider import WriteToProvider
from remit.connectors.contract import Instance, ProviderUnavailable
from remit.connectors.hosting import configured_instances
from remit.coordination import CoordinationUnavailable
from remit.domain.ids import SourceName
from remit.runtime.connect import connect_bus
from remit.runtime.connect_leases import connect_leases
from remit.runtime.leased import LeasedPart
from remit.runtime.service import Assembly, Part, main

NAME = "channel"


def writes_of(source: SourceName) -> Consumer:
    """Return the consumer of the writes of one provider account."""
    return Consumer(
        stream="CHANNEL",
        name=f"channel-{source}",
        subject=subjects.channels_of(source),
        attempts=60,
        backoff=tuple(timedelta(seconds=s) for s in (1, 2, 5, 15, 60, 300)),
    )


def writer(instance: Instance, bus: Bus, concurrency: int) -> Worker:
    """Return the worker that writes to one provider account."""
    consumer = writes_of(instance.name)
    handler = WriteToProvider(instance, bus, consumer, SystemClock())
    return Worker(bus, consumer, handler, concurrency=concurrency)


async def build(settings: ChannelSettings, stack: AsyncExitStack) -> Assembly:
    """Connect, and put the service together: one writer for each provider account."""
    bus = await connect_bus(settings, NAME, stack)
    leases = await connect_leases(settings, stack)
    instances = await configured_instances(settings.sources_file, bus, stack)
    parts: list[Part] = [
        LeasedPart(
            f"channel:{name}",
            leases,
            lambda instance=instance: writer(instance, bus, settings.concurrency),  # type: ignore[misc]
            ttl=timedelta(seconds=settings.lease_seconds),
        )
        for name, instance in instances.items()
    ]
    return Assembly(parts=parts, needs={"nats": bus.ready, "redis": leases.ready})


def run() -> int:
    """Run the service to its end; return its exit status."""
    settings = ChannelSettings()
    away = (BusError, ProviderUnavailable, CoordinationUnavailable)
    return main(NAME, settings, lambda stack: build(settings, stack), away=away)
