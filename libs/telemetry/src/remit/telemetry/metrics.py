"""Metrics: instruments made from the names, and where their readings go."""

from __future__ import annotations

from functools import cache
from typing import Protocol

from opentelemetry import metrics
from opentelemetry.metrics import Counter, Histogram, UpDownCounter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource

from remit.telemetry import names


class Metering(Protocol):
    """What a process does with its metrics."""

    def shutdown(self) -> None:
        """Send what is left and stop."""
        ...


class _NoMetering:
    """Nobody wants metrics, so none are kept."""

    def shutdown(self) -> None:
        """There is nothing to send."""


def install(*, service: str, instance: str, version: str, endpoint: str | None) -> Metering:
    """Send the metrics of this process to ``endpoint`` by OTLP over HTTP, if there is one."""
    if endpoint is None:
        metrics.set_meter_provider(metrics.NoOpMeterProvider())
        return _NoMetering()
    # Only a process that sends metrics pays for the exporter.
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

    exporter = OTLPMetricExporter(endpoint=f"{endpoint.rstrip('/')}/v1/metrics")
    reader = PeriodicExportingMetricReader(exporter)
    resource = Resource.create(
        {
            names.SERVICE_NAME: service,
            names.SERVICE_INSTANCE_ID: instance,
            names.SERVICE_VERSION: version,
        }
    )
    provider = MeterProvider(resource=resource, metric_readers=[reader])
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
