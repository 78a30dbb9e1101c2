"""What the rest of Remit may ask of Redis or Valkey: read positions and leases, and no truth.

Losing all of it costs time, never a duplicate or a loss: every commit is fenced by its stream
(DESIGN.md, section 5). Each port has a real and an in-memory implementation, and one contract suite.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from typing import Protocol


class ReadPositions(Protocol):
    """Where Source instances have read to, by instance and mode (SRC-2).

    A position is text that only its mode understands.
    """

    async def get(self, instance: str, mode: str) -> str | None:
        """Return the position, None where none was ever put, or where it was lost.

        Raises:
            CoordinationUnavailable: Redis did not answer.
        """
        ...

    async def put(self, instance: str, mode: str, position: str) -> None:
        """Put the position in place of the earlier one.

        Raises:
            CoordinationUnavailable: Redis did not answer; it may have been put.
        """
        ...

    async def all(self, instance: str) -> Mapping[str, str]:
        """Return every position of an instance by mode.

        Raises:
            CoordinationUnavailable: Redis did not answer.
        """
        ...


class Lease(Protocol):
    """Something that one holder has at a time, until it is let go or expires.

    It saves work and proves nothing: a holder that was paused may believe in a lease that has
    expired. What must not happen twice is fenced by ``token`` or by a stream.
    """

    @property
    def name(self) -> str:
        """What it is a lease of."""
        ...

    @property
    def token(self) -> int:
        """The fencing token: each later holder of the same lease has a higher one."""
        ...

    @property
    def lost(self) -> asyncio.Event:
        """Set once the lease is known, or must be feared, to be somebody else's."""
        ...


class Leases(Protocol):
    """Hands out leases."""

    def ready(self) -> bool:
        """Say whether Redis answered when it was last asked."""
        ...

    def hold(self, name: str, *, ttl: timedelta) -> AbstractAsyncContextManager[Lease]:
        """Hold a lease for the length of a block, renewing it while the block runs.

        Args:
            name: What it is a lease of.
            ttl: How long it outlives a holder that falls silent. Renewed at a third of that;
                counts as lost once it was not renewed for as long.

        Raises:
            LeaseHeld: Somebody else has it now.
            CoordinationUnavailable: Redis did not answer.
        """
        ...
