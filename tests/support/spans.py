"""The spans that a test's code makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util._once import Once


class Spans:
    """What was recorded."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    def all(self) -> list[ReadableSpan]:
        """Return every span that has ended."""
        return list(self._exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        """Return the spans of that name."""
        return [span for span in self.all() if span.name == name]

    def names_of_trace(self, trace_id: int) -> list[str]:
        """Return the names of the spans of one trace, in the order of their starts."""
        spans = [s for s in self.all() if s.context and s.context.trace_id == trace_id]
        return [s.name for s in sorted(spans, key=lambda s: s.start_time or 0)]


@contextmanager
def recorded_spans() -> Iterator[Spans]:
    """Record every span of this process for the length of a block."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    # OpenTelemetry takes a provider once; a test gives it back so that no other test records.
    trace.set_tracer_provider(provider)
    try:
        yield Spans(exporter)
    finally:
        trace._TRACER_PROVIDER = None
        trace._TRACER_PROVIDER_SET_ONCE = Once()
