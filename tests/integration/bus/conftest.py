from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from remit.cli.embedded import NatsServer
from support.contracts.bus import World
from support.servers import world_on


@pytest.fixture
async def world(nats_server: NatsServer) -> AsyncIterator[World]:
    async with world_on(nats_server) as world:
        yield world
