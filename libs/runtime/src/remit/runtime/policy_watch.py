"""The Policy in force, as a service sees it: read at start, followed from then on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from remit.bus import subjects
from remit.bus.ports import Reader
from remit.domain.messages import PolicyInForce
from remit.domain.policy import EMPTY_POLICY, Policy
from remit.runtime.wire import POLICY_DOCUMENT, read
from remit.telemetry.logs import logger

STREAM = "POLICY"


class PolicyWatch:
    """A part of a service that keeps the Policy in force at hand.

    Args:
        bus: Where versions of the Policy are published.
        on_change: Called with each version that comes into force after `load`.
    """

    name = "policy-watch"

    def __init__(self, bus: Reader, on_change: Callable[[Policy], None] | None = None) -> None:
        self._bus = bus
        self._on_change = on_change
        self._policy = EMPTY_POLICY
        self._position = 0
        self._stopped = asyncio.Event()
        self._log = logger("remit.runtime.policy")

    @property
    def policy(self) -> Policy:
        """The Policy in force; an empty one, which admits nobody, before any was applied."""
        return self._policy

    async def load(self) -> None:
        """Read the version in force from the stream's leader."""
        last = await self._bus.last(STREAM, subjects.policy(POLICY_DOCUMENT), leader=True)
        if last is not None:
            self._take(read(last, PolicyInForce).policy, last.sequence)

    async def run(self) -> None:
        """Follow the stream until stopped."""
        following = asyncio.create_task(self._follow())
        stopping = asyncio.create_task(self._stopped.wait())
        await asyncio.wait({following, stopping}, return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if following.done():
            following.result()
        following.cancel()
        await asyncio.gather(following, stopping, return_exceptions=True)

    async def stop(self) -> None:
        """Let `run` return."""
        self._stopped.set()

    def progressing(self) -> bool:
        """It waits for something rare, so that it waits is no sign of being stuck."""
        return True

    async def _follow(self) -> None:
        subject = subjects.policy(POLICY_DOCUMENT)
        async for delivery in self._bus.follow(STREAM, subject, after=self._position):
            policy = read(delivery, PolicyInForce).policy
            changed = policy.version != self._policy.version
            self._take(policy, delivery.sequence)
            if changed and self._on_change is not None:
                self._on_change(policy)

    def _take(self, policy: Policy, position: int) -> None:
        self._position = position
        if policy.version != self._policy.version:
            self._policy = policy
            self._log.info("policy in force", version=policy.version)
