"""What the import contracts cannot say: an allowed list instead of a forbidden one."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def imported(path: Path) -> Iterator[str]:
    """Yield every module that a file names in an import, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: import by the full name"
            if node.module == "remit":
                yield from (f"remit.{alias.name}" for alias in node.names)
            else:
                yield node.module


def modules_of(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted(ROOT.glob(f"{folder}/src/**/*.py"))]


@pytest.mark.parametrize("path", modules_of("libs/domain"), ids=lambda path: path.stem)
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
