"""What every connector must do, whichever provider it is for.

A test module subclasses `ConnectorContract` and provides the fixture ``rig``: one configured
instance, what its provider sends, and a provider that can be told to fail.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from itertools import permutations

import pytest

from remit.connectors.contract import (
    DeliveryMalformed,
    Drop,
    DropReason,
    Instance,
    ProviderUnavailable,
    SignatureInvalid,
)
from remit.domain.channel import Address, ChannelWrite, Receipt, WriteKind, WriteOutcome
from remit.domain.ids import TicketId, WriteId
from remit.domain.trigger import Trigger

RECEIVED = datetime(2026, 11, 30, 12, tzinfo=UTC)
TRIES = 5


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One delivery as it comes over the wire: header names in lower case, and a body."""

    headers: dict[str, str]
    body: bytes


class Failure(Enum):
    """How a provider fails at a write."""

    REFUSES_FOR_NOW = "nothing is written, and it says so"
    LOSES_THE_ANSWER = "it is written, and the answer is lost"


@dataclass(frozen=True, kw_only=True)
class Rig:
    """One connector under test.

    Attributes:
        instance: The instance.
        deliveries: Deliveries of different events that each become a Trigger.
        again: Returns a delivery of the same event as the provider may send it another time,
            under another delivery id where it has one.
        own: Deliveries of what the agent itself wrote.
        dropped: Deliveries that become no Trigger, each with the reason.
        forged: Deliveries that were not sent by the provider.
        malformed: Deliveries that are not what the provider documents.
        addresses: Places to write to; nothing was written there yet.
        appeared: Returns the texts that people see at an address, in order.
        fail: Makes the provider fail at the next write.
        pass_time: Lets time pass.
        now: Tells the provider's time.
    """

    instance: Instance
    deliveries: Sequence[Sent]
    again: Callable[[Sent], Sent]
    own: Sequence[Sent]
    dropped: Sequence[tuple[Sent, DropReason]]
    forged: Sequence[Sent]
    malformed: Sequence[Sent]
    addresses: Sequence[Address]
    appeared: Callable[[Address], Awaitable[Sequence[str]]]
    fail: Callable[[Failure], Awaitable[None]]
    pass_time: Callable[[timedelta], Awaitable[None]]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def read(rig: Rig, sent: Sent, *, later: timedelta = timedelta(0)) -> list[Trigger | Drop]:
    raw = rig.instance.source.receive(sent.headers, sent.body, received_at=RECEIVED + later)
    return list(rig.instance.source.normalise(raw))


def triggers(rig: Rig, stream: Sequence[Sent]) -> dict[str, Trigger]:
    """Return the Triggers of a stream of deliveries, each as it came first."""
    found: dict[str, Trigger] = {}
    for number, sent in enumerate(stream):
        for one in read(rig, sent, later=timedelta(seconds=number)):
            if isinstance(one, Trigger):
                found.setdefault(one.id, one)
    return found


def without_reception(trigger: Trigger) -> Trigger:
    return trigger.model_copy(update={"received_at": RECEIVED})


def write_to(
    rig: Rig, address: Address, number: int, body: str, *, ticket: str = "t-abc"
) -> ChannelWrite:
    return ChannelWrite(
        id=WriteId(f"{ticket}-w{number}"),
        ticket=TicketId(ticket),
        address=address,
        kind=WriteKind.REPLY,
        body=body,
        requested_at=rig.now(),
    )


async def write_until_accepted(rig: Rig, write: ChannelWrite) -> Receipt:
    """Try as the channel service does: the same write again, as long as it is put back."""
    for _ in range(TRIES):
        try:
            receipt = await rig.instance.channel.write(write)
        except ProviderUnavailable as error:
            await rig.pass_time(error.retry_after or timedelta(seconds=1))
        else:
            assert receipt.outcome is WriteOutcome.ACCEPTED, receipt.reason
            return receipt
    pytest.fail(f"{write.id} was not accepted in {TRIES} tries")


class ConnectorContract:
    """The promises of `remit.connectors.contract`."""

    @pytest.mark.rule("SRC-6")
    def test_each_event_becomes_one_trigger_with_threads_and_places_to_answer(
        self, rig: Rig
    ) -> None:
        for sent in rig.deliveries:
            (trigger,) = read(rig, sent)
            assert isinstance(trigger, Trigger)
            assert trigger.source == rig.instance.name
            assert trigger.threads
            for key in (trigger.id, *trigger.threads):
                assert key.startswith(f"{rig.instance.name}:")
            for address in trigger.channels:
                assert address.source == rig.instance.name
                assert address.thread in trigger.threads

    @pytest.mark.rule("SRC-7")
    @pytest.mark.field("B1")
    def test_the_triggers_are_the_same_in_any_order_and_with_any_repetition(self, rig: Rig) -> None:
        expected = triggers(rig, rig.deliveries)
        assert len(expected) == len(rig.deliveries)
        for order in list(permutations(rig.deliveries))[:24]:
            stream = [*order, *(rig.again(sent) for sent in reversed(order))]
            found = triggers(rig, stream)
            assert {key: without_reception(one) for key, one in found.items()} == {
                key: without_reception(one) for key, one in expected.items()
            }

    @pytest.mark.rule("SRC-7")
    def test_reception_is_no_part_of_what_a_trigger_is(self, rig: Rig) -> None:
        for sent in rig.deliveries:
            (first,) = read(rig, sent)
            (second,) = read(rig, rig.again(sent), later=timedelta(hours=6))
            assert isinstance(first, Trigger)
            assert isinstance(second, Trigger)
            assert second.id == first.id
            assert second.occurred_at == first.occurred_at

    @pytest.mark.rule("SRC-3")
    @pytest.mark.field("B6")
    def test_what_the_agent_wrote_itself_is_dropped(self, rig: Rig) -> None:
        assert rig.own
        for sent in rig.own:
            (drop,) = read(rig, sent)
            assert isinstance(drop, Drop)
            assert drop.reason is DropReason.OWN_MESSAGE

    @pytest.mark.rule("SRC-4")
    def test_what_becomes_no_trigger_is_a_drop_with_its_reason(self, rig: Rig) -> None:
        for sent, reason in rig.dropped:
            (drop,) = read(rig, sent)
            assert isinstance(drop, Drop)
            assert drop.reason is reason

    def test_what_the_provider_did_not_send_is_refused(self, rig: Rig) -> None:
        assert rig.forged
        for sent in rig.forged:
            with pytest.raises(SignatureInvalid):
                rig.instance.source.receive(sent.headers, sent.body, received_at=RECEIVED)

    def test_what_cannot_be_read_is_refused_with_the_place_named(self, rig: Rig) -> None:
        assert rig.malformed
        for sent in rig.malformed:
            with pytest.raises(DeliveryMalformed) as refused:
                rig.instance.source.receive(sent.headers, sent.body, received_at=RECEIVED)
            assert refused.value.place

    @pytest.mark.rule("CHN-3")
    async def test_a_write_appears_with_its_words(self, rig: Rig) -> None:
        address = rig.addresses[0]
        receipt = await write_until_accepted(rig, write_to(rig, address, 1, "It is done."))
        assert receipt.object_id
        (text,) = await rig.appeared(address)
        assert text.startswith("It is done.")

    @pytest.mark.rule("CHN-3")
    @pytest.mark.field("B10")
    @pytest.mark.parametrize("failure", list(Failure))
    async def test_a_write_that_is_tried_again_appears_once(
        self, rig: Rig, failure: Failure
    ) -> None:
        address = rig.addresses[0]
        write = write_to(rig, address, 1, "It is done.")
        await rig.fail(failure)
        with pytest.raises(ProviderUnavailable):
            await rig.instance.channel.write(write)
        first = await write_until_accepted(rig, write)
        second = await write_until_accepted(rig, write)
        assert first == second
        assert len(await rig.appeared(address)) == 1

    @pytest.mark.rule("CHN-3")
    async def test_two_writes_of_the_same_words_appear_twice(self, rig: Rig) -> None:
        address = rig.addresses[0]
        for number in (1, 2):
            await write_until_accepted(rig, write_to(rig, address, number, "Still at it."))
        assert len(await rig.appeared(address)) == 2

    @pytest.mark.rule("CHN-4")
    async def test_writes_to_one_address_keep_their_order_through_failures(self, rig: Rig) -> None:
        first, second = rig.addresses[:2]
        for number in range(1, 6):
            if number % 2:
                await rig.fail(list(Failure)[number // 2 % 2])
            await write_until_accepted(rig, write_to(rig, first, number, f"Step {number}."))
            await write_until_accepted(
                rig, write_to(rig, second, number, f"Elsewhere {number}.", ticket="t-other")
            )
        seen = await rig.appeared(first)
        assert [text.split(".")[0] for text in seen] == [f"Step {n}" for n in range(1, 6)]
        elsewhere = await rig.appeared(second)
        assert [text.split(".")[0] for text in elsewhere] == [f"Elsewhere {n}" for n in range(1, 6)]

    async def test_a_place_that_is_none_of_the_kinds_is_refused_for_good(self, rig: Rig) -> None:
        address = rig.addresses[0].model_copy(update={"kind": "moon", "target": "moon"})
        receipt = await rig.instance.channel.write(write_to(rig, address, 1, "Hello?"))
        assert receipt.outcome is WriteOutcome.REFUSED
        assert receipt.reason


def changed(sent: Sent, **headers: str) -> Sent:
    """Return ``sent`` with some headers changed; underscores stand for hyphens."""
    new = {name.replace("_", "-"): value for name, value in headers.items()}
    return replace(sent, headers={**sent.headers, **new})
