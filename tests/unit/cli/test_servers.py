from __future__ import annotations

from pathlib import Path

import pytest

from remit.bus.clock import ManualClock
from remit.cli.embedded import ServerFailed
from remit.cli.servers import ServerKeeper
from remit.cli.supervisor import State, Status


class PlayedServer:
    port = 4222

    def __init__(self, *, failures: int = 0) -> None:
        self.running = False
        self.starts = 0
        self.failures = failures

    @property
    def pid(self) -> int | None:
        return 100 + self.starts if self.running else None

    async def start(self) -> None:
        self.starts += 1
        self.running = True

    async def restart(self) -> None:
        if self.failures:
            self.failures -= 1
            raise ServerFailed("nats-server", Path("nats.log"), "ended at once")
        await self.start()

    async def stop(self) -> None:
        self.running = False


async def test_a_server_that_ends_by_itself_is_started_again() -> None:
    server, clock, changes = PlayedServer(), ManualClock(), list[Status]()
    keeper = ServerKeeper("nats", server, clock, changes.append)
    await keeper.start()
    await clock.advance(60)
    assert server.starts == 1
    server.running = False
    await clock.advance(1)
    assert server.starts == 2
    assert [one.state for one in changes] == [
        State.STARTING,
        State.READY,
        State.DIED,
        State.READY,
    ]
    assert changes[-1].starts == 2
    await keeper.stop()
    assert changes[-1].state is State.STOPPED


async def test_a_server_that_cannot_be_started_again_is_tried_less_and_less_often() -> None:
    server, clock, changes = PlayedServer(failures=1000), ManualClock(), list[Status]()
    keeper = ServerKeeper("nats", server, clock, changes.append)
    await keeper.start()
    server.running = False
    await clock.advance(120)
    tries = 1000 - server.failures
    assert 6 <= tries <= 12
    assert "ended at once" in changes[-1].detail
    server.failures = 0
    await clock.advance(20)
    assert server.running
    await keeper.stop()


@pytest.mark.parametrize("running", [True, False])
async def test_a_server_that_is_stopped_stays_stopped(running: bool) -> None:
    server, clock = PlayedServer(), ManualClock()
    keeper = ServerKeeper("nats", server, clock, lambda _: None)
    await keeper.start()
    server.running = running
    await keeper.stop()
    await clock.advance(60)
    assert server.starts == 1
    assert not server.running
