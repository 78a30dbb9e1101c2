"""What several commands have in common: their options, and how they fail."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from pydantic import ValidationError

from remit.bus.errors import BusError
from remit.cli.connection import NothingRuns, TokenMissing
from remit.cli.embedded import DataFolderBusy, ServerFailed
from remit.cli.fleet import ServiceMissing
from remit.cli.layout import DEFAULT, DataFolder, DataFolderInvalid
from remit.cli.panel_client import PanelProblem
from remit.cli.policy_apply import PolicyOvertaken
from remit.cli.policy_file import PolicyFileInvalid

T = TypeVar("T")

Data = Annotated[
    Path, typer.Option("--data", help="The data folder.", envvar="REMIT_DATA", show_default=True)
]
DEFAULT_DATA = DEFAULT

EXPECTED = (
    BusError,
    DataFolderBusy,
    DataFolderInvalid,
    NothingRuns,
    PanelProblem,
    PolicyFileInvalid,
    PolicyOvertaken,
    ServerFailed,
    ServiceMissing,
    TokenMissing,
)
"""What can go wrong and says itself what to do; anything else is a fault of ours, with its trace."""


def fail(problem: object) -> NoReturn:
    """Say what is wrong, on the error output, and end with status 1."""
    typer.echo(str(problem), err=True)
    raise typer.Exit(1)


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do asynchronous work; an expected problem ends the command with its words."""
    try:
        return asyncio.run(work)
    except EXPECTED as problem:
        fail(problem)
    except ValidationError as problem:
        first = problem.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        fail(f"setting REMIT_{place.upper()}: {first['msg']}")


def folder_at(path: Path) -> DataFolder:
    """Return the data folder at ``path``."""
    return DataFolder(path)
