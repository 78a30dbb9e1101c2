"""Coordination in memory, for one process and for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from remit.coordination.clock import Clock, SystemClock
from remit.coordination.errors import CoordinationUnavailable, LeaseHeld
from remit.coordination.holding import HeldLease, keeping
from remit.coordination.ports import Lease


@dataclass
class MemoryStore:
    """What a Redis would hold; share one between what stands for several processes.

    Attributes:
        away: Nothing answers.
        positions: Read positions by instance and mode.
        leases: Token and expiry of each lease that is held.
        token: The last token that was handed out.
    """

    away: bool = False
    positions: dict[str, dict[str, str]] = field(default_factory=dict)
    leases: dict[str, tuple[int, datetime]] = field(default_factory=dict)
    token: int = 0

    def flush(self) -> None:
        """Lose everything, as FLUSHALL does."""
        self.positions.clear()
        self.leases.clear()

    def answer(self, action: str) -> None:
        """Answer, or not.

        Raises:
            CoordinationUnavailable: It is away.
        """
        if self.away:
            raise CoordinationUnavailable(action)


class MemoryReadPositions:
    """`remit.coordination.ports.ReadPositions` in memory."""

    def __init__(self, store: MemoryStore | None = None) -> None:
        self._store = store or MemoryStore()

    async def get(self, instance: str, mode: str) -> str | None:
        """Return the position."""
        self._store.answer("read a position")
        return self._store.positions.get(instance, {}).get(mode)

    async def put(self, instance: str, mode: str, position: str) -> None:
        """Put the position in place of the earlier one."""
        self._store.answer("put a position")
        self._store.positions.setdefault(instance, {})[mode] = position

    async def all(self, instance: str) -> Mapping[str, str]:
        """Return every position of an instance by mode."""
        self._store.answer("read positions")
        return dict(self._store.positions.get(instance, {}))


class MemoryLeases:
    """`remit.coordination.ports.Leases` in memory."""

    def __init__(self, store: MemoryStore | None = None, *, clock: Clock | None = None) -> None:
        self._store = store or MemoryStore()
        self._clock = clock or SystemClock()

    def ready(self) -> bool:
        """Say whether it answers."""
        return not self._store.away

    @asynccontextmanager
    async def hold(self, name: str, *, ttl: timedelta) -> AsyncIterator[Lease]:
        """Hold a lease for the length of a block."""
        token = self._acquire(name, ttl)

        async def renew() -> bool:
            self._store.answer("renew a lease")
            if not self._is_ours(name, token):
                return False
            self._store.leases[name] = (token, self._clock.now() + ttl)
            return True

        async def release() -> None:
            self._store.answer("let a lease go")
            if self._is_ours(name, token):
                del self._store.leases[name]

        lease = HeldLease(name, token)
        async with keeping(lease, ttl=ttl, renew=renew, release=release, clock=self._clock):
            yield lease

    def _acquire(self, name: str, ttl: timedelta) -> int:
        self._store.answer("acquire a lease")
        now = self._clock.now()
        held = self._store.leases.get(name)
        if held is not None and held[1] > now:
            raise LeaseHeld(name)
        self._store.token += 1
        self._store.leases[name] = (self._store.token, now + ttl)
        return self._store.token

    def _is_ours(self, name: str, token: int) -> bool:
        held = self._store.leases.get(name)
        return held is not None and held[0] == token and held[1] > self._clock.now()
