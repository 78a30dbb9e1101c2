"""Traces: one per Trigger, from its arrival to its Disposition (DSP-1).

Spans are short, one per hop. What waits keeps the context of its trace in its record, as a
``traceparent`` (W3C Trace Context), and the work after the wait goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event
from typing import Protocol

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import Link, Span, SpanKind
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from remit.telemetry import names
from remit.telemetry.logs import logger

Attributes = Mapping[str, str | int | bool | float]

_W3C = TraceContextTextMapPropagator()
_EXPORT_EVERY_MS = 500
_TRY_AGAIN_AFTER = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Seconds between tries while the endpoint is away: it may be starting again."""


class Tracing(Protocol):
    """What a process does with its traces."""

    def shutdown(self) -> None:
        """Send what is left and stop."""
        ...


def install(
    *, service: str, instance: str, version: str, endpoint: str | None, sample: float = 1.0
) -> Tracing:
    """Send the spans of this process to ``endpoint`` by OTLP over HTTP.

    Args:
        service: The service's name.
        instance: Which replica of it.
        version: The service's version.
        endpoint: The base URL of a collector or of the panel; None keeps no spans.
        sample: The share of traces that are kept, 0 to 1; a trace is kept whole or not at all.
    """
    if endpoint is None or sample == 0:
        trace.set_tracer_provider(trace.NoOpTracerProvider())
        return _NoTracing()
    resource = Resource.create(
        {
            names.SERVICE_NAME: service,
            names.SERVICE_INSTANCE_ID: instance,
            names.SERVICE_VERSION: version,
        }
    )
    provider = TracerProvider(resource=resource, sampler=ParentBased(TraceIdRatioBased(sample)))
    exporter = _PatientExporter(OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces"))
    provider.add_span_processor(
        BatchSpanProcessor(exporter, schedule_delay_millis=_EXPORT_EVERY_MS)
    )
    trace.set_tracer_provider(provider)
    return _PatientTracing(provider, exporter)


class _NoTracing:
    """Nobody wants traces, so none are made."""

    def shutdown(self) -> None:
        """There is nothing to send."""


class _PatientTracing:
    """Traces that go somewhere."""

    def __init__(self, provider: TracerProvider, exporter: _PatientExporter) -> None:
        self._provider = provider
        self._exporter = exporter

    def shutdown(self) -> None:
        """Send what is left, without waiting for an endpoint that is away."""
        self._exporter.hurry()
        self._provider.shutdown()


class _PatientExporter(SpanExporter):
    """Keeps at it while the endpoint is away, and says so once (field report D6).

    It runs in the exporting thread alone, so its waiting holds up no work; the spans that come
    meanwhile wait in the processor's queue, which is bounded.
    """

    def __init__(self, inner: SpanExporter) -> None:
        self._inner = inner
        self._hurry = Event()
        self._log = logger("remit.telemetry.tracing")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._inner.export(spans)
        if result is SpanExportResult.SUCCESS:
            return result
        self._log.warning("traces are not taken")
        for delay in _TRY_AGAIN_AFTER:
            if self._hurry.wait(delay):
                return result
            result = self._inner.export(spans)
            if result is SpanExportResult.SUCCESS:
                self._log.warning("traces are taken again")
                return result
        self._log.warning("traces were given up on", spans=len(spans))
        return result

    def hurry(self) -> None:
        """Give up waiting: the process ends."""
        self._hurry.set()

    def shutdown(self) -> None:
        self._inner.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._inner.force_flush(timeout_millis)


# -- spans ----------------------------------------------------------------------------------


@contextmanager
def span(
    name: str,
    *,
    on: str | None = None,
    links: Sequence[str | None] = (),
    kind: SpanKind = SpanKind.INTERNAL,
    attributes: Attributes | None = None,
) -> Iterator[Span]:
    """Open a span and make it the current one.

    Args:
        name: One of the span names of `remit.telemetry.names`.
        on: The ``traceparent`` to go on from; None takes the current span as parent.
        links: ``traceparent`` of other causes, across batches and waits.
        kind: What kind of work it is.
        attributes: Facts about it.
    """
    tracer = trace.get_tracer("remit")
    linked = [Link(context) for one in links if (context := _span_context(one)) is not None]
    with tracer.start_as_current_span(
        name,
        context=context_of(on) if on else None,
        kind=kind,
        links=linked,
        attributes=attributes,
    ) as current:
        yield current


def current_trace() -> str | None:
    """Return the ``traceparent`` of the current span, None where there is none."""
    carrier: dict[str, str] = {}
    _W3C.inject(carrier)
    return carrier.get("traceparent")


def context_of(traceparent: str) -> Context:
    """Return the context that ``traceparent`` names."""
    return _W3C.extract({"traceparent": traceparent}, context=Context())


def trace_id_of(traceparent: str | None) -> str | None:
    """Return the trace id that ``traceparent`` names."""
    context = _span_context(traceparent)
    return trace.format_trace_id(context.trace_id) if context else None


def annotate(attributes: Attributes) -> None:
    """Add facts to the current span."""
    current = trace.get_current_span()
    if current.is_recording():
        current.set_attributes(dict(attributes))


def _span_context(traceparent: str | None) -> trace.SpanContext | None:
    if not traceparent:
        return None
    context = trace.get_current_span(context_of(traceparent)).get_span_context()
    return context if context.is_valid else None
