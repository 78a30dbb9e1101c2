"""One trace leads from a Trigger's arrival through every service to its Disposition."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from remit.connectors.contract import RawDelivery
from remit.domain.trigger import Reception
from remit.source.app import normalising
from remit.source.drops import Drops
from remit.source.inbox import pack
from remit.source.normalise_deliveries import NormaliseDeliveries
from remit.telemetry import names, tracing
from support.domain import GITHUB, at
from support.driving import work_off
from support.memory_services import MemoryServices
from support.spans import Spans, recorded_spans


@pytest.fixture
def spans() -> Iterator[Spans]:
    with recorded_spans() as recorded:
        yield recorded


async def receive(services: MemoryServices, *bodies: bytes) -> None:
    """Take deliveries as the webhook does, and normalise them."""
    for number, body in enumerate(bodies):
        raw = RawDelivery(
            source=GITHUB,
            event="numbers",
            delivery=f"d-{number}",
            received_at=at(0),
            received_by=Reception.WEBHOOK,
            body=body,
        )
        with tracing.span(names.SPAN_RECEIVE_WEBHOOK):
            await services.bus.publish(pack(raw))
    normalise = NormaliseDeliveries(
        {GITHUB: services.instance}, services.bus, Drops(services.bus), horizon=timedelta(days=90)
    )
    await work_off(services.bus, normalising(services.bus, normalise, concurrency=4))


@pytest.mark.rule("DSP-1")
@pytest.mark.field("D12")
async def test_one_trace_leads_from_arrival_to_disposition_in_short_spans(spans):
    services = MemoryServices()
    await services.apply()
    await receive(services, b"[1]")
    await services.settle()
    [arrival] = spans.named(names.SPAN_RECEIVE_WEBHOOK)
    trace = spans.names_of_trace(arrival.context.trace_id)
    wanted = [
        names.SPAN_RECEIVE_WEBHOOK,
        "process inbox.{source}",
        names.SPAN_TRIGGER,
        "process trigger.{source}.{trigger}.{thread}",
        "process eval.request.{thread}",
        names.SPAN_EVAL,
        names.SPAN_GATE,
        names.SPAN_ASSESS,
        "process eval.result.{thread}",
        names.SPAN_DISPOSITION,
        "process command.ticket.{ticket}",
        "process channel.{source}.{thread}",
        names.SPAN_CHANNEL_WRITE,
    ]
    assert [name for name in dict.fromkeys(trace) if name in wanted] == wanted
    longest = max(span.end_time - span.start_time for span in spans.all())
    assert longest < 1e9, "no span waits for anything"


@pytest.mark.rule("DSP-1")
async def test_the_disposition_closes_the_trace_of_its_own_trigger(spans):
    services = MemoryServices()
    await services.apply()
    await receive(services, b"[1]", b"[2]")
    await services.settle()
    arrivals = [span.context.trace_id for span in spans.named(names.SPAN_RECEIVE_WEBHOOK)]
    closed = {
        span.attributes[names.TRIGGER_ID]: span.context.trace_id
        for span in spans.named(names.SPAN_DISPOSITION)
    }
    assert list(closed.values()) == arrivals
    assert len(set(arrivals)) == 2


@pytest.mark.rule("DSP-1")
@pytest.mark.field("D13")
async def test_the_eval_of_a_batch_has_a_trace_of_its_own_linked_to_each_trigger(spans):
    services = MemoryServices()
    await services.apply()
    await receive(services, b"[1]", b"[2]", b"[3]")
    await services.settle()
    arrivals = {span.context.trace_id for span in spans.named(names.SPAN_RECEIVE_WEBHOOK)}
    [first, *_] = spans.named(names.SPAN_EVAL)
    assert first.context.trace_id not in arrivals
    assert {link.context.trace_id for link in first.links} == arrivals
