"""Traces while the endpoint is away."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from remit.telemetry import tracing

SPANS = (ReadableSpan("one"),)


class Endpoint(SpanExporter):
    """Takes spans once it was asked often enough."""

    def __init__(self, away_for: int) -> None:
        self.away_for = away_for
        self.asked = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.asked += 1
        away = self.asked <= self.away_for
        return SpanExportResult.FAILURE if away else SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        pass


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_TRY_AGAIN_AFTER", (0.0, 0.0, 0.0))


@pytest.mark.field("D6")
def test_spans_are_kept_until_the_endpoint_is_back_and_it_is_said_once(capsys):
    endpoint = Endpoint(away_for=2)
    exporter = tracing._PatientExporter(endpoint)
    assert exporter.export(SPANS) is SpanExportResult.SUCCESS
    assert endpoint.asked == 3
    said = capsys.readouterr().out
    assert said.count("traces are not taken") == 1
    assert said.count("traces are taken again") == 1


def test_an_endpoint_that_stays_away_is_given_up_on_with_a_count(capsys):
    exporter = tracing._PatientExporter(Endpoint(away_for=99))
    assert exporter.export(SPANS) is SpanExportResult.FAILURE
    assert "given up on" in capsys.readouterr().out


def test_a_process_that_ends_does_not_wait(monkeypatch):
    monkeypatch.setattr(tracing, "_TRY_AGAIN_AFTER", (3600.0,))
    endpoint = Endpoint(away_for=99)
    exporter = tracing._PatientExporter(endpoint)
    exporter.hurry()
    assert exporter.export(SPANS) is SpanExportResult.FAILURE
    assert endpoint.asked == 1
