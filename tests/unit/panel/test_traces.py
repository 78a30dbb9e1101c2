"""Receiving traces and keeping the last ones."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from remit.panel.access.tokens import Token
from remit.panel.database import Database
from remit.panel.traces.receiver import MOST_RECEIVED, MOST_UNPACKED, PROTOBUF, OtlpReceiver
from remit.panel.traces.span import SpanKind, SpanStatus
from remit.panel.traces.store import SCHEMA, TooBusy, TraceStore
from remit.panel.traces.tree import rows
from support.panel_traces import export, trace_id


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Database]:
    database = Database(tmp_path / "traces.sqlite", SCHEMA)
    await database.open()
    yield database
    await database.close()


@pytest.fixture
async def store(database: Database) -> AsyncIterator[TraceStore]:
    store = TraceStore(database, most_traces=10, most_bytes=100_000)
    yield store
    await store.close()


def client_of(store: TraceStore, token: Token | None = None, address: str = "127.0.0.1"):
    app = FastAPI()
    app.include_router(OtlpReceiver(store, token).router())
    transport = httpx.ASGITransport(app, client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://panel")


async def post(store: TraceStore, body: bytes, token=None, address="127.0.0.1", **headers: str):
    given = {"content-type": PROTOBUF, **{k.replace("_", "-"): v for k, v in headers.items()}}
    async with client_of(store, token, address) as client:
        return await client.post("/otlp/v1/traces", content=body, headers=given)


async def names_in(store: TraceStore, number: int) -> list[str]:
    found = await store.trace(trace_id(number).hex())
    return [node.span.name for _, node in rows(found.tree.roots)] if found else []


# -- the receiver ---------------------------------------------------------------------------


async def test_spans_that_are_sent_can_be_asked_for_as_a_tree(store):
    body = export({"id": 1, "kind": 5}, {"id": 2, "parent": 1, "error": "no such branch"})
    answer = await post(store, body)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["content-type"] == PROTOBUF
    found = await store.trace(trace_id(1).hex())
    assert found is not None
    (root,) = found.tree.roots
    (child,) = root.children
    assert (root.span.service, root.span.kind) == ("remit-ticket", SpanKind.CONSUMER)
    assert (child.span.status, child.span.message) == (SpanStatus.ERROR, "no such branch")


async def test_gzip_is_undone(store):
    answer = await post(store, gzip.compress(export({"id": 1})), content_encoding="gzip")
    assert answer.status_code == 200
    assert await names_in(store, 1) == ["span 1"]


async def test_a_request_without_a_span_is_taken(store):
    assert (await post(store, b"")).status_code == 200


@pytest.mark.parametrize(
    ("headers", "body", "status", "reason"),
    [
        ({"content_type": "application/json"}, b"{}", 415, "application/x-protobuf"),
        ({"content_type": ""}, b"", 415, "application/x-protobuf"),
        ({"content_encoding": "br"}, b"", 415, "gzip"),
        ({}, b"this is no protobuf", 400, "ExportTraceServiceRequest"),
        ({"content_encoding": "gzip"}, b"this is no gzip", 400, "not gzip"),
        ({"content_encoding": "gzip"}, gzip.compress(b"x" * 900)[:-9], 400, "too early"),
        ({}, b"x" * (MOST_RECEIVED + 1), 413, str(MOST_RECEIVED)),
        (
            {"content_encoding": "gzip"},
            gzip.compress(b"\0" * (MOST_UNPACKED + 1)),
            413,
            str(MOST_UNPACKED),
        ),
    ],
    ids=["json", "nothing", "brotli", "garbage", "no gzip", "cut", "too large", "a bomb"],
)
async def test_anything_else_is_refused_with_the_reason(store, headers, body, status, reason):
    answer = await post(store, body, **headers)
    assert answer.status_code == status
    assert reason in answer.json()["message"]


async def test_spans_without_proper_ids_are_left_out(store):
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    scope.spans.add(trace_id=b"short", span_id=b"\x01" * 8, name="no trace")
    scope.spans.add(trace_id=trace_id(1), span_id=b"", name="no id")
    scope.spans.add(trace_id=trace_id(1), span_id=b"\x01" * 8, name="whole")
    assert (await post(store, request.SerializeToString())).status_code == 200
    assert await names_in(store, 1) == ["whole"]


async def test_traces_come_from_this_machine_only_unless_there_is_a_token(store):
    answer = await post(store, export({"id": 1}), address="10.1.2.3")
    assert answer.status_code == 403
    assert "REMIT_PANEL_OTLP_TOKEN_FILE" in answer.json()["message"]
    assert await names_in(store, 1) == []


@pytest.mark.parametrize(
    ("authorization", "status"),
    [("Bearer a-secret-of-senders", 200), ("Bearer another", 401), ("a-secret-of-senders", 401)],
)
async def test_where_there_is_a_token_it_is_asked_for_wherever_traces_come_from(
    store, authorization, status
):
    token = Token("", "a-secret-of-senders")
    for address in ("127.0.0.1", "10.1.2.3"):
        answer = await post(store, export({"id": 1}), token, address, authorization=authorization)
        assert answer.status_code == status


async def test_a_flood_is_told_to_come_again_before_it_takes_memory(database):
    store = TraceStore(database, room=100)
    body = export({"id": 1, "size": 200})
    answer = await post(store, body)
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "2"
    with pytest.raises(TooBusy):
        await store.take(body)
    assert await store.take(export({"id": 2})) == 1
    await store.close()


# -- what is kept ---------------------------------------------------------------------------


async def test_the_traces_that_grew_longest_ago_go_first(store):
    for number in range(1, 11):
        await store.take(export({"trace": number, "id": 1}))
    await store.take(export({"trace": 1, "id": 2, "parent": 1}))
    await store.take(export({"trace": 11, "id": 1}))
    assert await names_in(store, 2) == []
    assert await names_in(store, 1) == ["span 1", "span 2"]
    assert await names_in(store, 11) == ["span 1"]


async def test_traces_are_bounded_by_size_too(store, database):
    for number in range(1, 6):
        await store.take(export({"trace": number, "id": 1, "size": 40_000}))
    assert [number for number in range(1, 6) if await names_in(store, number)] == [4, 5]
    kept = await database.read(
        lambda db: db.execute(
            "SELECT count(*), (SELECT count(*) FROM traces) FROM spans"
        ).fetchone()
    )
    assert tuple(kept) == (2, 2)


async def test_a_span_that_is_sent_again_is_kept_once(store):
    for _ in range(2):
        await store.take(export({"id": 1}))
    assert await names_in(store, 1) == ["span 1"]


@pytest.mark.rule("DSP-1")
async def test_an_eval_of_a_batch_is_shown_beside_each_trace_that_it_links_to(store):
    await store.take(export({"trace": 1, "id": 1, "name": "one"}))
    await store.take(export({"trace": 2, "id": 2, "name": "two"}))
    await store.take(
        export(
            {"trace": 3, "id": 3, "name": "eval", "links": [1, 2]},
            {"trace": 3, "id": 4, "parent": 3, "name": "assess"},
        )
    )
    for number in (1, 2):
        found = await store.trace(trace_id(number).hex())
        assert found is not None
        (linked,) = found.linked
        assert (linked.direction, linked.trace_id) == ("to_here", trace_id(3).hex())
        assert [node.span.name for _, node in rows(linked.roots)] == ["eval", "assess"]
    batch = await store.trace(trace_id(3).hex())
    assert batch is not None
    assert [(one.direction, one.roots[0].span.name) for one in batch.linked] == [
        ("from_here", "one"),
        ("from_here", "two"),
    ]


async def test_links_go_with_their_trace(store, database):
    await store.take(export({"trace": 1, "id": 1, "links": [99]}))
    for number in range(2, 12):
        await store.take(export({"trace": number, "id": 1}))
    left = await database.read(lambda db: db.execute("SELECT count(*) FROM links").fetchone()[0])
    assert left == 0


async def test_damage_costs_the_old_traces_and_nothing_else(tmp_path):
    path = tmp_path / "traces.sqlite"
    path.write_bytes(b"this was never a database" * 100)
    database = Database(path, SCHEMA)
    await database.open()
    store = TraceStore(database)
    await store.take(export({"id": 1}))
    assert await names_in(store, 1) == ["span 1"]
    await store.close()
    await database.close()
    with sqlite3.connect(path) as plain:
        assert plain.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    plain.close()
