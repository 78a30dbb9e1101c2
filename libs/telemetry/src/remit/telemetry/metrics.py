"""Metrics: instruments made from the names, and where their readings go."""

from __future__ import annotations

from functools import cache

from opentelemetry import metrics
from opentelemetry.metrics import Counter, Histogram, UpDownCounter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

from remit.telemetry import names


def install(*, service: str, instance: str, version: str, endpoint: str | None) -> MeterProvider:
    """Send the metrics of this process to ``endpoint`` by OTLP over HTTP.

    Without an endpoint they are kept in the process only.
    """
    readers = []
    if endpoint is not None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

        exporter = OTLPMetricExporter(endpoint=f"{endpoint.rstrip('/')}/v1/metrics")
        readers.append(PeriodicExportingMetricReader(exporter))
    resource = Resource.create(
        {
            names.SERVICE_NAME: service,
            names.SERVICE_INSTANCE_ID: instance,
            names.SERVICE_VERSION: version,
        }
    )
    provider = MeterProvider(resource=resource, metric_readers=readers)
    metrics.set_meter_provider(provider)
    return provider


@cache
def counter(name: str, unit: str = "1") -> Counter:
    """Return the counter of that name, one of `remit.telemetry.names`."""
    return metrics.get_meter("remit").create_counter(name, unit=unit)


@cache
def up_down_counter(name: str, unit: str = "1") -> UpDownCounter:
    """Return the counter of that name that also goes down."""
    return metrics.get_meter("remit").create_up_down_counter(name, unit=unit)


@cache
def histogram(name: str, unit: str = "s") -> Histogram:
    """Return the histogram of that name."""
    return metrics.get_meter("remit").create_histogram(name, unit=unit)
