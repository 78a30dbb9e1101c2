from __future__ import annotations

import io

from rich.console import Console

from remit.cli.traces import Span, as_tree


def span(
    id: str, parent: str = "", *, start: int = 0, name: str = "", failed: bool = False
) -> Span:
    ns = start * 1_000_000
    return Span(
        id=id,
        parent=parent,
        name=name or id,
        service="remit-ticket",
        start_ns=ns,
        end_ns=ns + 2_000_000,
        failed=failed,
    )


def shown(*spans: Span) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=120).print(as_tree("trace 1", spans))
    return [line.rstrip() for line in out.getvalue().splitlines()]


def test_a_trace_is_a_tree_by_time_with_durations() -> None:
    lines = shown(span("b", "root", start=5), span("a", "root", start=1), span("root"))
    assert [line.split()[-4] for line in lines[1:]] == ["root", "a", "b"]
    assert "1.0 ms a  remit-ticket  2.0 ms" in lines[2]
    assert lines[2].startswith("    ├──")


def test_a_span_without_its_parent_is_still_shown() -> None:
    assert any("orphan" in line for line in shown(span("root"), span("orphan", "lost", start=1)))


def test_spans_of_one_name_that_follow_each_other_stand_on_one_line() -> None:
    lines = shown(span("root"), *(span(str(n), "root", start=n, name="note") for n in (1, 2, 3)))
    assert len(lines) == 3
    assert "note ×3  remit-ticket  6.0 ms" in lines[2]


def test_a_span_that_failed_or_holds_others_keeps_its_own_line() -> None:
    lines = shown(
        span("root"),
        span("1", "root", start=1, name="note"),
        span("2", "root", start=2, name="note", failed=True),
        span("3", "root", start=3, name="note"),
        span("below", "3", start=4),
    )
    assert len([line for line in lines if "note" in line]) == 3


def test_a_trace_without_spans_says_so() -> None:
    assert shown()[1].endswith("no spans")
