"""The relay: publishes what commits cause.

A commit's outbox is part of the commit, so nothing a decision causes can be lost between
the two. Every message has an id of its own; a relay that crashes half-way and starts again
publishes the same messages under the same ids, which changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from opentelemetry.trace import TracerProvider

from remit.bus.clock import Clock
from remit.bus.errors import NotAnEvent, PublishRefused
from remit.bus.message import Delivery, Message
from remit.bus.outbox import caused_by
from remit.bus.ports import Bus, Consumer, Done, Later, Never, Outcome
from remit.bus.worker import Worker

_RETRIES = tuple(timedelta(seconds=seconds) for seconds in (0.2, 1, 5, 10, 10, 10))
"""Delays while some message of a commit is refused. Together well inside the streams' duplicate
window, so that the messages beside it are not stored again."""


class Relay:
    """Publishes the outbox of every commit in a stream, in order for each aggregate.

    Replicas share the work under one ``name``. Two commits of one aggregate can be in the
    hands of two replicas at once; whoever needs order goes by `Message.commit`.

    Args:
        bus: Where commits are, and where their messages go.
        stream: The stream of the commits.
        name: The relay's place in it, shared by replicas.
        subject: Which commits; every one of the stream unless given.
        concurrency: How many aggregates are relayed at the same time.
        drain: As for `Worker`.
        clock: As for `Worker`.
        tracer_provider: As for `Worker`.
    """

    def __init__(
        self,
        bus: Bus,
        *,
        stream: str,
        name: str,
        subject: str | None = None,
        concurrency: int = 64,
        drain: timedelta = timedelta(seconds=20),
        clock: Clock | None = None,
        tracer_provider: TracerProvider | None = None,
    ) -> None:
        self._bus = bus
        self._worker = Worker(
            bus,
            Consumer(
                stream=stream,
                name=name,
                subject=subject or f"{stream.lower()}.*",
                attempts=len(_RETRIES) + 1,
                backoff=_RETRIES,
            ),
            self._relay,
            concurrency=concurrency,
            drain=drain,
            clock=clock,
            tracer_provider=tracer_provider,
        )

    @property
    def name(self) -> str:
        """What it is called."""
        return self._worker.name

    @property
    def last_progress(self) -> datetime:
        """When it last made progress; see `Worker.last_progress`."""
        return self._worker.last_progress

    def progressing(self) -> bool:
        """Say whether it moves; see `Worker.progressing`."""
        return self._worker.progressing()

    async def run(self) -> None:
        """Relay until `stop`."""
        await self._worker.run()

    async def stop(self) -> None:
        """Finish or put back what is in hand, and let `run` return."""
        await self._worker.stop()

    async def _relay(self, commits: Sequence[Delivery]) -> Sequence[Outcome]:
        outcomes: list[Outcome] = []
        caused: list[Message] = []
        for commit in commits:
            try:
                caused.extend(caused_by(commit))
                outcomes.append(Done())
            except NotAnEvent as error:
                outcomes.append(Never(str(error)))
        if not caused:
            return outcomes
        try:
            await self._bus.publish_all(caused)
        except PublishRefused as error:
            refused = Later(str(error))
            return [refused if isinstance(one, Done) else one for one in outcomes]
        return outcomes
