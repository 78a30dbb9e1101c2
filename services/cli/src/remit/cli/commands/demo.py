"""`remit demo`."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from remit.cli.commands.shared import fail, folder_at, run
from remit.cli.demo.hops import Stage
from remit.cli.demo.run import Demo, DemoOptions, Mishap
from remit.cli.fleet import SERVICES

_FILE_WIDTH = 200


def command(
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Where its data is kept; a temporary folder unless given."),
    ] = None,
    once: Annotated[
        bool, typer.Option("--once", help="End when everything is checked: 0 if all of it is true.")
    ] = False,
    kill: Annotated[
        list[str] | None,
        typer.Option(help="Kill a service at a stage: SERVICE@STAGE. May stand several times."),
    ] = None,
    flush_valkey: Annotated[
        list[str] | None, typer.Option(help="Empty Valkey at a stage. May stand several times.")
    ] = None,
    limit: Annotated[
        float, typer.Option(help="Seconds until the story must have come to its end.", min=1)
    ] = 120.0,
) -> None:
    """Show a comment on a local GitHub become a pull request, and check all of it."""
    mishaps = [*map(_killing, kill or []), *(Mishap(_stage(one)) for one in flush_valkey or [])]
    console = Console()
    if not console.is_terminal:
        # Nobody wraps what goes to a file.
        console = Console(width=_FILE_WIDTH)
    with ExitStack() as stack:
        if data is None:
            made = stack.enter_context(tempfile.TemporaryDirectory(prefix="remit-demo-"))
            data = Path(made)
        elif data.exists() and any(data.iterdir()):
            fail(f"{data} is not empty: the demo starts with a folder of its own")
        options = DemoOptions(folder=folder_at(data), once=once, mishaps=mishaps, limit=limit)
        status = run(_play(options, console))
    raise typer.Exit(status)


async def _play(options: DemoOptions, console: Console) -> int:
    return await Demo(options, console).run()


def _killing(text: str) -> Mishap:
    service, _, stage = text.partition("@")
    if service not in SERVICES:
        fail(f"--kill {text}: there is no service {service!r}; there are {', '.join(SERVICES)}")
    return Mishap(_stage(stage or Stage.ACCEPTED), service)


def _stage(text: str) -> Stage:
    if text not in list(Stage):
        fail(f"there is no stage {text!r}; there are {', '.join(Stage)}")
    return Stage(text)
