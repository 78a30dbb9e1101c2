"""Normalising: raw deliveries become Triggers, each once, or counted drops."""

from __future__ import annotations

from datetime import timedelta

import pytest

from remit.bus.memory import MemoryBus
from remit.bus.message import Delivery, Message
from remit.bus.ports import Done, Later, Never
from remit.connectors.contract import RawDelivery
from remit.domain.ids import SourceName
from remit.domain.messages import EventDropped
from remit.domain.trigger import Reception, Trigger
from remit.source.drops import Drops
from remit.source.inbox import pack
from remit.source.normalise_deliveries import NormaliseDeliveries
from support.domain import GITHUB, at, trigger
from support.instances import LONG_AGO, FakeInstance


def normaliser(bus: MemoryBus, *sources: SourceName) -> NormaliseDeliveries:
    instances = {name: FakeInstance(name) for name in sources or (GITHUB,)}
    return NormaliseDeliveries(instances, bus, Drops(bus), horizon=timedelta(days=90))


def delivered(
    body: bytes,
    *,
    id: str = "d-1",
    source: SourceName = GITHUB,
    event: str = "numbers",
    late: timedelta = timedelta(0),
    by: Reception = Reception.WEBHOOK,
) -> Delivery:
    raw = RawDelivery(
        source=source,
        event=event,
        delivery=id,
        received_at=at(0) + late,
        received_by=by,
        body=body,
    )
    return Delivery(message=pack(raw), stream="INBOX", sequence=1, stored_at=at(0), attempt=1)


async def triggers(bus: MemoryBus) -> list[str]:
    found = [d async for d in bus.history("TRIGGER", "trigger.>")]
    return [Trigger.model_validate_json(d.message.data).id for d in found]


async def drops(bus: MemoryBus) -> list[str]:
    found = [d async for d in bus.history("DROP", "drop.>")]
    return [EventDropped.model_validate_json(d.message.data).reason for d in found]


@pytest.mark.rule("SRC-6")
async def test_each_event_of_a_delivery_becomes_one_trigger():
    bus = MemoryBus()
    assert await normaliser(bus)(delivered(b"[1, 2]")) == Done()
    assert await triggers(bus) == [trigger(1).id, trigger(2).id]


@pytest.mark.rule("SRC-7")
@pytest.mark.rule("TRG-3")
@pytest.mark.field("B1")
async def test_an_event_that_comes_under_another_delivery_is_the_same_trigger():
    bus = MemoryBus()
    normalise = normaliser(bus)
    await normalise(delivered(b"[1]", id="d-1"))
    await normalise(delivered(b"[1]", id="d-2", by=Reception.SWEEP))
    assert await triggers(bus) == [trigger(1).id]


@pytest.mark.rule("SRC-2")
@pytest.mark.field("B4")
async def test_an_event_is_known_long_after_the_brokers_window():
    bus = MemoryBus()
    await normaliser(bus)(delivered(b"[1]"))
    await normaliser(bus)(delivered(b"[1]", id="d-9", late=timedelta(days=7)))
    assert await triggers(bus) == [trigger(1).id]


@pytest.mark.rule("SRC-4")
@pytest.mark.rule("SRC-3")
async def test_what_is_dropped_is_counted_by_reason_and_once():
    bus = MemoryBus()
    normalise = normaliser(bus)
    for _ in range(2):
        await normalise(delivered(b"[-1, 1]"))
    await normalise(delivered(b"[]", id="d-2", event="stars"))
    assert await triggers(bus) == [trigger(1).id]
    assert await drops(bus) == ["own_message", "unknown_event"]


async def test_an_event_older_than_the_streams_memory_is_dropped_and_counted():
    bus = MemoryBus()
    await normaliser(bus)(delivered(b"[1]", late=LONG_AGO))
    assert await triggers(bus) == []
    assert await drops(bus) == ["too_old"]


@pytest.mark.rule("SRC-1")
async def test_two_instances_of_one_kind_share_nothing():
    bus = MemoryBus()
    other = SourceName("github-two")
    normalise = normaliser(bus, GITHUB, other)
    await normalise(delivered(b"[1]"))
    await normalise(delivered(b"[1]", source=other))
    assert await triggers(bus) == [trigger(1).id, trigger(1, source=other).id]


async def test_a_delivery_for_an_instance_that_is_not_configured_waits():
    outcome = await normaliser(MemoryBus())(delivered(b"[1]", source=SourceName("gitlab")))
    assert isinstance(outcome, Later)
    assert "gitlab" in outcome.reason


async def test_what_cannot_be_normalised_is_given_up_on_with_the_place():
    outcome = await normaliser(MemoryBus())(delivered(b"{}"))
    assert isinstance(outcome, Never)
    assert "$" in outcome.reason


async def test_a_message_that_is_no_delivery_is_given_up_on():
    stray = Message(subject="inbox.github", id="x", type="t", source="s", data=b"")
    delivery = Delivery(message=stray, stream="INBOX", sequence=1, stored_at=at(0))
    assert isinstance(await normaliser(MemoryBus())(delivery), Never)
