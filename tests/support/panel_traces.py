"""OTLP export requests, written by hand."""

from __future__ import annotations

from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

NS = 1_700_000_000_000_000_000


def trace_id(number: int) -> bytes:
    """Return the id of a trace that tests call by a number."""
    return number.to_bytes(16, "big")


def export(*spans: dict[str, Any], service: str = "remit-ticket") -> bytes:
    """Return an export request; a span is given by trace, id, parent, name, links and size."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.add(key="service.name").value.string_value = service
    scope = resource.scope_spans.add()
    for given in spans:
        span = scope.spans.add(
            trace_id=trace_id(given.get("trace", 1)),
            span_id=given["id"].to_bytes(8, "big"),
            name=given.get("name", f"span {given['id']}"),
            kind=given.get("kind", 1),
            start_time_unix_nano=NS + given["id"],
            end_time_unix_nano=NS + given["id"] + 1000,
        )
        if "parent" in given:
            span.parent_span_id = given["parent"].to_bytes(8, "big")
        for other in given.get("links", ()):
            span.links.add(trace_id=trace_id(other), span_id=b"\x00" * 7 + b"\x01")
        if "size" in given:
            span.attributes.add(key="filling").value.string_value = "x" * given["size"]
        if "error" in given:
            span.status.code = 2
            span.status.message = given["error"]
    body: bytes = request.SerializeToString()
    return body
