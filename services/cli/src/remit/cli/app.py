"""The `remit` command."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from remit.cli.commands import admin, ask, demo, dev, policy, show, up

app = typer.Typer(
    name="remit",
    help="An automated teammate that stays within its remit.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(name="up")(up.command)
app.command(name="demo")(demo.command)
app.command(name="ask")(ask.command)
app.command(name="status")(show.status)
app.add_typer(show.trigger_app, name="trigger")
app.add_typer(show.ticket_app, name="ticket")
app.add_typer(policy.app, name="policy")
app.add_typer(admin.app, name="admin")
app.add_typer(dev.app, name="dev")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"remit {version('remit-cli')}")
        raise typer.Exit


@app.callback()
def _remit(
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Options that stand before any command."""
