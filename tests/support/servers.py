"""Real servers for tests, and buses on them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import nats

from remit.bus.nats import NatsBus
from remit.bus.provisioning import apply
from remit.cli.embedded import NatsServer, ValkeyServer
from support.contracts.bus import World

S = TypeVar("S", NatsServer, ValkeyServer)


@contextmanager
def running(server: S) -> Iterator[S]:
    """Run a server outside any event loop, as for a whole session of tests."""
    asyncio.run(server.start())
    try:
        yield server
    finally:
        asyncio.run(server.stop())


@contextmanager
def running_nats(folder: Path) -> Iterator[NatsServer]:
    """Run NATS with every stream."""

    async def provision() -> None:
        async with bus_on(server, "provision") as bus:
            await apply(bus)

    with running(NatsServer(data_dir=folder)) as server:
        asyncio.run(provision())
        yield server


@asynccontextmanager
async def bus_on(server: NatsServer, name: str = "test") -> AsyncIterator[NatsBus]:
    """Connect to a server."""
    bus = await NatsBus.connect(server.url, name=name)
    try:
        yield bus
    finally:
        await bus.close()


@asynccontextmanager
async def world_on(server: NatsServer) -> AsyncIterator[World]:
    """Connect to a server twice, as two replicas would."""

    async def store_raw(subject: str, headers: dict[str, str], data: bytes) -> int:
        foreign = await nats.connect(server.url)
        try:
            told = await foreign.request(subject, data, headers=headers)
            sequence: int = json.loads(told.data)["seq"]
            return sequence
        finally:
            await foreign.close()

    async with bus_on(server, "one") as one, bus_on(server, "other") as other:
        yield World(
            bus=one,
            other=other,
            pass_time=asyncio.sleep,
            now=lambda: datetime.now(UTC),
            store_raw=store_raw,
        )
