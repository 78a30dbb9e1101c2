"""What can be wrong with a script."""

from __future__ import annotations

from pathlib import Path

from remit.harness.models.port import ModelError


class ScriptError(ModelError):
    """A script cannot be read, or cannot be played here.

    Attributes:
        path: The script.
        line: The line the problem is at, counted from 1.
        problem: What is wrong.
    """

    def __init__(self, path: Path, line: int, problem: str) -> None:
        super().__init__(f"{path}, line {line}: {problem}", code="SCRIPT")
        self.path = path
        self.line = line
        self.problem = problem
