"""What our files import, by reading them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

NAMESPACES = frozenset({"remit", "opentelemetry"})
"""Packages without a file of their own, whose parts belong to different distributions."""


def imported(path: Path) -> Iterator[str]:
    """Yield every module that a file names in an import, wherever in the file it stands."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            if node.module in NAMESPACES:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            else:
                yield node.module


def files_of(folder: str) -> list[Path]:
    """Return the modules of a distribution, such as ``libs/domain``."""
    return sorted((ROOT / folder / "src").rglob("*.py"))
