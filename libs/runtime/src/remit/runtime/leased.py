"""A part of a service that only one replica runs at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

from remit.bus.clock import Clock, SystemClock, sleep_unless
from remit.coordination import CoordinationUnavailable, Lease, LeaseHeld, Leases
from remit.runtime.service import Part
from remit.telemetry import metrics, names
from remit.telemetry.logs import logger


class LeasedPart:
    """Runs a part while this replica holds a lease, and waits for the lease while it does not.

    Args:
        name: The lease, and what the part is called.
        leases: Hands the lease out.
        make: Makes the part, anew each time the lease is won.
        ttl: How long the lease outlives a replica that falls silent.
        clock: Paces the tries.
    """

    def __init__(
        self,
        name: str,
        leases: Leases,
        make: Callable[[], Part],
        *,
        ttl: timedelta,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self._leases = leases
        self._make = make
        self._ttl = ttl
        self._clock = clock or SystemClock()
        self._part: Part | None = None
        self._stopping = asyncio.Event()
        self._log = logger("remit.runtime.lease").bind(lease=name)

    async def run(self) -> None:
        """Win the lease, run the part, and start over when the lease is lost."""
        away = False
        while not self._stopping.is_set():
            try:
                async with self._leases.hold(self.name, ttl=self._ttl) as lease:
                    away = False
                    await self._run_under(lease)
            except LeaseHeld:
                away = False
            except CoordinationUnavailable as error:
                if not away:
                    self._log.warning("waits for Redis", reason=str(error))
                away = True
            await sleep_unless(self._stopping, self._clock, self._ttl.total_seconds() / 5)

    async def stop(self) -> None:
        """Stop the part, if it runs here, and let `run` return."""
        self._stopping.set()
        if self._part is not None:
            await self._part.stop()

    def progressing(self) -> bool:
        """Say whether the part makes progress; waiting for the lease is none of its faults."""
        return self._part is None or self._part.progressing()

    async def _run_under(self, lease: Lease) -> None:
        self._log.info("lease won", token=lease.token)
        part = self._part = self._make()
        running = asyncio.create_task(part.run(), name=self.name)
        losing = asyncio.create_task(lease.lost.wait())
        try:
            await asyncio.wait({running, losing}, return_when=asyncio.FIRST_COMPLETED)
            if lease.lost.is_set():
                self._log.warning("lease lost")
                metrics.counter(names.METRIC_LEASES_LOST).add(1)
            if not running.done():
                await part.stop()
            await running
        finally:
            self._part = None
            for task in (running, losing):
                task.cancel()
            await asyncio.gather(running, losing, return_exceptions=True)
