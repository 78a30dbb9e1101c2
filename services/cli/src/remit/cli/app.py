"""The `remit` command."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from remit.cli.commands import admin, demo, policy, up

app = typer.Typer(
    name="remit",
    help="An automated teammate that stays within its remit.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(name="up")(up.command)
app.command(name="demo")(demo.command)
app.add_typer(policy.app, name="policy")
app.add_typer(admin.app, name="admin")


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
