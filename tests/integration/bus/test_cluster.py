"""Three servers: what the loss of a stream's leader costs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from remit.bus import subjects
from remit.bus.nats import NatsBus
from remit.bus.provisioning import apply
from remit.bus.streams import Sizing, streams
from remit.cli.embedded import NatsServer
from remit.cli.layout import free_port
from support.contracts.bus import message
from support.counting import add, count_log

pytestmark = pytest.mark.slow


@pytest.fixture
async def servers(tmp_path: Path) -> AsyncIterator[dict[str, NatsServer]]:
    ports = [free_port() for _ in range(3)]
    routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in ports)
    cluster = {
        f"n{port}": NatsServer(
            data_dir=tmp_path / str(port),
            config=f"""
            server_name: n{port}
            cluster {{ name: c, listen: "127.0.0.1:{port}", routes: [{routes}] }}
            """,
        )
        for port in ports
    }
    await asyncio.gather(*(server.start() for server in cluster.values()))
    yield cluster
    await asyncio.gather(*(server.stop() for server in cluster.values()))


async def test_commits_and_triggers_go_on_after_a_stream_lost_its_leader(
    servers: dict[str, NatsServer],
) -> None:
    wanted = [one for one in streams(Sizing(replicas=3)) if one.name in ("THREAD", "TRIGGER")]
    with capture_logs():
        bus = await NatsBus.connect([one.url for one in servers.values()], name="test", within=20)
        await apply(bus, wanted)
        log = count_log(bus, tries=30)
        committed = [0] * 4
        created = 0
        stop = asyncio.Event()

        async def commit(place: int) -> None:
            while not stop.is_set():
                who = str(committed[place])
                await log.transact(f"th{place}", who, add(who))
                committed[place] += 1
                await asyncio.sleep(0.005)

        async def create() -> None:
            nonlocal created
            while not stop.is_set():
                scope = subjects.trigger_scope("gh", str(created))
                one, again = [
                    await bus.create(
                        message(subjects.trigger("gh", str(created), home)), scope=scope
                    )
                    for home in ("home", "elsewhere")
                ]
                assert again.duplicate
                assert again.sequence == one.sequence
                created += 1
                await asyncio.sleep(0.005)

        async def moved_past(before: list[int]) -> None:
            def stuck() -> bool:
                now = [*committed, created]
                return any(count <= then for count, then in zip(now, before, strict=True))

            while stuck():  # noqa: ASYNC110 - what it waits for are counters
                await asyncio.sleep(0.05)

        working = [asyncio.ensure_future(commit(place)) for place in range(4)]
        working.append(asyncio.ensure_future(create()))
        await asyncio.sleep(1)
        leader = (await bus.api("STREAM.INFO.THREAD"))["cluster"]["leader"]
        await servers[leader].kill()
        before = [*committed, created]
        await asyncio.wait_for(moved_past(before), 30)
        stop.set()
        await asyncio.gather(*working)
        for place, count in enumerate(committed):
            held = await count_log(bus).load(f"th{place}", leader=True)
            assert held.state is not None
            assert held.state.by == tuple(str(number) for number in range(count))
        await asyncio.sleep(0.5)  # a history reads from any replica, which may lag a little
        triggers = [one async for one in bus.history("TRIGGER", subjects.triggers_of("gh"))]
        assert len(triggers) == created
        await bus.close()
