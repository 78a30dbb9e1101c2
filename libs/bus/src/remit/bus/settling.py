"""Settling: what an outcome means for a delivery."""

from __future__ import annotations

from datetime import timedelta

from remit.bus import deadletters
from remit.bus.errors import BusUnavailable, PublishRefused
from remit.bus.ports import Consumer, Done, Later, Never, Outcome, Publisher, Taken
from remit.telemetry import metrics, names
from remit.telemetry.logs import logger


class Settler:
    """Settles deliveries of one consumer: done, put back, or given up on with a dead letter.

    Args:
        bus: Takes the dead letters.
        consumer: Says how often a delivery is tried, and how long it waits in between.
    """

    def __init__(self, bus: Publisher, consumer: Consumer) -> None:
        self._bus = bus
        self._consumer = consumer
        self._log = logger("remit.bus.worker").bind(consumer=consumer.name)
        self._outcomes = metrics.counter(names.METRIC_OUTCOMES)
        self._dead = metrics.counter(names.METRIC_DEAD_LETTERS)

    async def settle(self, taken: Taken, outcome: Outcome) -> None:
        """Do what an outcome says. The last attempt that ends in `Later` is given up on."""
        match outcome:
            case Done():
                await taken.done()
                self._count("done")
            case Later(reason, delay):
                attempt = taken.delivery.attempt
                if attempt >= self._consumer.attempts:
                    await self.give_up(taken, f"{reason} (after {attempt} attempts)")
                    return
                await taken.put_back(self._backoff(attempt) if delay is None else delay)
                self._count("later")
            case Never(reason):
                await self.give_up(taken, reason)

    async def give_up(self, taken: Taken, reason: str) -> None:
        """Store the dead letter, then drop the delivery. Without the one, not the other."""
        delivery = taken.delivery
        log = self._log.bind(
            message_id=delivery.message.id,
            subject=delivery.message.subject,
            sequence=delivery.sequence,
            attempt=delivery.attempt,
        )
        letter = deadletters.bury(
            delivery, consumer=self._consumer.name, reason=reason, readable=taken.fault is None
        )
        try:
            await self._bus.publish(letter)
        except (BusUnavailable, PublishRefused) as error:
            log.error("a dead letter was not taken", reason=str(error))  # noqa: TRY400
            await taken.put_back(self._backoff(delivery.attempt))
            return
        log.error("gave up on a message", reason=reason)
        await taken.drop(reason)
        self._count("never")
        self._dead.add(1, {names.MESSAGING_DESTINATION: delivery.stream})

    def _backoff(self, attempt: int) -> timedelta:
        delays = self._consumer.backoff
        return delays[min(max(attempt, 1), len(delays)) - 1] if delays else timedelta(0)

    def _count(self, outcome: str) -> None:
        self._outcomes.add(
            1,
            {
                names.MESSAGING_DESTINATION: self._consumer.stream,
                names.MESSAGING_CONSUMER_GROUP: self._consumer.name,
                "outcome": outcome,
            },
        )
