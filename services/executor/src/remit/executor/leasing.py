"""The lease on an Executor Session: one host works in a Ticket's directory at a time.

Whose the Assignment is, the Ticket alone says. The lease keeps a host that was only slow and the one
that took over from it out of the same directory. One that was lost to nobody, because Redis was
flushed or away, is taken again and the agent works on: Redis holds no truth (DESIGN.md, section 5).
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from types import TracebackType

from remit.bus.clock import Clock
from remit.coordination import CoordinationUnavailable, LeaseHeld, Leases
from remit.domain.ids import TicketId
from remit.telemetry import metrics, names
from remit.telemetry.logs import logger

_AGAIN = 1.0
"""Seconds between tries to have it again while Redis is away."""


class SessionLease:
    """A lease that is held for the length of a block.

    Args:
        leases: Hands it out.
        ticket: The Ticket whose Session it is.
        ttl: How long it outlives a host that falls silent.
        clock: Paces tries.

    Attributes:
        lost: Somebody else has it now.
    """

    def __init__(self, leases: Leases, ticket: TicketId, *, ttl: timedelta, clock: Clock) -> None:
        self._leases = leases
        self._name = f"session:{ticket}"
        self._ttl = ttl
        self._clock = clock
        self._log = logger("remit.executor.leasing").bind(ticket_id=ticket)
        self._keeping: asyncio.Task[None] | None = None
        self.lost = asyncio.Event()

    async def __aenter__(self) -> SessionLease:
        """Take it.

        Raises:
            LeaseHeld: Somebody else has it.
            CoordinationUnavailable: Redis did not answer.
        """
        held: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._keeping = asyncio.create_task(self._keep(held), name=self._name)
        try:
            await held
        except BaseException:
            await self._let_go()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let it go."""
        await self._let_go()

    async def _let_go(self) -> None:
        if self._keeping is not None:
            self._keeping.cancel()
            await asyncio.gather(self._keeping, return_exceptions=True)

    async def _keep(self, held: asyncio.Future[None]) -> None:
        while True:
            try:
                async with self._leases.hold(self._name, ttl=self._ttl) as lease:
                    if held.done():
                        self._log.info("the lease is held again")
                    else:
                        held.set_result(None)
                    await lease.lost.wait()
                metrics.counter(names.METRIC_LEASES_LOST).add(1)
                self._log.warning("the lease was lost")
            except (LeaseHeld, CoordinationUnavailable) as error:
                if not held.done():
                    held.set_exception(error)
                    return
                if isinstance(error, LeaseHeld):
                    self.lost.set()
                    return
                await self._clock.sleep(_AGAIN)
