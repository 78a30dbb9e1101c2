"""The life of a service process: ready, not ready, stopped in order."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import httpx
import pytest

from remit.cli.embedded import NatsServer, ValkeyServer
from remit.runtime.service import LEFT_AT_ONCE
from support.deployment import Deployment, ServiceProcess
from support.servers import running_nats

Settings = dict[str, str]


@pytest.fixture
def own_nats(tmp_path: Path) -> Iterator[NatsServer]:
    """A NATS that a test may stop and kill."""
    with running_nats(tmp_path / "nats") as server:
        yield server


@pytest.fixture
async def deployment(tmp_path: Path) -> AsyncIterator[Callable[[Settings], Deployment]]:
    made: list[Deployment] = []

    def make(settings: Settings) -> Deployment:
        made.append(Deployment(tmp_path, settings))
        return made[-1]

    yield make
    for one in made:
        await one.stop()


def settings(nats: NatsServer, valkey: ValkeyServer) -> Settings:
    return {"REMIT_NATS_URL": nats.url, "REMIT_REDIS_URL": valkey.url}


async def eventually(holds: Callable[[], Awaitable[bool]], within: float = 20) -> None:
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if await holds():
            return
        await asyncio.sleep(0.1)
    raise AssertionError("it never came to hold")


async def is_ready(service: ServiceProcess) -> bool:
    return (await service.readiness())[0] == 200


@pytest.mark.parametrize("name", ["ticket", "eval", "source", "channel"])
async def test_a_service_is_ready_alive_and_ends_well_when_it_is_asked_to(
    name, nats_server, valkey_server, deployment
):
    running = deployment(settings(nats_server, valkey_server))
    await running.start(name)
    service = running.services[name]
    assert await is_ready(service)
    async with httpx.AsyncClient() as http:
        assert (await http.get(f"{service.url}/healthz")).status_code == 200
        assert (await http.get(f"{service.url}/nothing")).status_code == 404
    assert await service.stop() == 0
    events = [line["event"] for line in service.lines()]
    assert events.index("ready") < events.index("stopping") < events.index("stopped")


@pytest.mark.field("D6")
async def test_a_service_waits_for_a_bus_that_is_away_and_says_so_once(
    own_nats, valkey_server, deployment, tmp_path
):
    await own_nats.kill()
    environment = settings(own_nats, valkey_server)
    service = ServiceProcess("ticket", environment, tmp_path / "ticket.log")
    deployment(environment).services["ticket"] = service
    await service.start()
    await service.until("waiting")
    status, answer = await service.readiness()
    assert status == 503
    assert "NATS" in str(answer["waiting_for"])
    await asyncio.sleep(3)
    assert [line["event"] for line in service.lines()].count("waiting") == 1
    await own_nats.restart()
    await service.until("ready")


@pytest.mark.field("D6")
async def test_a_service_is_not_ready_while_the_bus_is_away_and_goes_on_when_it_is_back(
    own_nats, valkey_server, deployment
):
    running = deployment(settings(own_nats, valkey_server))
    await running.start("ticket")
    service = running.services["ticket"]
    await own_nats.kill()

    async def not_ready() -> bool:
        return not await is_ready(service)

    await eventually(not_ready)
    await asyncio.sleep(2)
    await own_nats.restart()
    await eventually(lambda: is_ready(service))
    assert len(service.lines()) < 40, "one line per change, not per try"


async def test_a_redis_that_goes_away_is_noticed(nats_server, tmp_path, deployment):
    valkey = ValkeyServer(data_dir=tmp_path / "valkey")
    await valkey.start()
    running = deployment(settings(nats_server, valkey))
    await running.start("eval")
    service = running.services["eval"]
    await valkey.kill()

    async def not_ready() -> bool:
        return not await is_ready(service)

    await eventually(not_ready)
    await valkey.restart()
    await eventually(lambda: is_ready(service))
    await valkey.stop()


@pytest.mark.field("D11")
@pytest.mark.field("D5")
async def test_a_second_signal_leaves_at_once_and_a_stuck_part_is_not_alive(tmp_path):
    service = ServiceProcess("stubborn", {"REMIT_DRAIN_SECONDS": "30"}, tmp_path / "log")
    await service.start_module("support.stubborn_service", cwd=Path(__file__).parents[2])
    await service.until("ready")
    async with httpx.AsyncClient() as http:
        answer = await http.get(f"{service.url}/healthz")
    assert (answer.status_code, answer.json()["stuck"]) == (503, ["stubborn"])
    service.signal(signal.SIGTERM)
    await service.until("stopping")
    assert (await service.readiness())[0] == 503
    service.signal(signal.SIGTERM)
    assert await asyncio.wait_for(service.wait(), 5) == LEFT_AT_ONCE
