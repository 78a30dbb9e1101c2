"""What the import contracts cannot say: an allowed list instead of a forbidden one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from support.imports import ROOT, files_of, imported


@pytest.mark.parametrize("path", files_of("libs/domain"), ids=lambda path: path.stem)
def test_the_domain_imports_only_the_standard_library_and_pydantic(path: Path) -> None:
    for name in imported(path):
        first = name.split(".")[0]
        allowed = first in sys.stdlib_module_names or first == "pydantic"
        assert allowed or name.startswith("remit.domain"), f"{path.name} imports {name}"


def test_every_room_of_the_house_is_a_portion_of_the_namespace() -> None:
    """An ``__init__.py`` in ``remit`` would hide every other distribution."""
    assert list(ROOT.glob("*/*/src/remit/__init__.py")) == []


def test_no_connector_imports_another() -> None:
    base = ROOT / "libs/connectors/src/remit/connectors"
    kinds = {path.parent.name for path in base.glob("*/connector.py")}
    for kind in sorted(kinds):
        for path in sorted((base / kind).rglob("*.py")):
            others = {
                name
                for name in imported(path)
                if name.startswith("remit.connectors.") and name.split(".")[2] in kinds - {kind}
            }
            assert others == set(), f"{path} imports {others}"
