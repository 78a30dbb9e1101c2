"""A trace as a tree."""

from __future__ import annotations

import random

import pytest

from remit.panel.traces.span import Span
from remit.panel.traces.tree import DEEPEST, rows, tree

TRACE = "a" * 32


def span(id: int, parent: int | None = None, start: float = 0, took: float = 1, service="s"):
    return Span(
        trace_id=TRACE,
        span_id=f"{id:016x}",
        parent_id=None if parent is None else f"{parent:016x}",
        name=f"span {id}",
        service=service,
        start_ns=10**18 + int(start * 1e6),
        end_ns=10**18 + int((start + took) * 1e6),
    )


def shape(spans) -> list[tuple[int, str]]:
    found = tree(spans)
    assert found is not None
    return [(depth, node.span.name) for depth, node in rows(found.roots)]


def test_nothing_makes_no_tree():
    assert tree([]) is None


def test_spans_hang_on_their_parents_in_time_order_whatever_order_they_come_in():
    spans = [span(1), span(2, 1, 5), span(3, 1, 2), span(4, 3, 3), span(5, 1, 2)]
    wanted = [(0, "span 1"), (1, "span 3"), (2, "span 4"), (1, "span 5"), (1, "span 2")]
    assert shape(spans) == wanted
    random.Random(7).shuffle(spans)
    assert shape(spans) == wanted


def test_durations_and_offsets_are_measured_from_the_start_of_the_trace():
    found = tree([span(1, start=10, took=4), span(2, 1, start=12, took=30.5)])
    assert found is not None
    (root,) = found.roots
    (child,) = root.children
    assert (root.offset_ms, root.duration_ms) == (0, 4)
    assert (child.offset_ms, child.duration_ms) == (2, 30.5)
    assert found.duration_ms == 32.5
    assert found.spans == 2


def test_a_span_whose_parent_was_not_received_is_a_root_and_says_so():
    found = tree([span(1), span(2, 99, 1)])
    assert found is not None
    assert [(node.span.name, node.orphan) for node in found.roots] == [
        ("span 1", False),
        ("span 2", True),
    ]


def test_a_span_that_was_received_twice_is_shown_once():
    assert shape([span(1), span(1), span(2, 1)]) == [(0, "span 1"), (1, "span 2")]


@pytest.mark.parametrize(
    "spans",
    [[span(1, 1)], [span(1, 2), span(2, 1)], [span(1, 3), span(2, 1), span(3, 2), span(4, 3)]],
    ids=["its own parent", "two in a circle", "a tail on a circle"],
)
def test_a_circle_of_parents_loses_no_span(spans):
    names = [name for _, name in shape(spans)]
    assert sorted(names) == sorted(one.name for one in spans)


def test_a_trace_deeper_than_can_be_shown_loses_no_span_and_ends_at_the_last_level():
    spans = [span(n, n - 1 if n else None, n) for n in range(5000)]
    found = shape(spans)
    assert len(found) == 5000
    assert max(depth for depth, _ in found) == DEEPEST


def test_services_are_listed_in_the_order_of_their_first_spans():
    found = tree([span(1, service="b"), span(2, 1, 2, service="a"), span(3, 1, 1, service="b")])
    assert found is not None
    assert found.services == ("b", "a")
