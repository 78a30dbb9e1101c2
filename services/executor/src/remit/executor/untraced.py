"""Contexts for work that belongs to no Input: what libraries trace by themselves is not kept there.

A task goes on the trace of whoever started it. A process, a connection or a server that outlives the
Input it was started for would put what it does for everybody else on that one trace (D12).
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry import context as telemetry
from opentelemetry import trace

from remit.telemetry import tracing


def untraced() -> contextvars.Context:
    """Return a context for a task that serves many Inputs."""
    made = contextvars.Context()
    made.run(telemetry.attach, _nobodys())
    return made


@contextmanager
def on_trace(traceparent: str | None) -> Iterator[None]:
    """Let what happens in a block go on a trace; on none, it is not kept."""
    token = telemetry.attach(tracing.context_of(traceparent) if traceparent else _nobodys())
    try:
        yield
    finally:
        telemetry.detach(token)


def _nobodys() -> telemetry.Context:
    """Return a trace context that is not sampled, and nothing below it either."""
    parent = trace.SpanContext(
        trace_id=1, span_id=1, is_remote=False, trace_flags=trace.TraceFlags(0)
    )
    span = trace.NonRecordingSpan(parent)
    return trace.set_span_in_context(span, telemetry.Context())
