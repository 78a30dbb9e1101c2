"""The session's directory, and what is inside it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from remit.harness.tools.errors import InvalidArgumentsError, OutsideWorkspaceError


@dataclass(frozen=True, slots=True)
class Workspace:
    """A directory that tools may change, and nothing beside it.

    Attributes:
        root: The directory, with its symbolic links followed.
    """

    root: Path

    @classmethod
    def at(cls, path: Path) -> Workspace:
        """The workspace at a path."""
        return cls(Path(os.path.realpath(path)))

    def locate(self, path: str) -> Path:
        """Where a path of a tool call leads, symbolic links followed; a relative one starts here.

        Raises:
            InvalidArgumentsError: It cannot be a path.
        """
        try:
            return Path(os.path.realpath(self.root / path))
        except ValueError:
            # A NUL, or a character that no file name can hold.
            raise InvalidArgumentsError(f"{path!r} is not a path") from None

    def locate_writable(self, path: str) -> Path:
        """The same, for something that is to be changed.

        Raises:
            OutsideWorkspaceError: It leads out of the workspace, itself or over a symbolic link.
        """
        target = self.locate(path)
        if not target.is_relative_to(self.root):
            raise OutsideWorkspaceError(path, str(self.root))
        return target

    def show(self, path: Path) -> str:
        """A path as the model should see it: relative inside the workspace."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)
