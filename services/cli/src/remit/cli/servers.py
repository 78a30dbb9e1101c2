"""Keeps an embedded server running, as the supervisor does with services."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from remit.bus.clock import Clock, sleep_unless
from remit.cli.embedded import ServerFailed
from remit.cli.supervisor import State, Status

LOOK_EVERY = 0.5
"""Seconds between looks whether it still runs."""
LONGEST = 20.0
"""Seconds before another try, at most."""


class Server(Protocol):
    """What is kept of an embedded server."""

    @property
    def port(self) -> int:
        """Where it listens."""
        ...

    @property
    def pid(self) -> int | None:
        """Its process."""
        ...

    @property
    def running(self) -> bool:
        """Whether it runs."""
        ...

    async def start(self) -> None:
        """Start it."""
        ...

    async def restart(self) -> None:
        """Start it again on the same data and port."""
        ...

    async def stop(self) -> None:
        """Stop it."""
        ...


class ServerKeeper:
    """Starts a server, and starts it again when it ends by itself.

    Args:
        name: What people call it.
        server: The server.
        clock: Paces looks and tries.
        on_change: Called with each change.
    """

    def __init__(
        self, name: str, server: Server, clock: Clock, on_change: Callable[[Status], None]
    ) -> None:
        self._name = name
        self._server = server
        self._clock = clock
        self._on_change = on_change
        self._stopping = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None
        self._starts = 0

    async def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            DataFolderBusy: Another process uses its data folder.
            ServerFailed: It does not start.
        """
        self._tell(State.STARTING)
        await self._server.start()
        self._starts = 1
        self._tell(State.READY)
        self._keeping = asyncio.create_task(self._keep(), name=f"keep {self._name}")

    async def stop(self) -> None:
        """Stop it."""
        self._stopping.set()
        if self._keeping is not None:
            await self._keeping
        await self._server.stop()
        self._tell(State.STOPPED)

    async def _keep(self) -> None:
        delay = LOOK_EVERY
        while not self._stopping.is_set():
            await sleep_unless(self._stopping, self._clock, delay)
            if self._stopping.is_set() or self._server.running:
                delay = LOOK_EVERY
                continue
            self._tell(State.DIED, "started again")
            try:
                await self._server.restart()
            except ServerFailed as error:
                delay = min(delay * 2, LONGEST)
                self._tell(State.DIED, str(error))
            else:
                delay = LOOK_EVERY
                self._starts += 1
                self._tell(State.READY)

    def _tell(self, state: State, detail: str = "") -> None:
        ready = state is State.READY
        self._on_change(
            Status(
                name=self._name,
                state=state,
                pid=self._server.pid if ready else None,
                port=self._server.port if ready else None,
                starts=self._starts,
                detail=detail,
            )
        )
