"""`remit ask`."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from remit.bus.clock import SystemClock
from remit.cli.commands.shared import DEFAULT_DATA, Data, folder_at, run
from remit.cli.connection import panel_of
from remit.cli.conversation import Ending, ask
from remit.cli.layout import DataFolder


def command(
    text: Annotated[str, typer.Argument(help="What to say.")],
    conversation: Annotated[
        str | None, typer.Option(help="The conversation to go on with; a new one unless given.")
    ] = None,
    patience: Annotated[float, typer.Option(help="Seconds to follow the answer.", min=0)] = 600.0,
    data: Data = DEFAULT_DATA,
) -> None:
    """Say something to the agent in the console, and follow the answer."""
    name = conversation or f"cli-{secrets.token_hex(4)}"
    ending, why = run(_ask(folder_at(data), name, text, patience))
    if ending is not Ending.ANSWERED:
        typer.echo(f"{ending.value}{f': {why}' if why else ''}", err=True)
    typer.echo(f"go on with: remit ask --conversation {name} ...", err=True)
    raise typer.Exit(0 if ending is Ending.ANSWERED else 1)


async def _ask(
    folder: DataFolder, conversation: str, text: str, patience: float
) -> tuple[Ending, str]:
    async with panel_of(folder) as panel:
        return await ask(
            panel,
            conversation,
            text,
            clock=SystemClock(),
            patience=patience,
            hear=lambda author, said: typer.echo(f"{author}: {said}"),
        )
