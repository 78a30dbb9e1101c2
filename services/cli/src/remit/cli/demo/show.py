"""How the demo looks on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.text import Text

from remit.cli.demo import story
from remit.cli.demo.verify import Check, Evidence
from remit.cli.layout import DataFolder
from remit.cli.traces import as_tree

_PARTS = {
    story.PERSON: "magenta",
    story.STRANGER: "magenta",
    "source": "cyan",
    "ticket": "blue",
    "eval": "yellow",
    "executor": "green",
    "channel": "cyan",
    "demo": "bold red",
}


def hop(after: timedelta, part: str, what: str) -> Text:
    """Return one step of the way as a line."""
    line = Text()
    line.append(f"{after.total_seconds() * 1000:8.0f} ms  ", style="dim")
    line.append(f"{part:<9} ", style=_PARTS.get(part, ""))
    line.append(" ".join(what.split()))
    return line


def result(evidence: Evidence, folder: DataFolder, panel_link: str) -> Iterator[RenderableType]:
    """Yield what came of it: the commits, the pull request, the replies, the Ticket, the trace."""
    yield ""
    ticket = evidence.ticket
    if ticket is not None:
        directory = folder.tickets / ticket.id / "work"
        yield _part(f"git log in {directory}", evidence.commits)
    for pull in evidence.pull_requests:
        commits = [f"  {subject}" for subject in pull.commits]
        yield _part(
            f"pull request #{pull.number} by {pull.author}, {pull.state}",
            [pull.title, *commits, pull.url],
        )
    yield _part(
        f"issue #1 on {story.FULL_NAME}",
        [f"{one.author}: {one.body}" for one in evidence.comments],
    )
    if ticket is not None:
        stage = ticket.stage.value if ticket.stage else ticket.status.value
        yield _part(
            f"Ticket {ticket.id}",
            [
                f"{ticket.title}",
                f"stage {stage}, {ticket.inputs} Inputs, {ticket.writes} Channel writes",
                f"Mandate: {ticket.mandate.scope}",
            ],
        )
    yield _part(
        "Dispositions",
        [
            f"{trigger.actor.name}: {one.kind} ({one.reason})"
            + (f" → {', '.join(one.tickets)}" if one.tickets else "")
            for trigger in evidence.triggers
            for one in evidence.dispositions.get(trigger.id, ())
        ],
    )
    if evidence.trace_id:
        yield as_tree(f"trace {evidence.trace_id}", evidence.trace)
    yield Text(f"\npanel  {panel_link}")


def verdict(found: Sequence[Check]) -> RenderableType:
    """Return every promise, and whether it holds."""
    lines = [_line(check) for check in found]
    broken = sum(1 for check in found if not check.holds)
    title = f"{broken} of {len(found)} are not true" if broken else "all of it is true"
    return Panel(Group(*lines), title=title, border_style="red" if broken else "green")


def _line(check: Check) -> Text:
    line = Text()
    line.append("✓ " if check.holds else "✗ ", style="green" if check.holds else "bold red")
    line.append(check.promise)
    if not check.holds:
        line.append(f": {check.missing}", style="red")
    return line


def _part(title: str, lines: Sequence[str]) -> RenderableType:
    body = [Text(f"  {' '.join(line.split())}" if line else "") for line in lines or ("nothing",)]
    return Group(Text(title, style="bold"), *body, "")
