"""`remit admin`: what an operator does once, and a chart's Job."""

from __future__ import annotations

import typer

from remit.bus.provisioning import apply as apply_streams
from remit.bus.provisioning import check as check_streams
from remit.bus.streams import STREAMS
from remit.cli.commands.shared import DEFAULT_DATA, Data, folder_at, run
from remit.cli.connection import bus_of, settings_for
from remit.cli.layout import DataFolder

app = typer.Typer(help="What an operator does once.", no_args_is_help=True)
streams = typer.Typer(help="The streams on the bus.", no_args_is_help=True)
app.add_typer(streams, name="streams")


@streams.command()
def apply(data: Data = DEFAULT_DATA) -> None:
    """Make what is missing and bring the rest up to date; nothing stored is lost."""
    run(_apply(folder_at(data)))
    typer.echo(f"{len(STREAMS)} streams are as they should be")


@streams.command()
def check(data: Data = DEFAULT_DATA) -> None:
    """Say whether the streams are as they should be."""
    run(_check(folder_at(data)))
    typer.echo(f"{len(STREAMS)} streams are as they should be")


async def _apply(folder: DataFolder) -> None:
    async with bus_of(settings_for(folder)) as bus:
        await apply_streams(bus)


async def _check(folder: DataFolder) -> None:
    async with bus_of(settings_for(folder)) as bus:
        await check_streams(bus)
