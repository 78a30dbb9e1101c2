"""Traces as the panel keeps them, and as trees that a terminal can show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

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
    todo = [(root, span) for span in reversed(children[""])]
    while todo:
        above, span = todo.pop()
        here = above.add(_line(span, began))
        todo += [(here, below) for below in reversed(children[span.id])]
    return root


def _line(span: Span, began: int) -> Text:
    line = Text()
    line.append(f"{(span.start_ns - began) / 1e6:8.1f} ms ", style="dim")
    line.append(span.name, style="bold red" if span.failed else "")
    line.append(f"  {span.service}", style="cyan")
    line.append(f"  {(span.end_ns - span.start_ns) / 1e6:.1f} ms", style="green")
    return line
