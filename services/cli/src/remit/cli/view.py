"""What `remit up` shows: a live table on a terminal, one line for each change elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from remit.cli.supervisor import State, Status

_STYLES = {
    State.STARTING: "yellow",
    State.SERVING: "yellow",
    State.READY: "green",
    State.DIED: "bold red",
    State.STOPPING: "yellow",
    State.STOPPED: "dim",
}


class View(Protocol):
    """Shows what runs, from entering to leaving its context."""

    def __enter__(self) -> Self:
        """Begin to show."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Show no more."""
        ...

    def change(self, status: Status) -> None:
        """A program changed."""
        ...

    def say(self, text: str) -> None:
        """Tell a person something that stays on the screen."""
        ...

    def line(self, name: str, line: bytes) -> None:
        """A program said a line."""
        ...


def view_for(console: Console, *, verbose: bool) -> View:
    """Return the view that fits: a table where it can be redrawn, else lines."""
    if console.is_terminal and not verbose:
        return LiveView(console)
    return LineView(_printer(console), verbose=verbose)


def _printer(console: Console) -> Callable[[str], None]:
    return lambda text: console.print(text, highlight=False, markup=False, soft_wrap=True)


class LineView:
    """One line for each change.

    Args:
        show: Shows a line.
        verbose: Also show every line that a program says.
    """

    def __init__(self, show: Callable[[str], None], *, verbose: bool = False) -> None:
        self._show = show
        self._verbose = verbose
        self._shown: dict[str, str] = {}

    def __enter__(self) -> Self:
        """Nothing has to be prepared."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Nothing has to be undone."""

    def change(self, status: Status) -> None:
        """Show a change in a line, if people can see that it is one."""
        line = line_of(status)
        if self._shown.get(status.name) != line:
            self._shown[status.name] = line
            self._show(line)

    def say(self, text: str) -> None:
        """Show a text."""
        self._show(text)

    def line(self, name: str, line: bytes) -> None:
        """Show what a program said, where that is wanted."""
        if self._verbose:
            self._show(f"{name:<9} | {line.decode(errors='replace').rstrip()}")


class LiveView:
    """A table that is drawn again with each change.

    Args:
        console: Where it is drawn.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: dict[str, Status] = {}
        self._live = Live(console=console, auto_refresh=False)

    def __enter__(self) -> Self:
        """Begin to draw."""
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the last table on the screen."""
        self._live.stop()

    def change(self, status: Status) -> None:
        """Draw the table anew."""
        self._status[status.name] = status
        self._live.update(table_of(self._status), refresh=True)

    def say(self, text: str) -> None:
        """Show a text above the table."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def line(self, name: str, line: bytes) -> None:
        """Lines go to the logs only."""


def line_of(status: Status) -> str:
    """Say in a line where a program stands."""
    parts = [f"{status.name:<9} {status.state.value:<8}"]
    if status.state in (State.SERVING, State.READY) and status.port is not None:
        parts.append(f"port {status.port}")
    if status.starts > 1:
        parts.append(f"start {status.starts}")
    if status.detail:
        parts.append(status.detail)
    return "  ".join(parts)


def table_of(statuses: dict[str, Status]) -> RenderableType:
    """Return the table of all programs."""
    table = Table(box=None, pad_edge=False, show_header=True, header_style="dim")
    for column in ("part", "state", "port", "restarts", ""):
        table.add_column(column)
    for status in statuses.values():
        table.add_row(
            status.name,
            Text(status.state.value, style=_STYLES[status.state]),
            str(status.port or ""),
            str(status.starts - 1) if status.starts > 1 else "",
            Text(status.detail, style="dim", overflow="ellipsis", no_wrap=True),
        )
    return Group("", table)
