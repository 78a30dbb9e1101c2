"""Write to a provider, and tell the Ticket what came of it (CHN-2, CHN-3).

A write that fails for now is put back, and those behind it on the same Thread wait for it, so that
they keep their order (CHN-4); other Threads go on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from remit.bus.clock import Clock
from remit.bus.message import Delivery
from remit.bus.ports import Bus, Consumer, Done, Later, Never, Outcome
from remit.connectors.contract import Instance, ProviderUnavailable
from remit.domain.channel import ChannelWrite, Receipt, WriteOutcome
from remit.domain.messages import ToTicket
from remit.domain.ticket import SettleWrite
from remit.runtime.wire import PayloadUnreadable, message_of, read
from remit.telemetry import metrics, names, tracing
from remit.telemetry.logs import logger

LONGEST_WAIT = timedelta(minutes=15)
"""No write waits longer than this before it is tried again, whatever the provider says (C21)."""
A_LITTLE = timedelta(milliseconds=50)
REMEMBERED = 1024
"""How many Threads' last writes are remembered while their settling is under way."""


class WriteToProvider:
    """Handles the writes of one provider account.

    Args:
        instance: The account.
        bus: Where receipts go, and where what waits can be seen.
        consumer: Whose attempts and back-off count.
        clock: Tells how long a Thread still waits.
    """

    def __init__(self, instance: Instance, bus: Bus, consumer: Consumer, clock: Clock) -> None:
        self._instance = instance
        self._bus = bus
        self._consumer = consumer
        self._clock = clock
        self._done: dict[str, int] = {}
        self._until: dict[str, datetime] = {}
        self._log = logger("remit.channel").bind(source=instance.name)

    async def __call__(self, deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        """Write what waits for one Thread, in order."""
        outcomes: list[Outcome] = []
        for delivery in deliveries:
            held = await self._held_back(delivery)
            outcomes.append(held or await self._write(delivery))
        return outcomes

    async def _held_back(self, delivery: Delivery) -> Later | None:
        """Keep a write behind an earlier one of its Thread that still waits in the stream.

        A work queue holds what nobody settled: what is first on the subject goes first,
        whichever replica put it back.
        """
        subject = delivery.message.subject
        done = self._done.get(subject, 0)
        first = await self._bus.next(self._consumer.stream, subject, after=done)
        if first is None or first.sequence >= delivery.sequence:
            return None
        left = self._until.get(subject, self._clock.now()) - self._clock.now()
        return Later(f"waits behind {first.message.id}", max(left, timedelta(0)) + A_LITTLE)

    async def _write(self, delivery: Delivery) -> Outcome:
        try:
            write = read(delivery, ChannelWrite)
        except PayloadUnreadable as error:
            return Never(str(error))
        facts = {
            names.WRITE_ID: write.id,
            names.WRITE_KIND: write.kind,
            names.TICKET_ID: write.ticket,
            names.SOURCE: self._instance.name,
        }
        with tracing.span(names.SPAN_CHANNEL_WRITE, attributes=facts):
            try:
                receipt = await self._instance.channel.write(write)
            except ProviderUnavailable as error:
                if delivery.attempt < self._consumer.attempts:
                    return self._put_back(delivery, write, error)
                receipt = Receipt(write=write.id, outcome=WriteOutcome.REFUSED, reason=str(error))
        await self._settle(write, receipt)
        self._until.pop(delivery.message.subject, None)
        self._remember(delivery)
        return Done()

    def _remember(self, delivery: Delivery) -> None:
        """The stream may show a write for a moment after it was settled."""
        self._done.pop(delivery.message.subject, None)
        self._done[delivery.message.subject] = delivery.sequence
        if len(self._done) > REMEMBERED:
            del self._done[next(iter(self._done))]

    def _put_back(
        self, delivery: Delivery, write: ChannelWrite, error: ProviderUnavailable
    ) -> Later:
        backoff = self._consumer.backoff[min(delivery.attempt, len(self._consumer.backoff)) - 1]
        delay = min(error.retry_after or backoff, LONGEST_WAIT)
        self._until[delivery.message.subject] = self._clock.now() + delay
        self._log.warning(
            "write put back",
            write=write.id,
            ticket_id=write.ticket,
            reason=str(error),
            seconds=delay.total_seconds(),
        )
        return Later(str(error), delay)

    async def _settle(self, write: ChannelWrite, receipt: Receipt) -> None:
        labels = {names.WRITE_KIND: write.kind, "outcome": receipt.outcome}
        metrics.counter(names.METRIC_CHANNEL_WRITES).add(1, labels)
        if receipt.outcome is WriteOutcome.REFUSED:
            self._log.error(
                "write refused", write=write.id, ticket_id=write.ticket, reason=receipt.reason
            )
        answer = ToTicket(ticket=write.ticket, ask=SettleWrite(receipt=receipt))
        await self._bus.publish(message_of(answer, id=f"{write.id}/receipt", source="channel"))
