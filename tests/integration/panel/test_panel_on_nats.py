"""The panel over a real bus, as the process that runs in a deployment."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.trace import Link

from remit.bus.nats import NatsBus
from remit.cli.embedded import NatsServer
from remit.domain.ids import ThreadKey, ticket_id_for
from remit.domain.report import ReportKind
from remit.domain.ticket import GiveReport, TakeInput
from remit.panel.readmodel.projections import projections
from remit.runtime.wire import message_of
from remit.telemetry import names
from support.deployment import ServiceProcess
from support.domain import HOME, MALLORY, trigger
from support.memory_services import MemoryServices
from support.panel import TOKEN, running_panel
from support.servers import bus_on, running_nats

TICKET = ticket_id_for(trigger(1).id)


@pytest.fixture
def nats_of_its_own(tmp_path: Path) -> Iterator[NatsServer]:
    """A server whose streams hold what a test puts there and nothing else."""
    with running_nats(tmp_path / "nats") as server:
        yield server


@pytest.fixture
async def story() -> MemoryServices:
    """What happened: a request that was worked on, a follow-up, and a stranger."""
    services = MemoryServices()
    await services.apply()
    await services.publish(trigger(1))
    await services.settle()
    ticket = await services.take(TICKET)
    assert ticket.assignment is not None
    mine = ticket.assignment.id
    await services.host_says(TICKET, TakeInput(assignment=mine, message=1, number=1))
    await services.publish(trigger(2), trigger(3, actor=MALLORY, threads=(ThreadKey("github:x"),)))
    await services.settle()
    await services.host_says(TICKET, TakeInput(assignment=mine, message=2, number=2))
    report = GiveReport(assignment=mine, message=3, kind=ReportKind.READY, text="Done.", final=True)
    await services.host_says(TICKET, report)
    await services.settle()
    return services


async def tell(story: MemoryServices, bus: NatsBus) -> None:
    """Put all that happened on a real bus, as the services would have."""
    for projection in projections():
        for delivery in await story.stored(projection.stream):
            await bus.publish(replace(delivery.message, commit=None))


@pytest.fixture
async def panel(nats_of_its_own: NatsServer, tmp_path: Path) -> AsyncIterator[ServiceProcess]:
    """A panel as a process; where it keeps its data is ``tmp_path / "data"``."""
    (tmp_path / "token").write_text(TOKEN)
    environment = {
        "REMIT_NATS_URL": nats_of_its_own.url,
        "REMIT_PANEL_DATA_DIR": str(tmp_path / "data"),
        "REMIT_PANEL_TOKEN_FILE": str(tmp_path / "token"),
    }
    process = ServiceProcess("panel", environment, tmp_path / "panel.log")
    await process.start()
    await process.until("ready")
    yield process
    await process.stop()


def asking(panel: ServiceProcess) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=panel.url, headers={"Authorization": f"Bearer {TOKEN}"})


async def answers(http: httpx.AsyncClient) -> list[Any]:
    """Return everything that the panel says of the story, once it has read all of it."""
    deadline = time.monotonic() + 20
    last = f"/api/tickets/{TICKET}"
    while (await http.get(last)).json().get("status") != "ended":
        assert time.monotonic() < deadline, "the panel does not read up"
        await asyncio.sleep(0.05)
    paths = [
        "/api/triggers",
        *(f"/api/triggers/{trigger(number).id}?wait=10" for number in (1, 2, 3)),
        f"/api/threads/{HOME}",
        "/api/tickets",
        last,
        "/api/policy",
    ]
    return [(await http.get(path)).json() for path in paths]


@pytest.mark.rule("DSP-2")
async def test_a_panel_whose_database_was_deleted_says_the_same_again(
    nats_of_its_own, panel, story, tmp_path
):
    async with bus_on(nats_of_its_own) as bus:
        await tell(story, bus)
    async with asking(panel) as http:
        before = await answers(http)
    assert [one["settled"] for one in before[1:4]] == [True, True, True]
    assert await panel.stop() == 0
    removed = [file.unlink() for file in (tmp_path / "data").glob("readmodel*")]
    assert removed
    await panel.start()
    await panel.until("ready")
    async with asking(panel) as http:
        assert await answers(http) == before


async def test_a_panel_that_was_killed_goes_on_and_counts_nothing_twice(
    nats_of_its_own, panel, story
):
    late = trigger(4, threads=(ThreadKey("github:late"),))
    async with bus_on(nats_of_its_own) as bus:
        await tell(story, bus)
        async with asking(panel) as http:
            before = await answers(http)
            counted = (await http.get("/api/overview")).json()
        await panel.kill()
        await bus.publish(message_of(late, id=late.id, source="test"))
    await panel.start()
    await panel.until("ready")
    async with asking(panel) as http:
        await http.get(f"/api/triggers/{late.id}?wait=1")
        assert (await answers(http))[1:] == before[1:]
        overview = (await http.get("/api/overview")).json()
    assert overview["triggers"] == {"github": counted["triggers"]["github"] + 1}
    assert overview["dispositions"] == counted["dispositions"]
    assert overview["decisions"] == counted["decisions"]


async def test_an_in_memory_panel_and_a_real_one_say_the_same(
    nats_of_its_own, panel, story, tmp_path
):
    async with bus_on(nats_of_its_own) as bus:
        await tell(story, bus)
    (tmp_path / "memory").mkdir()
    async with running_panel(story.bus, tmp_path / "memory") as remembered:
        await remembered.read_up()
        ticket = await remembered.get(f"/api/tickets/{TICKET}")
        thread = await remembered.get(f"/api/threads/{HOME}")
    async with asking(panel) as http:
        await answers(http)
        assert (await http.get(f"/api/tickets/{TICKET}")).json() == ticket
        assert (await http.get(f"/api/threads/{HOME}")).json()["evals"] == thread["evals"]


# -- traces ---------------------------------------------------------------------------------


def provider_for(panel: ServiceProcess, service: str, compression: Compression) -> TracerProvider:
    """Return a tracer provider that exports as a service of Remit does."""
    endpoint = f"{panel.url}/otlp/v1/traces"
    provider = TracerProvider(resource=Resource.create({names.SERVICE_NAME: service}))
    exporter = OTLPSpanExporter(endpoint=endpoint, compression=compression)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    return provider


@pytest.mark.rule("DSP-1")
@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
async def test_spans_of_the_real_sdk_arrive_as_one_tree_over_services_with_what_links_to_it(
    panel, compression
):
    def emit() -> str:
        source = provider_for(panel, "remit-source", compression)
        evaluating = provider_for(panel, "remit-eval", compression)
        with source.get_tracer("t").start_as_current_span(names.SPAN_RECEIVE_WEBHOOK) as root:
            tracer = evaluating.get_tracer("t")
            with tracer.start_as_current_span(names.SPAN_ROUTE, attributes={"remit.thread": "x"}):
                pass
        batch = tracer.start_span(
            names.SPAN_EVAL,
            context=trace.set_span_in_context(trace.INVALID_SPAN),
            links=[Link(root.get_span_context())],
        )
        batch.end()
        source.shutdown()
        evaluating.shutdown()
        return trace.format_trace_id(root.get_span_context().trace_id)

    trace_id = await asyncio.to_thread(emit)
    async with asking(panel) as http:
        found = (await http.get(f"/api/traces/{trace_id}")).json()
        page = await http.get(f"/traces/{trace_id}")
    (root,) = found["tree"]["roots"]
    (child,) = root["children"]
    assert (root["span"]["name"], root["span"]["service"]) == ("receive webhook", "remit-source")
    assert (child["span"]["name"], child["span"]["service"]) == ("route trigger", "remit-eval")
    assert child["span"]["attributes"] == {"remit.thread": "x"}
    assert 0 <= child["offset_ms"] <= root["duration_ms"]
    (linked,) = found["linked"]
    assert (linked["direction"], linked["roots"][0]["span"]["name"]) == ("to_here", "eval")
    assert page.status_code == 200


# -- the process ----------------------------------------------------------------------------


async def test_changes_reach_a_watcher_and_a_watcher_holds_up_no_stop(
    nats_of_its_own, panel, story
):
    heard: list[str] = []
    path = "/api/events?kind=trigger"
    async with asking(panel) as http, http.stream("GET", path, timeout=20) as stream:
        lines = stream.aiter_lines()
        assert await anext(lines) == "event: hello"
        async with bus_on(nats_of_its_own) as bus:
            await bus.publish(replace((await story.stored("TRIGGER"))[0].message, id="live"))
        async for line in lines:
            heard.append(line)
            if line.startswith('data: {"kind"'):
                break
        assert "event: trigger" in heard
        assert trigger(1).id in heard[-1]
        began = time.monotonic()
        assert await panel.stop() == 0
        assert time.monotonic() - began < 5


async def test_health_needs_no_login_and_pages_do(panel):
    async with httpx.AsyncClient(base_url=panel.url) as http:
        assert (await http.get("/readyz")).status_code == 200
        assert (await http.get("/healthz")).status_code == 200
        assert (await http.get("/")).status_code == 303
        assert (await http.get("/api/overview")).status_code == 401


async def test_a_panel_without_a_login_does_not_start(nats_of_its_own, tmp_path):
    environment = {
        "REMIT_NATS_URL": nats_of_its_own.url,
        "REMIT_PANEL_DATA_DIR": str(tmp_path / "data"),
    }
    process = ServiceProcess("panel", environment, tmp_path / "panel.log")
    await process.start()
    assert await process.wait() != 0
    assert "REMIT_PANEL_TOKEN_FILE" in (tmp_path / "panel.log").read_text()
