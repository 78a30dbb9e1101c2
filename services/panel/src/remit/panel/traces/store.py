"""The last traces: bounded by count and by size, in a file of their own.

Traces cannot be had again, so they do not share the read model's fate; and a flood of spans waits
for its own writer, never for the read model's.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Literal, TypeVar

from remit.domain.model import Model
from remit.panel.database import Database, DatabaseDamaged, Schema
from remit.panel.traces.span import Span, StoredSpan, decode, span_of
from remit.panel.traces.tree import Node, Tree, tree
from remit.telemetry.logs import logger

T = TypeVar("T")

SCHEMA = Schema(
    version=1,
    script="""
CREATE TABLE traces (
    number INTEGER PRIMARY KEY,
    id BLOB NOT NULL UNIQUE,
    touched INTEGER NOT NULL,
    spans INTEGER NOT NULL,
    bytes INTEGER NOT NULL
);
CREATE INDEX traces_by_age ON traces (touched);

CREATE TABLE spans (
    trace INTEGER NOT NULL,
    span BLOB NOT NULL,
    service TEXT NOT NULL,
    instance TEXT NOT NULL,
    data BLOB NOT NULL,
    UNIQUE (trace, span)
);

-- Which traces link to a trace: an Eval of a batch links to each Trigger's.
CREATE TABLE links (
    target BLOB NOT NULL,
    trace INTEGER NOT NULL,
    PRIMARY KEY (target, trace)
) WITHOUT ROWID;
CREATE INDEX links_by_trace ON links (trace);
""",
)

SPANS_SHOWN = 2000
"""Spans of one trace that are shown, the first ones."""
LINKED_SHOWN = 20
"""Linked traces that are shown beside one, in each direction."""


class TooBusy(Exception):
    """So much waits to be written already that more would only take memory."""


class LinkedTrace(Model):
    """A trace that is linked to another, not part of it.

    Attributes:
        trace_id: Its id.
        direction: ``to_here``: its spans link to the trace in question, as an Eval of a batch
            does; ``from_here``: the trace in question links to it.
        started_at: When it began.
        duration_ms: How long it took, in milliseconds.
        roots: Its spans, as a tree.
    """

    trace_id: str
    direction: Literal["to_here", "from_here"]
    started_at: datetime
    duration_ms: float
    roots: tuple[Node, ...]


class Trace(Model):
    """A trace and what is linked to it.

    Attributes:
        tree: The trace.
        linked: The linked traces, in time order.
        left_out: How many of its spans are not shown.
    """

    tree: Tree
    linked: tuple[LinkedTrace, ...] = ()
    left_out: int = 0


class TraceStore:
    """Keeps the last traces.

    Args:
        database: Where; it is open.
        most_traces: How many are kept; those that grew longest ago go first.
        most_bytes: How many bytes of spans are kept.
        room: Bytes of requests that may wait for the writer.
    """

    def __init__(
        self,
        database: Database,
        *,
        most_traces: int = 5000,
        most_bytes: int = 200_000_000,
        room: int = 32_000_000,
    ) -> None:
        self._database = database
        self._most_traces = most_traces
        self._most_bytes = most_bytes
        self._room = room
        self._pending = 0
        self._decoding = ThreadPoolExecutor(1, thread_name_prefix="otlp-decode")
        self._log = logger("remit.panel.traces")

    async def take(self, body: bytes) -> int:
        """Keep the spans of an OTLP export request; return how many there were.

        Raises:
            NotOtlp: The bytes are not what OTLP says.
            TooBusy: Too much waits already; the sender should come again.
        """
        if self._pending + len(body) > self._room:
            raise TooBusy(f"{self._pending} bytes of spans wait to be written")
        self._pending += len(body)
        try:
            loop = asyncio.get_running_loop()
            spans = await loop.run_in_executor(self._decoding, decode, body)
            await self._renewed(lambda: self._database.write(partial(self._keep, spans)))
        finally:
            self._pending -= len(body)
        return len(spans)

    async def trace(self, trace_id: str) -> Trace | None:
        """Return a trace with what is linked to it; None where nothing of it is kept.

        Raises:
            ValueError: ``trace_id`` is not hexadecimal.
        """
        wanted = bytes.fromhex(trace_id)
        return await self._renewed(lambda: self._database.read(partial(_trace, wanted)))

    async def close(self) -> None:
        """Finish what is being decoded."""
        self._decoding.shutdown()

    async def _renewed(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do ``work``; where the file is damaged, start it anew first."""
        try:
            return await work()
        except DatabaseDamaged as damaged:
            self._log.error("traces are lost", problem=str(damaged))
            await self._database.rebuild()
            return await work()

    # -- in the writer's thread -------------------------------------------------------------

    def _keep(self, spans: Sequence[StoredSpan], db: sqlite3.Connection) -> None:
        by_trace: defaultdict[bytes, list[StoredSpan]] = defaultdict(list)
        for span in spans:
            by_trace[span.trace].append(span)
        for trace, its in by_trace.items():
            number = _touch(db, trace, its)
            db.executemany(
                "INSERT OR IGNORE INTO spans (trace, span, service, instance, data) "
                "VALUES (?, ?, ?, ?, ?)",
                [(number, one.span, one.service, one.instance, one.data) for one in its],
            )
            db.executemany(
                "INSERT OR IGNORE INTO links (target, trace) VALUES (?, ?)",
                [(target, number) for one in its for target in one.links],
            )
        self._let_go(db)

    def _let_go(self, db: sqlite3.Connection) -> None:
        count, size = db.execute("SELECT count(*), total(bytes) FROM traces").fetchone()
        while count > self._most_traces or size > self._most_bytes:
            oldest = db.execute(
                "SELECT number, bytes FROM traces ORDER BY touched LIMIT ?",
                (max(count - self._most_traces, 1),),
            ).fetchall()
            gone = [(row["number"],) for row in oldest]
            db.executemany("DELETE FROM spans WHERE trace = ?", gone)
            db.executemany("DELETE FROM links WHERE trace = ?", gone)
            db.executemany("DELETE FROM traces WHERE number = ?", gone)
            count -= len(gone)
            size -= sum(row["bytes"] for row in oldest)


def _touch(db: sqlite3.Connection, trace: bytes, spans: Sequence[StoredSpan]) -> int:
    """Note that a trace grew; return its number."""
    size = sum(len(span.data) for span in spans)
    row = db.execute(
        "INSERT INTO traces (id, touched, spans, bytes) "
        "VALUES (?, (SELECT ifnull(max(touched), 0) + 1 FROM traces), ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET touched = excluded.touched, "
        "spans = spans + excluded.spans, bytes = bytes + excluded.bytes RETURNING number",
        (trace, len(spans), size),
    ).fetchone()
    return int(row["number"])


# -- in a reader's thread -------------------------------------------------------------------


def _trace(wanted: bytes, db: sqlite3.Connection) -> Trace | None:
    spans = _spans(db, wanted)
    found = tree(spans)
    if found is None:
        return None
    to_here = [
        row["id"]
        for row in db.execute(
            "SELECT traces.id FROM links JOIN traces ON traces.number = links.trace "
            "WHERE links.target = ? ORDER BY traces.number LIMIT ?",
            (wanted, LINKED_SHOWN),
        )
    ]
    named = (link.trace_id for span in spans for link in span.links)
    from_here = [bytes.fromhex(one) for one in dict.fromkeys(named)][: LINKED_SHOWN + 1]
    linked = [
        *_linked(db, (one for one in to_here if one != wanted), "to_here"),
        *_linked(
            db, (one for one in from_here if one != wanted and one not in to_here), "from_here"
        ),
    ]
    total = db.execute(
        "SELECT count(*) FROM spans JOIN traces ON traces.number = spans.trace WHERE id = ?",
        (wanted,),
    ).fetchone()[0]
    return Trace(
        tree=found,
        linked=tuple(sorted(linked, key=lambda one: one.started_at)),
        left_out=total - len(spans),
    )


def _linked(
    db: sqlite3.Connection, traces: Iterable[bytes], direction: Literal["to_here", "from_here"]
) -> Iterable[LinkedTrace]:
    for trace in traces:
        found = tree(_spans(db, trace))
        if found is not None:
            yield LinkedTrace(
                trace_id=found.trace_id,
                direction=direction,
                started_at=found.started_at,
                duration_ms=found.duration_ms,
                roots=found.roots,
            )


def _spans(db: sqlite3.Connection, trace: bytes) -> list[Span]:
    rows = db.execute(
        "SELECT service, instance, data FROM spans "
        "WHERE trace = (SELECT number FROM traces WHERE id = ?) ORDER BY rowid LIMIT ?",
        (trace, SPANS_SHOWN),
    )
    return [span_of(row["data"], service=row["service"], instance=row["instance"]) for row in rows]
