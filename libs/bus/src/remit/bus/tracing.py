"""Trace context on the bus: who caused a message, and what working on it took.

Only OpenTelemetry's API is used, so without an SDK all of this costs a few microseconds.
One message continues the trace it carries. A batch whose messages come from several traces
gets a trace of its own with a link to each, and each of those traces gets a span of the
same length, so that a trace is whole and none swallows another.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import (
    INVALID_SPAN,
    Link,
    NoOpTracer,
    ProxyTracer,
    ProxyTracerProvider,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    TracerProvider,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from remit.bus.message import Delivery, Message
from remit.bus.ports import Consumer
from remit.bus.subjects import template
from remit.telemetry import names

SYSTEM = "nats"

_W3C = TraceContextTextMapPropagator()


def tracer_of(provider: TracerProvider | None) -> Tracer:
    """Return the bus's tracer, of the process's own provider unless one is given."""
    return trace.get_tracer("remit.bus", tracer_provider=provider)


def is_off(tracer: Tracer) -> bool:
    """Say whether spans of ``tracer`` go nowhere, so that making them can be spared."""
    return isinstance(tracer, NoOpTracer) or (
        isinstance(tracer, ProxyTracer)
        and isinstance(trace.get_tracer_provider(), ProxyTracerProvider)
    )


def inject(message: Message) -> Message:
    """Return the message with the current trace context, unless it carries one already."""
    if message.trace or not trace.get_current_span().get_span_context().is_valid:
        return message
    return replace(message, trace=carrier())


def carrier() -> dict[str, str]:
    """Return the current trace context as headers, empty where there is none."""
    headers: dict[str, str] = {}
    _W3C.inject(headers)
    return headers


def context_of(headers: Mapping[str, str]) -> Context:
    """Return the trace context that headers carry."""
    return _W3C.extract(headers, context=Context())


@contextmanager
def sending(tracer: Tracer, message: Message) -> Iterator[Message]:
    """Span the sending of a message and give it this span's context.

    A message that carries a context already (one from an outbox) keeps it and gets no span:
    the span that decided on it is its cause, not the relay.
    """
    if message.trace or is_off(tracer):
        yield message
        return
    where = template(message.subject)
    with tracer.start_as_current_span(f"send {where}", kind=SpanKind.PRODUCER) as span:
        if span.is_recording():
            span.set_attributes(
                {
                    names.MESSAGING_SYSTEM: SYSTEM,
                    names.MESSAGING_OPERATION_NAME: "send",
                    names.MESSAGING_OPERATION_TYPE: "send",
                    names.MESSAGING_DESTINATION_TEMPLATE: where,
                    names.MESSAGING_MESSAGE_ID: message.id,
                }
            )
        yield inject(message)


@contextmanager
def processing(
    tracer: Tracer, consumer: Consumer, deliveries: Sequence[Delivery]
) -> Iterator[Span]:
    """Span the work on deliveries, and make it the current one for what they cause."""
    if is_off(tracer):
        yield INVALID_SPAN
        return
    where = template(deliveries[0].message.subject)
    attributes: dict[str, str | int] = {
        names.MESSAGING_SYSTEM: SYSTEM,
        names.MESSAGING_OPERATION_NAME: "process",
        names.MESSAGING_OPERATION_TYPE: "process",
        names.MESSAGING_DESTINATION: consumer.stream,
        names.MESSAGING_DESTINATION_TEMPLATE: where,
        names.MESSAGING_CONSUMER_GROUP: consumer.name,
    }
    name = f"process {where}"
    causes = [context_of(one.message.trace) for one in deliveries]
    links = [_context(cause) for cause in causes]
    same_trace = len({link.trace_id for link in links}) == 1
    with ExitStack() as spans:
        if not same_trace:
            for one, cause in zip(deliveries, causes, strict=True):
                hop = tracer.start_as_current_span(
                    name, context=cause, kind=SpanKind.CONSUMER, attributes=attributes
                )
                _name_message(spans.enter_context(hop), one)
        span = spans.enter_context(
            tracer.start_as_current_span(
                name,
                context=causes[0] if same_trace else Context(),
                kind=SpanKind.CONSUMER,
                attributes=attributes,
                links=[Link(link) for link in links if link.is_valid],
            )
        )
        if len(deliveries) == 1:
            _name_message(span, deliveries[0])
        else:
            span.set_attribute(names.MESSAGING_BATCH_COUNT, len(deliveries))
        yield span


def failed(span: Span, error: Exception) -> None:
    """Mark a span as failed."""
    span.record_exception(error)
    span.set_status(Status(StatusCode.ERROR, f"{type(error).__name__}: {error}"))


def _context(cause: Context) -> trace.SpanContext:
    return trace.get_current_span(cause).get_span_context()


def _name_message(span: Span, delivery: Delivery) -> None:
    span.set_attribute(names.MESSAGING_MESSAGE_ID, delivery.message.id)
