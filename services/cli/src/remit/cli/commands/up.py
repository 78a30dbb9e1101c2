"""`remit up`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from remit.cli.commands.shared import DEFAULT_DATA, Data, fail, folder_at, run
from remit.cli.deployment import Neighbours, Options
from remit.cli.up import up
from remit.cli.view import view_for
from remit.runtime.settings import ServiceSettings


def command(
    data: Data = DEFAULT_DATA,
    external: Annotated[
        bool,
        typer.Option("--external", help="Use REMIT_NATS_URL and REMIT_REDIS_URL."),
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="Where the panel listens; the port it had, unless given.")
    ] = None,
    source_port: Annotated[
        int | None, typer.Option(help="Where webhooks arrive; the port it had, unless given.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="A Policy document to put in force.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show every log line.")] = False,
    once: Annotated[
        bool, typer.Option("--once", help="Stop again as soon as everything was ready.")
    ] = False,
) -> None:
    """Run everything on this machine: bus, coordination, and every service as its own process.

    Data is kept in the data folder and survives a restart. Ctrl-C stops in order; a second one
    leaves at once.
    """
    options = Options(
        folder=folder_at(data),
        external=_neighbours() if external else None,
        panel_port=port,
        source_port=source_port,
        policy=policy,
    )
    view = view_for(Console(), verbose=verbose)
    raise typer.Exit(run(up(options, view, once=once)))


def _neighbours() -> Neighbours:
    settings = ServiceSettings()
    for name in ("nats_url", "redis_url"):
        if name not in settings.model_fields_set:
            fail(f"--external needs REMIT_{name.upper()}")
    return Neighbours(nats_url=settings.nats_url, redis_url=settings.redis_url.get_secret_value())
