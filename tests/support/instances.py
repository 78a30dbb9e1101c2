"""A Source instance for tests: one JSON list of messages a delivery, signed by a word."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from remit.connectors.contract import (
    Channel,
    DeliveryMalformed,
    Drop,
    DropReason,
    Normalised,
    RawDelivery,
    SignatureInvalid,
)
from remit.domain.channel import ChannelWrite, Receipt, WriteOutcome
from remit.domain.ids import SourceName
from remit.domain.trigger import Reception
from support.domain import GITHUB, trigger

SECRET = "open sesame"


class NumberedSource:
    """Every number in a delivery is a message; negative ones are dropped."""

    def __init__(self, name: SourceName = GITHUB) -> None:
        self.name = name

    def receive(
        self, headers: Mapping[str, str], body: bytes, *, received_at: datetime
    ) -> RawDelivery:
        if headers.get("x-secret") != SECRET:
            raise SignatureInvalid(self.name, "not signed")
        try:
            json.loads(body)
        except ValueError as error:
            raise DeliveryMalformed(self.name, "body", "is not JSON") from error
        return RawDelivery(
            source=self.name,
            event=headers.get("x-event", "numbers"),
            delivery=headers["x-delivery"],
            received_at=received_at,
            received_by=Reception.WEBHOOK,
            body=body,
        )

    def normalise(self, raw: RawDelivery) -> Sequence[Normalised]:
        if raw.event != "numbers":
            return [Drop(DropReason.UNKNOWN_EVENT, raw.event)]
        numbers = json.loads(raw.body)
        if not isinstance(numbers, list):
            raise DeliveryMalformed(self.name, "$", "is no list")
        return [
            trigger(number, source=self.name)
            if number >= 0
            else Drop(DropReason.OWN_MESSAGE, str(number))
            for number in numbers
        ]


class RecordingChannel:
    """Remembers what was written; fails the next writes as it is told."""

    def __init__(self) -> None:
        self.written: list[ChannelWrite] = []
        self.failures: list[Exception] = []

    async def write(self, write: ChannelWrite) -> Receipt:
        if self.failures:
            raise self.failures.pop(0)
        if all(one.id != write.id for one in self.written):
            self.written.append(write)
        return Receipt(write=write.id, outcome=WriteOutcome.ACCEPTED, object_id=write.id)


class FakeInstance:
    """One instance over the two."""

    def __init__(self, name: SourceName = GITHUB) -> None:
        self.name = name
        self.source = NumberedSource(name)
        self.recorded = RecordingChannel()
        self.closed = False

    @property
    def channel(self) -> Channel:
        return self.recorded

    @property
    def code_host(self) -> None:
        return

    async def close(self) -> None:
        self.closed = True


LONG_AGO = timedelta(days=91)
