"""Traces as the panel keeps them, and as trees that a terminal can show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from rich.text import Text
from rich.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span.

    Attributes:
        id: Its id.
        parent: The span it is part of; empty for a root.
        name: What it did.
        service: The service that did it.
        start_ns: When it began, in nanoseconds since 1970.
        end_ns: When it ended.
        failed: It ended with an error.
    """

    id: str
    parent: str
    name: str
    service: str
    start_ns: int
    end_ns: int
    failed: bool = False


def as_tree(title: str, spans: Iterable[Span]) -> Tree:
    """Return a trace as a tree: each span under its cause, by time, with when and how long.

    A span whose parent is not there stands at the top: a part of a trace is still worth seeing.
    Spans of one name that follow each other and hold nothing stand on one line.
    """
    every = sorted(spans, key=lambda span: (span.start_ns, span.end_ns))
    root = Tree(Text(title, style="bold"))
    if not every:
        root.add("no spans")
        return root
    known = {span.id for span in every}
    children: defaultdict[str, list[Span]] = defaultdict(list)
    for span in every:
        children[span.parent if span.parent in known and span.parent != span.id else ""].append(
            span
        )
    began = every[0].start_ns
    todo = [(root, run) for run in reversed(_runs(children[""], children))]
    while todo:
        above, run = todo.pop()
        here = above.add(_line(run, began))
        todo += [(here, below) for below in reversed(_runs(children[run[0].id], children))]
    return root


def _runs(siblings: list[Span], children: Mapping[str, list[Span]]) -> list[list[Span]]:
    """Return siblings in runs that can stand on one line."""

    def kind(span: Span) -> tuple[str, ...]:
        own = (span.id,) if children.get(span.id) or span.failed else ()
        return (span.name, span.service, *own)

    return [list(run) for _, run in groupby(siblings, kind)]


def _line(run: list[Span], began: int) -> Text:
    first = run[0]
    line = Text()
    line.append(f"{(first.start_ns - began) / 1e6:8.1f} ms ", style="dim")
    line.append(first.name, style="bold red" if first.failed else "")
    if len(run) > 1:
        line.append(f" ×{len(run)}")
    line.append(f"  {first.service}", style="cyan")
    took = sum(span.end_ns - span.start_ns for span in run) / 1e6
    line.append(f"  {took:.1f} ms", style="green")
    return line
