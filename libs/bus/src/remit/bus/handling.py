"""Handling: one call of a handler, traced and timed, that always ends in outcomes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from opentelemetry.trace import Tracer

from remit.bus import tracing
from remit.bus.clock import Clock, sleep_unless
from remit.bus.message import Delivery
from remit.bus.ports import Consumer, Handler, Later, Outcome
from remit.telemetry import metrics, names
from remit.telemetry.logs import logger

RETRY_DELAYS = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Seconds between tries while a neighbour is away; the last one repeats."""


def retry_delay(tries: int) -> float:
    """Return the seconds to wait after ``tries`` earlier tries."""
    return RETRY_DELAYS[min(tries, len(RETRY_DELAYS) - 1)]


class Handling:
    """Calls a handler until it has outcomes.

    Args:
        handler: What is called.
        consumer: Where the deliveries come from.
        away: Exceptions that mean that a neighbour is away: the call is tried again here.
        stopping: Ends the tries.
        clock: Paces them.
        tracer: Makes the spans.
    """

    def __init__(
        self,
        handler: Handler,
        *,
        consumer: Consumer,
        away: tuple[type[Exception], ...],
        stopping: asyncio.Event,
        clock: Clock,
        tracer: Tracer,
    ) -> None:
        self._handler = handler
        self._consumer = consumer
        self._away = away
        self._stopping = stopping
        self._clock = clock
        self._tracer = tracer
        self._is_away = False
        self._log = logger("remit.bus.worker").bind(consumer=consumer.name)
        self._duration = metrics.histogram(names.METRIC_PROCESS_DURATION)
        self._labels = {
            names.MESSAGING_DESTINATION: consumer.stream,
            names.MESSAGING_CONSUMER_GROUP: consumer.name,
        }

    async def outcomes(self, deliveries: Sequence[Delivery]) -> Sequence[Outcome]:
        """Return one outcome per delivery, whatever the handler does."""
        tries = 0
        while not self._stopping.is_set() or tries == 0:
            outcomes = await self._try(deliveries)
            if outcomes is not None:
                return outcomes
            await sleep_unless(self._stopping, self._clock, retry_delay(tries))
            tries += 1
        return [Later("a neighbour is away", timedelta(0))] * len(deliveries)

    async def _try(self, deliveries: Sequence[Delivery]) -> Sequence[Outcome] | None:
        started = self._clock.now()
        with tracing.processing(self._tracer, self._consumer, deliveries) as span:
            try:
                outcomes = _checked(await self._handler(deliveries), deliveries)
            except self._away as error:
                tracing.failed(span, error)
                self._tell_away(error)
                return None
            except Exception as error:  # noqa: BLE001 - whatever a handler raises, messages stay
                tracing.failed(span, error)
                self._log.exception(
                    "handler failed",
                    messages=[one.message.id for one in deliveries],
                    attempt=max(one.attempt for one in deliveries),
                )
                return [Later(f"{type(error).__name__}: {error}")] * len(deliveries)
        if self._is_away:
            self._is_away = False
            self._log.info("goes on with its work")
        self._duration.record((self._clock.now() - started).total_seconds(), self._labels)
        return outcomes

    def _tell_away(self, error: Exception) -> None:
        if not self._is_away:
            self._is_away = True
            self._log.warning("holds its work while a neighbour is away", reason=str(error))


def _checked(outcomes: Sequence[Outcome], deliveries: Sequence[Delivery]) -> Sequence[Outcome]:
    if len(outcomes) != len(deliveries):
        raise ValueError(f"{len(outcomes)} outcomes for {len(deliveries)} deliveries")
    return outcomes
