from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from remit.cli.embedded import ValkeyServer
from remit.coordination import (
    LeaseHeld,
    RedisConnection,
    RedisLeases,
    RedisReadPositions,
)
from support.contracts.coordination import CoordinationContract, Place


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[ValkeyServer]:
    async with ValkeyServer(data_dir=tmp_path) as server:
        yield server


@pytest.fixture
async def place(server: ValkeyServer) -> AsyncIterator[Place]:
    one, other = RedisConnection(server.url), RedisConnection(server.url)

    async def flush() -> None:
        await one.client.flushall()

    yield Place(
        leases=RedisLeases(one),
        other=RedisLeases(other),
        positions=RedisReadPositions(one),
        pass_time=asyncio.sleep,
        flush=flush,
        away=server.kill,
        back=server.restart,
    )
    await one.close()
    await other.close()


class TestCoordinationOverRedis(CoordinationContract):
    """The shared suite over a real Valkey."""


@pytest.mark.field("D3")
async def test_a_lease_whose_holder_fell_silent_expires_and_passes_on(place: Place) -> None:
    class Asleep:
        """The clock of a process that is paused: it never gets to renew."""

        def now(self) -> datetime:
            return datetime.now(UTC)

        async def sleep(self, seconds: float) -> None:
            await asyncio.Event().wait()

    assert isinstance(place.leases, RedisLeases)
    silent = RedisLeases(place.leases._redis, clock=Asleep())
    held = silent.hold("th", ttl=timedelta(seconds=0.5))
    first = await held.__aenter__()
    with pytest.raises(LeaseHeld):
        await place.other.hold("th", ttl=timedelta(seconds=5)).__aenter__()
    await asyncio.sleep(0.6)
    async with place.other.hold("th", ttl=timedelta(seconds=5)) as second:
        assert second.token > first.token
        await held.__aexit__(None, None, None)
        with pytest.raises(LeaseHeld):
            await place.leases.hold("th", ttl=timedelta(seconds=5)).__aenter__()


async def test_what_was_put_survives_a_crash_and_leases_stay_with_their_holders(
    server: ValkeyServer, place: Place
) -> None:
    await place.positions.put("gh", "poll", "42")
    async with place.leases.hold("th", ttl=timedelta(seconds=5)) as lease:
        await server.kill()
        await server.restart()
        assert await place.positions.get("gh", "poll") == "42"
        with pytest.raises(LeaseHeld):
            await place.other.hold("th", ttl=timedelta(seconds=5)).__aenter__()
        await asyncio.sleep(2)
        assert not lease.lost.is_set()


async def test_a_paused_server_is_told_in_time(server: ValkeyServer, place: Place) -> None:
    await place.positions.put("gh", "poll", "1")
    server.pause()
    loop = asyncio.get_running_loop()
    start = loop.time()
    with pytest.raises(Exception, match="did not answer"):
        await place.positions.get("gh", "poll")
    assert loop.time() - start < 10
    server.resume()
    assert await place.positions.get("gh", "poll") == "1"
