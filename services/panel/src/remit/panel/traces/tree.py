"""A trace as a tree: which span was part of which, and when."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from remit.domain.model import Model
from remit.panel.traces.span import Span, time_of

DEEPEST = 48
"""How deep a tree goes; spans below hang on the last level, so that no trace is too deep to show."""

_MS = 1e6


class Node(Model):
    """A span with what is part of it.

    Attributes:
        span: The span.
        offset_ms: Milliseconds from the start of the trace to its own.
        duration_ms: How long it took, in milliseconds.
        orphan: Its parent was not received: it may come yet, or was let go of.
        children: What is part of it, in time order.
    """

    span: Span
    offset_ms: float
    duration_ms: float
    orphan: bool = False
    children: tuple[Node, ...] = ()


class Tree(Model):
    """A trace.

    Attributes:
        trace_id: Its id.
        started_at: When its first span began.
        duration_ms: Milliseconds from there to the end of its last span.
        spans: How many spans it has.
        services: Who took part, in the order of their first spans.
        roots: The spans that are part of no other, in time order.
    """

    trace_id: str
    started_at: datetime
    duration_ms: float
    spans: int
    services: tuple[str, ...]
    roots: tuple[Node, ...]


def tree(spans: Iterable[Span]) -> Tree | None:
    """Put the spans of one trace together; None where there are none.

    A span whose parent is missing becomes a root, and so does one of a circle of parents, so
    every span is in the tree once, whatever was received.
    """
    known = {span.span_id: span for span in spans}
    if not known:
        return None
    ordered = sorted(known.values(), key=lambda span: (span.start_ns, span.span_id))
    children: defaultdict[str, list[Span]] = defaultdict(list)
    roots: list[Span] = []
    for span in ordered:
        if span.parent_id in known and span.parent_id != span.span_id:
            children[span.parent_id].append(span)
        else:
            roots.append(span)
    roots.extend(_in_circles(ordered, roots, children))
    start = ordered[0].start_ns
    end = max(span.end_ns for span in ordered)
    placed: set[str] = set()
    return Tree(
        trace_id=ordered[0].trace_id,
        started_at=time_of(start),
        duration_ms=(end - start) / _MS,
        spans=len(known),
        services=tuple(dict.fromkeys(span.service for span in ordered if span.service)),
        roots=tuple(_node(root, children, start, 0, placed) for root in roots),
    )


def rows(nodes: Sequence[Node], depth: int = 0) -> Iterator[tuple[int, Node]]:
    """Yield every node with its depth, a parent before its children."""
    for node in nodes:
        yield depth, node
        yield from rows(node.children, depth + 1)


def _in_circles(
    ordered: Sequence[Span], roots: Sequence[Span], children: dict[str, list[Span]]
) -> list[Span]:
    """One span of each circle of parents: nothing else leads to them."""
    reached: set[str] = set()
    entries: list[Span] = []

    def reach(first: Span) -> None:
        waiting = [first]
        while waiting:
            span = waiting.pop()
            if span.span_id not in reached:
                reached.add(span.span_id)
                waiting.extend(children.get(span.span_id, ()))

    for root in roots:
        reach(root)
    for span in ordered:
        if span.span_id not in reached:
            entries.append(span)
            reach(span)
    return entries


def _node(
    span: Span, children: dict[str, list[Span]], start: int, depth: int, placed: set[str]
) -> Node:
    placed.add(span.span_id)
    below = [child for child in children.get(span.span_id, ()) if child.span_id not in placed]
    if depth + 1 >= DEEPEST:
        below = _all_below(below, children, placed)
        nodes = tuple(_leaf(child, start) for child in below)
    else:
        nodes = tuple(_node(child, children, start, depth + 1, placed) for child in below)
    return _leaf(span, start, orphan=depth == 0 and span.parent_id is not None).model_copy(
        update={"children": nodes}
    )


def _leaf(span: Span, start: int, *, orphan: bool = False) -> Node:
    return Node(
        span=span,
        offset_ms=(span.start_ns - start) / _MS,
        duration_ms=(span.end_ns - span.start_ns) / _MS,
        orphan=orphan,
    )


def _all_below(
    first: Iterable[Span], children: dict[str, list[Span]], placed: set[str]
) -> list[Span]:
    found: list[Span] = []
    waiting = list(first)[::-1]
    while waiting:
        span = waiting.pop()
        if span.span_id in placed:
            continue
        placed.add(span.span_id)
        found.append(span)
        waiting.extend(reversed(children.get(span.span_id, ())))
    return found
