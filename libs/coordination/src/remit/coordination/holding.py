"""Keeping a lease: renewed while it is held, known to be lost when it is, let go at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from remit.coordination.clock import Clock
from remit.coordination.errors import CoordinationUnavailable


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A lease in the hands of this process."""

    name: str
    token: int
    lost: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def keeping(
    lease: HeldLease,
    *,
    ttl: timedelta,
    renew: Callable[[], Awaitable[bool]],
    release: Callable[[], Awaitable[None]],
    clock: Clock,
) -> AsyncIterator[HeldLease]:
    """Renew ``lease`` for the length of the block, then let it go.

    Args:
        lease: What was just acquired.
        ttl: How long it outlives a holder that falls silent.
        renew: Extends it and says whether it was still ours.
        release: Lets it go, if it is still ours.
        clock: Paces the renewals.
    """
    renewing = asyncio.create_task(_renew(lease, ttl, renew, clock), name=f"renew {lease.name}")
    try:
        yield lease
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        try:
            await release()
        except CoordinationUnavailable:
            # It expires by itself.
            lease.lost.set()


async def _renew(
    lease: HeldLease, ttl: timedelta, renew: Callable[[], Awaitable[bool]], clock: Clock
) -> None:
    good_until = clock.now() + ttl
    while not lease.lost.is_set():
        await clock.sleep(min(ttl / 3, good_until - clock.now()).total_seconds())
        asked = clock.now()
        renewed = await _in_time(renew, good_until - asked, clock)
        if renewed:
            good_until = asked + ttl
        elif renewed is False or clock.now() >= good_until:
            lease.lost.set()


async def _in_time(
    renew: Callable[[], Awaitable[bool]], left: timedelta, clock: Clock
) -> bool | None:
    """Return what ``renew`` says, None where it says nothing before the lease runs out.

    A Redis that hangs must not keep the holder believing for longer than the lease is good.
    """
    asking = asyncio.ensure_future(renew())
    running_out = asyncio.ensure_future(clock.sleep(max(left.total_seconds(), 0)))
    try:
        await asyncio.wait({asking, running_out}, return_when=asyncio.FIRST_COMPLETED)
        return asking.result() if asking.done() else None
    except CoordinationUnavailable:
        return None
    finally:
        asking.cancel()
        running_out.cancel()
        await asyncio.gather(asking, running_out, return_exceptions=True)
