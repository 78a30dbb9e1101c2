"""The stream of a model's answer, kept compact and expanded again without loss (LOG-4).

A stream is a list of timed chunks. On disk, runs of deltas of one block are one record with the
gaps between their times; every other chunk is a record of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from remit.harness.log.errors import RowError
from remit.harness.log.json_text import JsonObject, is_safe_integer


@dataclass(frozen=True, slots=True)
class TimedChunk:
    """One chunk of a stream and when it arrived, in milliseconds since the epoch."""

    time: int
    chunk: JsonObject


@dataclass(frozen=True, slots=True)
class _Kind:
    """How deltas of one type are stored."""

    record: str
    delta: str
    keys: tuple[str, ...]
    fragment: str
    fragments: str


_KINDS = (
    _Kind("text-chunks", "text-delta", (), "text", "texts"),
    _Kind("reasoning-chunks", "reasoning-delta", (), "text", "texts"),
    _Kind("tool-call-chunks", "tool-call-delta", ("id", "name"), "argumentsDelta", "args"),
)
_BY_DELTA = {kind.delta: kind for kind in _KINDS}
_BY_RECORD = {kind.record: kind for kind in _KINDS}


def compact(chunks: Iterable[TimedChunk]) -> list[JsonObject]:
    """Store a stream: runs of deltas become one record each."""
    records: list[JsonObject] = []
    head: tuple[Any, ...] | None = None
    last = 0
    for timed in chunks:
        key = _run_key(timed)
        if key is None:
            records.append({"type": "chunk", "time": timed.time, "chunk": timed.chunk})
            head = None
            continue
        kind = _BY_DELTA[timed.chunk["type"]]
        fragment = timed.chunk[kind.fragment]
        if key == head and is_safe_integer(timed.time - last):
            records[-1]["dt"].append(timed.time - last)
            records[-1][kind.fragments].append(fragment)
        else:
            records.append(_new_run(kind, timed, fragment))
            head = key
        last = timed.time
    return records


def expand(records: Iterable[JsonObject]) -> list[TimedChunk]:
    """Give back the chunks that a stored stream stands for.

    Raises:
        RowError: A record is not one the format knows.
    """
    chunks: list[TimedChunk] = []
    for record in records:
        kind = _lookup(_BY_RECORD, record.get("type"))
        if kind is not None:
            chunks.extend(_expand_run(kind, record))
        elif set(record) == {"type", "time", "chunk"} and record["type"] == "chunk":
            _require(is_safe_integer(record["time"]), "a chunk's time is not an integer")
            _require(isinstance(record["chunk"], dict), "a chunk is not a JSON object")
            chunks.append(TimedChunk(record["time"], record["chunk"]))
        else:
            raise RowError(f"unknown stream record {record.get('type')!r}")
    return chunks


def _lookup(kinds: dict[str, _Kind], name: Any) -> _Kind | None:
    return kinds.get(name) if isinstance(name, str) else None


def _run_key(timed: TimedChunk) -> tuple[Any, ...] | None:
    """What neighbours must share to be one run; None for a chunk that is no part of any."""
    chunk = timed.chunk
    kind = _lookup(_BY_DELTA, chunk.get("type"))
    if kind is None or not is_safe_integer(timed.time):
        return None
    due = {"type", "index", kind.fragment, *kind.keys}
    if set(chunk) != due and set(chunk) != due - {"name"}:
        return None
    if not is_safe_integer(chunk["index"]) or not isinstance(chunk[kind.fragment], str):
        return None
    if any(not isinstance(chunk[key], str) or not chunk[key] for key in kind.keys if key in chunk):
        return None
    return (kind.record, chunk["index"], chunk.get("id"), chunk.get("name"))


def _new_run(kind: _Kind, timed: TimedChunk, fragment: str) -> JsonObject:
    record: JsonObject = {
        "type": kind.record,
        "time0": timed.time,
        "index": timed.chunk["index"],
        "dt": [],
    }
    record.update({key: timed.chunk[key] for key in kind.keys if key in timed.chunk})
    record[kind.fragments] = [fragment]
    return record


def _expand_run(kind: _Kind, record: JsonObject) -> list[TimedChunk]:
    due = {"type", "time0", "index", "dt", kind.fragments, *kind.keys}
    _require(
        set(record) in (due, due - {"name"}), f"a {kind.record} record does not have its exact keys"
    )
    gaps, fragments = record["dt"], record[kind.fragments]
    _require(
        isinstance(gaps, list) and isinstance(fragments, list) and len(fragments) == len(gaps) + 1,
        f"a {kind.record} record needs one gap less than it has fragments",
    )
    _require(
        is_safe_integer(record["time0"])
        and is_safe_integer(record["index"])
        and all(is_safe_integer(gap) for gap in gaps)
        and all(isinstance(fragment, str) for fragment in fragments)
        and all(isinstance(record[key], str) for key in kind.keys if key in record),
        f"a {kind.record} record holds a value of the wrong type",
    )
    head = {"type": kind.delta, "index": record["index"]}
    head.update({key: record[key] for key in kind.keys if key in record})
    chunks = [TimedChunk(record["time0"], {**head, kind.fragment: fragments[0]})]
    for gap, fragment in zip(gaps, fragments[1:], strict=True):
        chunks.append(TimedChunk(chunks[-1].time + gap, {**head, kind.fragment: fragment}))
    return chunks


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise RowError(problem)
