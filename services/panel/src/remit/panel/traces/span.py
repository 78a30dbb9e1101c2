"""A span as the panel shows it, and how OTLP's own form is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import NamedTuple

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]  # it ships no types
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span as OtlpSpan
from opentelemetry.proto.trace.v1.trace_pb2 import Status
from pydantic import JsonValue

from remit.domain.model import Model
from remit.telemetry import names

TRACE_ID_BYTES = 16
SPAN_ID_BYTES = 8
_DEEPEST_VALUE = 8


class SpanKind(StrEnum):
    """What kind of work a span is."""

    INTERNAL = "internal"
    SERVER = "server"
    CLIENT = "client"
    PRODUCER = "producer"
    CONSUMER = "consumer"


class SpanStatus(StrEnum):
    """How a span ended."""

    UNSET = "unset"
    OK = "ok"
    ERROR = "error"


class SpanLink(Model):
    """Another cause of a span, in this trace or another."""

    trace_id: str
    span_id: str


class SpanEvent(Model):
    """Something that happened during a span."""

    name: str
    at: datetime
    attributes: Mapping[str, JsonValue] = {}


class Span(Model):
    """One span.

    Attributes:
        trace_id: Its trace, 32 hex digits.
        span_id: Its id, 16 hex digits.
        parent_id: The span it is part of.
        name: What it did.
        kind: What kind of work it is.
        service: The service that did it.
        instance: Which replica of it.
        start_ns: When it began, in nanoseconds since 1970.
        end_ns: When it ended.
        status: How it ended.
        message: What went wrong.
        attributes: Facts about it.
        events: What happened meanwhile.
        links: Its other causes, across batches and waits.
    """

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str
    kind: SpanKind = SpanKind.INTERNAL
    service: str = ""
    instance: str = ""
    start_ns: int
    end_ns: int
    status: SpanStatus = SpanStatus.UNSET
    message: str = ""
    attributes: Mapping[str, JsonValue] = {}
    events: tuple[SpanEvent, ...] = ()
    links: tuple[SpanLink, ...] = ()


class StoredSpan(NamedTuple):
    """A span as it is kept: OTLP's own bytes, and what it is found by.

    Attributes:
        trace: Its trace id.
        span: Its id.
        service: The service.
        instance: Its replica.
        data: The span, as protobuf.
        links: The other traces that it links to.
    """

    trace: bytes
    span: bytes
    service: str
    instance: str
    data: bytes
    links: tuple[bytes, ...]


class NotOtlp(Exception):
    """The bytes are no OTLP export request."""


def decode(body: bytes) -> list[StoredSpan]:
    """Return the spans of an export request; those without proper ids are left out.

    Raises:
        NotOtlp: The bytes are not what OTLP says.
    """
    request = ExportTraceServiceRequest()
    try:
        request.ParseFromString(body)
    except DecodeError as error:
        raise NotOtlp(f"not an ExportTraceServiceRequest: {error}") from error
    spans: list[StoredSpan] = []
    for resource in request.resource_spans:
        facts = _attributes(resource.resource.attributes)
        service = str(facts.get(names.SERVICE_NAME, ""))
        instance = str(facts.get(names.SERVICE_INSTANCE_ID, ""))
        for scope in resource.scope_spans:
            spans.extend(
                StoredSpan(
                    span.trace_id,
                    span.span_id,
                    service,
                    instance,
                    span.SerializeToString(),
                    _linked(span),
                )
                for span in scope.spans
                if len(span.trace_id) == TRACE_ID_BYTES and len(span.span_id) == SPAN_ID_BYTES
            )
    return spans


def span_of(data: bytes, *, service: str, instance: str) -> Span:
    """Return a span that was kept."""
    span = OtlpSpan.FromString(data)
    return Span(
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex() or None,
        name=span.name,
        kind=_KINDS.get(span.kind, SpanKind.INTERNAL),
        service=service,
        instance=instance,
        start_ns=span.start_time_unix_nano,
        end_ns=max(span.end_time_unix_nano, span.start_time_unix_nano),
        status=_STATUSES.get(span.status.code, SpanStatus.UNSET),
        message=span.status.message,
        attributes=_attributes(span.attributes),
        events=tuple(
            SpanEvent(
                name=event.name,
                at=time_of(event.time_unix_nano),
                attributes=_attributes(event.attributes),
            )
            for event in span.events
        ),
        links=tuple(
            SpanLink(trace_id=link.trace_id.hex(), span_id=link.span_id.hex())
            for link in span.links
        ),
    )


def time_of(nanoseconds: int) -> datetime:
    """Return the time, aware, in UTC."""
    return datetime.fromtimestamp(nanoseconds / 1e9, UTC)


def _linked(span: OtlpSpan) -> tuple[bytes, ...]:
    if not span.links:
        return ()
    others = (link.trace_id for link in span.links if len(link.trace_id) == TRACE_ID_BYTES)
    return tuple(dict.fromkeys(other for other in others if other != span.trace_id))


def _attributes(pairs: Iterable[KeyValue]) -> dict[str, JsonValue]:
    return {pair.key: _value(pair.value, 0) for pair in pairs}


def _value(value: AnyValue, depth: int) -> JsonValue:
    match value.WhichOneof("value"):
        case "string_value":
            return value.string_value
        case "bool_value":
            return value.bool_value
        case "int_value":
            return value.int_value
        case "double_value":
            return value.double_value
        case "bytes_value":
            return value.bytes_value.hex()
        case "array_value" if depth < _DEEPEST_VALUE:
            return [_value(one, depth + 1) for one in value.array_value.values]
        case "kvlist_value" if depth < _DEEPEST_VALUE:
            return {one.key: _value(one.value, depth + 1) for one in value.kvlist_value.values}
        case _:
            return None


_KINDS: dict[int, SpanKind] = {
    OtlpSpan.SPAN_KIND_INTERNAL: SpanKind.INTERNAL,
    OtlpSpan.SPAN_KIND_SERVER: SpanKind.SERVER,
    OtlpSpan.SPAN_KIND_CLIENT: SpanKind.CLIENT,
    OtlpSpan.SPAN_KIND_PRODUCER: SpanKind.PRODUCER,
    OtlpSpan.SPAN_KIND_CONSUMER: SpanKind.CONSUMER,
}
_STATUSES: dict[int, SpanStatus] = {
    Status.STATUS_CODE_OK: SpanStatus.OK,
    Status.STATUS_CODE_ERROR: SpanStatus.ERROR,
}
