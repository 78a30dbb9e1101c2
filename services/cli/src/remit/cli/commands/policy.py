"""`remit policy`: look at Policies and put them in force."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import Annotated

import typer

from remit.bus.clock import SystemClock
from remit.cli.commands.shared import DEFAULT_DATA, Data, fail, folder_at, run
from remit.cli.connection import bus_of, settings_for
from remit.cli.layout import DataFolder
from remit.cli.policy_apply import Applied, apply_policy, policy_in_force
from remit.cli.policy_file import PolicyFile, PolicyFileInvalid, read_policy
from remit.domain.messages import PolicyInForce

app = typer.Typer(help="Look at Policies and put them in force.", no_args_is_help=True)

File = Annotated[Path, typer.Argument(help="The Policy document.")]


@app.command()
def check(file: File) -> None:
    """Say what is wrong with a Policy document, or which version it is."""
    policy = _read(file).policy
    typer.echo(
        f"{policy.version}: accept {policy.accept.value}, {len(policy.rules)} rules, "
        f"{len(policy.sources)} Sources"
    )


@app.command()
def apply(
    file: File,
    data: Data = DEFAULT_DATA,
    by: Annotated[str | None, typer.Option(help="Who puts it in force, for the record.")] = None,
) -> None:
    """Put a Policy document in force. A broken one is refused; what was in force stays."""
    policy = _read(file)
    applied = run(_apply(folder_at(data), policy, by or getpass.getuser()))
    typer.echo(f"{applied.version} is in force" + ("" if applied.changed else " already"))


@app.command()
def show(data: Data = DEFAULT_DATA) -> None:
    """Show the Policy in force, as it was written."""
    current = run(_current(folder_at(data)))
    if current is None:
        fail(
            "no Policy was put in force yet, so nobody may start anything: remit policy apply FILE"
        )
    when = current.applied_at.isoformat(timespec="seconds")
    typer.echo(f"# {current.policy.version}, in force since {when}, by {current.applied_by}")
    typer.echo(current.text, nl=not current.text.endswith("\n"))


def _read(file: Path) -> PolicyFile:
    try:
        return read_policy(file)
    except PolicyFileInvalid as problem:
        fail(problem)


async def _apply(folder: DataFolder, file: PolicyFile, by: str) -> Applied:
    async with bus_of(settings_for(folder)) as bus:
        return await apply_policy(bus, file, by=by, clock=SystemClock())


async def _current(folder: DataFolder) -> PolicyInForce | None:
    async with bus_of(settings_for(folder)) as bus:
        return (await policy_in_force(bus))[0]
