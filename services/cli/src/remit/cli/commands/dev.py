"""`remit dev`: local stand-ins for providers, for trying things out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from remit.cli.layout import DEFAULT
from remit.emulators.github.__main__ import main as run_github

app = typer.Typer(help="Local stand-ins for providers.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep the provider's name a word of its own."""


@app.command()
def github(
    port: Annotated[int, typer.Option(help="Where it listens; a free port unless given.")] = 0,
    data: Annotated[Path, typer.Option(help="Where its repositories and its state are kept.")] = (
        DEFAULT / "github"
    ),
) -> None:
    """Run a local GitHub: REST, signed webhooks and real git repositories."""
    data.mkdir(parents=True, exist_ok=True)
    arguments = ["--port", str(port), "--git-root", str(data / "git")]
    raise typer.Exit(run_github([*arguments, "--state", str(data / "state.json")]))
