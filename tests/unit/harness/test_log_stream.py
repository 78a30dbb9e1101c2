"""Streams are stored compact and expand to what they were (LOG-4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harness.log import RowError, TimedChunk, compact, expand
from remit.harness.log.json_text import MAX_SAFE_INTEGER, decode, encode

TIME = 1_790_389_440_331


def text(value: str, *, at: int = TIME, index: int = 0) -> TimedChunk:
    return TimedChunk(at, {"type": "text-delta", "index": index, "text": value})


def call(arguments: str, *, name: str | None = None, call_id: str = "c1") -> TimedChunk:
    chunk: dict[str, Any] = {"type": "tool-call-delta", "index": 1, "id": call_id}
    if name is not None:
        chunk["name"] = name
    return TimedChunk(TIME, {**chunk, "argumentsDelta": arguments})


indexes = st.integers(0, 2)
words = st.text(max_size=4)
deltas = st.one_of(
    st.fixed_dictionaries({"type": st.just("text-delta"), "index": indexes, "text": words}),
    st.fixed_dictionaries({"type": st.just("reasoning-delta"), "index": indexes, "text": words}),
    st.fixed_dictionaries(
        {
            "type": st.just("tool-call-delta"),
            "index": indexes,
            "id": st.sampled_from(["", "c1", "c2"]),
            "argumentsDelta": words,
        },
        optional={"name": st.sampled_from(["", "read", "write"])},
    ),
    st.fixed_dictionaries({"type": st.just("text-delta"), "index": indexes, "more": words}),
    st.fixed_dictionaries({"type": st.just("text-delta"), "index": words, "text": words}),
    st.fixed_dictionaries({"type": st.just("block-end"), "index": indexes, "block": st.none()}),
    st.fixed_dictionaries({"type": st.just("finish"), "reason": words}),
)
times = st.one_of(
    st.integers(TIME, TIME + 5), st.sampled_from([-MAX_SAFE_INTEGER, 0, MAX_SAFE_INTEGER])
)
streams = st.lists(st.builds(TimedChunk, times, deltas), max_size=12)


@pytest.mark.rule("LOG-4")
@given(streams)
def test_any_stream_expands_to_what_was_compacted(stream: list[TimedChunk]) -> None:
    stored = decode(encode(compact(stream)))
    assert expand(stored) == stream


@pytest.mark.rule("LOG-4")
@given(streams)
def test_no_two_neighbouring_records_could_have_been_one(stream: list[TimedChunk]) -> None:
    records = compact(stream)
    assert compact(expand(records)) == records


@pytest.mark.rule("LOG-4")
def test_neighbouring_deltas_of_one_block_are_one_record() -> None:
    stream = [text("Read"), text(" all"), text(".", at=TIME + 3)]
    assert compact(stream) == [
        {
            "type": "text-chunks",
            "time0": TIME,
            "index": 0,
            "dt": [0, 3],
            "texts": ["Read", " all", "."],
        }
    ]


def test_a_clock_that_goes_back_gives_a_negative_gap() -> None:
    stream = [text("a", at=TIME), text("b", at=TIME - 7)]
    assert compact(stream)[0]["dt"] == [-7]
    assert expand(compact(stream)) == stream


def test_the_named_first_delta_of_a_tool_call_is_a_record_of_its_own() -> None:
    records = compact([call("", name="read"), call("{"), call("}")])
    assert [(record.get("name"), record["args"]) for record in records] == [
        ("read", [""]),
        (None, ["{", "}"]),
    ]


@pytest.mark.parametrize(
    "breaking",
    [
        text("b", index=1),
        TimedChunk(TIME, {"type": "reasoning-delta", "index": 0, "text": "b"}),
        TimedChunk(TIME, {"type": "finish", "reason": {"kind": "stop"}}),
    ],
    ids=["another index", "another type", "another chunk between"],
)
def test_a_run_ends_where_something_changes(breaking: TimedChunk) -> None:
    assert len(compact([text("a"), breaking, text("c")])) == 3


def test_a_gap_that_no_reader_keeps_exactly_ends_a_run() -> None:
    stream = [text("a", at=-MAX_SAFE_INTEGER), text("b", at=MAX_SAFE_INTEGER)]
    assert len(compact(stream)) == 2


def test_a_delta_without_an_id_stays_as_it_is() -> None:
    assert compact([call("{", call_id="")])[0]["type"] == "chunk"


RUN = {"type": "text-chunks", "time0": TIME, "index": 0, "dt": [1], "texts": ["a", "b"]}


@pytest.mark.rule("LOG-4")
@pytest.mark.parametrize(
    "record",
    [
        {"type": "word-chunks"},
        {},
        {"type": []},
        {**RUN, "more": 1},
        {**RUN, "dt": []},
        {**RUN, "dt": [1.5]},
        {**RUN, "dt": [True]},
        {**RUN, "texts": ["a", 1]},
        {**RUN, "texts": "ab"},
        {**RUN, "time0": "now"},
        {**RUN, "index": None},
        {key: value for key, value in RUN.items() if key != "time0"},
        {"type": "chunk", "time": TIME},
        {"type": "chunk", "time": 1.5, "chunk": {}},
        {"type": "chunk", "time": TIME, "chunk": "text"},
        {"type": "tool-call-chunks", "time0": TIME, "index": 0, "dt": [], "id": 1, "args": [""]},
    ],
)
def test_a_record_without_its_exact_shape_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises(RowError):
        expand([record])
