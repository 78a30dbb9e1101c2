"""Connecting a service to the bus, from its settings."""

from __future__ import annotations

from contextlib import AsyncExitStack

from remit.bus.nats import NatsBus
from remit.bus.ports import Bus
from remit.bus.provisioning import check
from remit.runtime.settings import ServiceSettings


async def connect_bus(settings: ServiceSettings, service: str, stack: AsyncExitStack) -> Bus:
    """Return a connection to NATS whose streams are as the code says; closed with ``stack``.

    Raises:
        BusUnavailable: NATS did not answer.
        StreamMismatch: A stream is missing or differs.
        ServerTooOld: The server lacks what Remit needs.
    """
    password = settings.nats_password_file
    bus = await NatsBus.connect(
        settings.nats_servers,
        name=f"remit-{service} {settings.instance}",
        user=settings.nats_user,
        password=password.read_text().strip() if password else None,
    )
    stack.push_async_callback(bus.close)
    await check(bus)
    return bus
