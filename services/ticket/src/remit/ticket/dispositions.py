"""Telling traces and metrics of Dispositions: the end of a Trigger's way in (DSP-1)."""

from __future__ import annotations

from collections.abc import Iterable

from remit.domain.disposition import Disposition
from remit.telemetry import metrics, names, tracing


class Dispositions:
    """Closes each Trigger's trace with a span, and counts."""

    def settled(self, dispositions: Iterable[tuple[Disposition, str | None]]) -> None:
        """Take note of Dispositions that were committed, each with its Trigger's trace."""
        counter = metrics.counter(names.METRIC_DISPOSITIONS)
        for disposition, trace in dispositions:
            # A Decision's reason is free text, and so no label.
            reason = disposition.outcome or disposition.reason
            counter.add(1, {names.DISPOSITION_KIND: disposition.kind, "outcome": str(reason)})
            with tracing.span(
                names.SPAN_DISPOSITION,
                on=trace,
                attributes={
                    names.TRIGGER_ID: disposition.trigger,
                    names.THREAD: disposition.thread,
                    names.DISPOSITION_KIND: disposition.kind,
                    names.DISPOSITION_REASON: str(disposition.reason),
                },
            ):
                pass
