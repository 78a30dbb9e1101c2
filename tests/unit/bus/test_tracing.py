from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanContext, SpanKind
from structlog.testing import capture_logs

from remit.bus import subjects, tracing
from remit.bus.clock import ManualClock
from remit.bus.memory import MemoryBus
from remit.bus.message import Delivery, Message
from remit.bus.ports import Consumer, Done, Outcome
from remit.bus.relay import Relay
from remit.bus.worker import Worker
from remit.telemetry import names
from support.counting import add, count_log
from support.driving import work_off

CONSUMER = Consumer(stream="EVAL", name="eval", subject=subjects.EVAL_REQUESTS)


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def provider(spans: InMemorySpanExporter) -> TracerProvider:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    return provider


@pytest.fixture
def bus(provider: TracerProvider) -> MemoryBus:
    return MemoryBus(clock=ManualClock(), tracer_provider=provider)


def ask(name: str) -> Message:
    return Message(
        subject=subjects.eval_request("th"),
        id=name,
        type="remit.eval.request",
        source="/remit/test",
        data=b"{}",
    )


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [span for span in spans.get_finished_spans() if span.name == name]


def context_of(span: ReadableSpan) -> SpanContext:
    context = span.get_span_context()
    assert context is not None
    return context


def trace_ids(spans: InMemorySpanExporter) -> set[int]:
    return {context_of(span).trace_id for span in spans.get_finished_spans()}


async def test_one_trace_leads_from_a_sender_through_commit_and_relay_to_a_handler(
    bus: MemoryBus, provider: TracerProvider, spans: InMemorySpanExporter
) -> None:
    seen: list[dict[str, str]] = []

    async def handle(deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        seen.append(tracing.carrier())
        return [Done()] * len(deliveries)

    tracer = provider.get_tracer("test")
    with tracer.start_as_current_span("trigger") as root:
        await count_log(bus).transact("th", "c1", add("ann", (ask("1"),)))
    relay = Relay(bus, stream="THREAD", name="relay", tracer_provider=provider)
    worker = Worker(bus, CONSUMER, handle, tracer_provider=provider)
    await work_off(bus, relay, worker)
    (process,) = named(spans, "process eval.request.{thread}")
    assert trace_ids(spans) == {root.get_span_context().trace_id}
    assert process.parent is not None
    assert process.parent.span_id == root.get_span_context().span_id
    assert process.kind is SpanKind.CONSUMER
    assert process.attributes is not None
    assert process.attributes[names.MESSAGING_CONSUMER_GROUP] == "eval"
    assert process.attributes[names.MESSAGING_MESSAGE_ID] == "1"
    assert len(process.links) == 1
    assert len(named(spans, "process thread.{thread}")) == 1
    assert f"{context_of(process).span_id:016x}" in seen[0]["traceparent"]


async def test_sending_is_a_producer_span_whose_context_travels(
    bus: MemoryBus, provider: TracerProvider, spans: InMemorySpanExporter
) -> None:
    with provider.get_tracer("test").start_as_current_span("trigger"):
        await bus.publish(ask("1"))
    (send,) = named(spans, "send eval.request.{thread}")
    (stored,) = bus.stored("eval.>")
    assert send.kind is SpanKind.PRODUCER
    assert f"{context_of(send).span_id:016x}" in stored.message.trace["traceparent"]


async def test_a_message_keeps_the_context_it_was_given(
    bus: MemoryBus, provider: TracerProvider, spans: InMemorySpanExporter
) -> None:
    given = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}
    with provider.get_tracer("test").start_as_current_span("elsewhere"):
        await bus.publish(replace(ask("1"), trace=given))
    assert bus.stored("eval.>")[0].message.trace == given
    assert named(spans, "send eval.request.{thread}") == []


@pytest.mark.field("D13")
async def test_a_batch_of_several_traces_has_its_own_with_a_link_to_each(
    bus: MemoryBus, provider: TracerProvider, spans: InMemorySpanExporter
) -> None:
    async def handle(deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        return [Done()] * len(deliveries)

    tracer = provider.get_tracer("test")
    roots = []
    for name in ("1", "2"):
        with tracer.start_as_current_span("trigger") as root:
            await bus.publish(ask(name))
        roots.append(root.get_span_context().trace_id)
    await work_off(bus, Worker(bus, CONSUMER, handle, tracer_provider=provider))
    processed = named(spans, "process eval.request.{thread}")
    batch = [span for span in processed if span.parent is None]
    hops = [span for span in processed if span.parent is not None]
    assert [context_of(span).trace_id for span in hops] == [*reversed(roots)]
    assert len(batch) == 1
    assert [link.context.trace_id for link in batch[0].links] == roots
    assert batch[0].attributes is not None
    assert batch[0].attributes[names.MESSAGING_BATCH_COUNT] == 2


async def test_a_failed_handler_marks_its_span(
    bus: MemoryBus, provider: TracerProvider, spans: InMemorySpanExporter
) -> None:
    async def handle(deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        raise RuntimeError("broken")

    await bus.publish(ask("1"))
    with capture_logs():
        await work_off(bus, Worker(bus, CONSUMER, handle, tracer_provider=provider))
    (process,) = named(spans, "process eval.request.{thread}")
    assert not process.status.is_ok
    assert process.status.description == "RuntimeError: broken"


async def test_without_a_provider_nothing_is_traced_and_nothing_breaks() -> None:
    bus = MemoryBus(clock=ManualClock())
    await bus.publish(ask("1"))
    assert bus.stored("eval.>")[0].message.trace == {}
