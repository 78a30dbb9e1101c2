"""Logs as JSON, one object a line, each with the trace it belongs to."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog
from opentelemetry import trace
from structlog.typing import FilteringBoundLogger

from remit.telemetry import names

Logger = FilteringBoundLogger


def configure(
    *, service: str, instance: str, level: str = "info", out: TextIO = sys.stdout
) -> None:
    """Send every log line of this process to ``out`` as JSON.

    Libraries' own lines go the same way, from warnings upwards.

    Raises:
        ValueError: ``level`` is not one of debug, info, warning, error.
    """
    numbers = {"debug": 10, "info": 20, "warning": 30, "error": 40}
    if level not in numbers:
        raise ValueError(f"log level {level!r} is not one of {', '.join(numbers)}")

    def stamp(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event["service"] = service
        event["instance"] = instance
        return event

    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        stamp,
        _trace_id,
        structlog.processors.format_exc_info,
    ]
    structlog.configure(
        processors=[*shared, structlog.processors.JSONRenderer(ensure_ascii=False)],
        wrapper_class=structlog.make_filtering_bound_logger(numbers[level]),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(ensure_ascii=False),
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def logger(name: str) -> Logger:
    """Return a logger whose lines say that they come from ``name``."""
    bound: Logger = structlog.get_logger().bind(logger=name)
    return bound


def _trace_id(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    context = trace.get_current_span().get_span_context()
    if context.is_valid:
        event[names.LOG_TRACE_ID] = trace.format_trace_id(context.trace_id)
    return event
