from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harness.models.sse import EventTooLargeError, ServerEvent, SseDecoder

STREAM = (
    ": hello\n\n"
    "event: first\r\ndata: one\r\ndata:  two\r\n\r\n"
    "data:three\rdata: \u2028four\r\r"
    "id: 7\nretry: 9\nnonsense\n\n"
    "event: unnamed data\n\n"
    'data: {"text": "a\u2029b é 😀"}\n\n'
    "data: no end"
).encode()
EVENTS = [
    ServerEvent("first", "one\n two"),
    ServerEvent("message", "three\n\u2028four"),
    ServerEvent("message", '{"text": "a\u2029b é 😀"}'),
]


@given(st.lists(st.integers(0, len(STREAM)), max_size=8))
def test_a_stream_reads_the_same_wherever_it_is_cut(cuts: list[int]) -> None:
    decoder = SseDecoder()
    ends = [0, *sorted(cuts), len(STREAM)]
    events: list[ServerEvent] = []
    for start, end in pairwise(ends):
        events += decoder.feed(STREAM[start:end])
    assert events == EVENTS


def test_an_endless_event_is_refused() -> None:
    decoder = SseDecoder()
    piece = b"data: " + b"x" * 1_000_000 + b"\n"
    for _ in range(16):
        assert decoder.feed(piece) == []
    with pytest.raises(EventTooLargeError):
        decoder.feed(piece)


def test_many_small_events_are_no_large_one() -> None:
    decoder = SseDecoder()
    piece = b"data: " + b"x" * 1_000_000 + b"\n\n"
    assert sum(len(decoder.feed(piece)) for _ in range(40)) == 40
