"""The documents that a new data folder starts with."""

from __future__ import annotations

from importlib.resources import files

from remit.cli.layout import DataFolder


def write_missing(folder: DataFolder) -> None:
    """Write each document that is not there; what a person wrote stays."""
    for path in (folder.sources, folder.policy, folder.executor):
        if not path.exists():
            path.write_text(files(__name__).joinpath(path.name).read_text())
    for name in SECRETS:
        folder.secret(name)


SECRETS = ("console-token", "panel-token")
"""Secrets that Remit makes itself; what a provider gives is put beside them by hand."""
