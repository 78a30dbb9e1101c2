from __future__ import annotations

import io

from rich.console import Console

from remit.cli.supervisor import State, Status
from remit.cli.view import LineView, LiveView, line_of, view_for


def status(state: State, **more: object) -> Status:
    return Status(name="source", state=state, **more)  # type: ignore[arg-type]


def test_a_line_says_where_a_program_stands() -> None:
    assert line_of(status(State.READY, port=8123, starts=1)).split() == [
        "source",
        "ready",
        "port",
        "8123",
    ]


def test_a_line_says_how_a_program_died_and_how_often_it_was_started() -> None:
    said = line_of(status(State.DIED, starts=2, detail="ended by signal 9"))
    assert "died" in said
    assert "start 2" in said
    assert said.endswith("ended by signal 9")


def test_where_nobody_can_see_a_table_there_are_lines() -> None:
    out = io.StringIO()
    view = view_for(Console(file=out), verbose=False)
    with view:
        view.change(status(State.STARTING))
        view.line("source", b'{"event": "serving"}\n')
        view.say("panel: http://127.0.0.1:1/?token=[x]")
    assert out.getvalue().splitlines()[1:] == ["panel: http://127.0.0.1:1/?token=[x]"]


def test_lines_of_programs_are_shown_only_where_they_are_wanted() -> None:
    shown: list[str] = []
    LineView(shown.append, verbose=True).line("source", b"hello \xff\n")
    LineView(shown.append).line("source", b"hidden\n")
    assert shown == ["source    | hello \ufffd"]


def test_a_terminal_gets_a_table_with_every_program() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=80)
    view = view_for(console, verbose=False)
    assert isinstance(view, LiveView)
    with view:
        view.change(status(State.READY, port=8123, starts=3))
    assert "8123" in out.getvalue()
    assert "ready" in out.getvalue()


def test_a_change_that_nobody_could_see_has_no_line() -> None:
    shown: list[str] = []
    view = LineView(shown.append)
    for pid in (None, 12):
        view.change(status(State.STARTING, pid=pid, starts=1))
    view.change(status(State.READY, starts=1))
    view.change(status(State.STARTING, starts=2))
    assert len(shown) == 3
