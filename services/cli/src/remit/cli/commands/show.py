"""`remit trigger show`, `remit ticket show` and `remit status`: what the panel knows, as text."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console

from remit.cli import tell
from remit.cli.commands.shared import DEFAULT_DATA, Data, folder_at, run
from remit.cli.connection import panel_of
from remit.cli.layout import DataFolder

trigger_app = typer.Typer(help="Triggers.", no_args_is_help=True)
ticket_app = typer.Typer(help="Tickets.", no_args_is_help=True)


@trigger_app.callback()
@ticket_app.callback()
def _group() -> None:
    """Keep `show` a word of its own, although it is the only one."""


@trigger_app.command(name="show")
def show_trigger(
    id: Annotated[str, typer.Argument(help="The Trigger's id.")],
    data: Data = DEFAULT_DATA,
) -> None:
    """Show what became of a Trigger, and why."""
    answer = run(_ask(folder_at(data), f"triggers/{quote(id)}"))
    Console().print(tell.trigger(answer))


@ticket_app.command(name="show")
def show_ticket(
    id: Annotated[str, typer.Argument(help="The Ticket's id.")],
    data: Data = DEFAULT_DATA,
) -> None:
    """Show where a Ticket stands, and what was done for it."""
    answer = run(_ask(folder_at(data), f"tickets/{quote(id, safe='')}"))
    Console().print(tell.ticket(answer))


def status(data: Data = DEFAULT_DATA) -> None:
    """Say whether anything needs a person, and how the system does."""
    Console().print(tell.overview(run(_ask(folder_at(data), "overview"))))


async def _ask(folder: DataFolder, path: str) -> Any:
    async with panel_of(folder) as panel:
        return await panel.get(path)
