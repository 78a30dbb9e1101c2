"""YAML or JSON with the line of everything, so that an error can say where it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from remit.harness.models.scripted.errors import ScriptError


@dataclass(frozen=True, slots=True)
class Place:
    """A value of the file and the line it begins at.

    Attributes:
        path: The file.
        line: The line, counted from 1.
        value: A scalar, a list of places, or a dict of places by key.
    """

    path: Path
    line: int
    value: Any

    def error(self, problem: str) -> ScriptError:
        """An error at this place."""
        return ScriptError(self.path, self.line, problem)

    def mapping(self, what: str, allowed: frozenset[str]) -> dict[str, Place]:
        """The value as a mapping that has no keys but the allowed ones.

        Raises:
            ScriptError: It is no such mapping.
        """
        if not isinstance(self.value, dict):
            raise self.error(f"{what} must be a mapping")
        for key, item in self.value.items():
            if key not in allowed:
                known = ", ".join(sorted(allowed))
                raise item.error(f"{what} has no {key!r}; it may have {known}")
        return self.value

    def items(self, what: str) -> list[Place]:
        """The value as a list with something in it.

        Raises:
            ScriptError: It is no such list.
        """
        if not isinstance(self.value, list) or not self.value:
            raise self.error(f"{what} must be a list with something in it")
        return self.value

    def text(self, what: str) -> str:
        """The value as text.

        Raises:
            ScriptError: It is none.
        """
        if not isinstance(self.value, str):
            raise self.error(f"{what} must be text")
        return self.value

    def number(self, what: str) -> float:
        """The value as a number that is not negative.

        Raises:
            ScriptError: It is none.
        """
        if isinstance(self.value, bool) or not isinstance(self.value, int | float):
            raise self.error(f"{what} must be a number")
        if self.value < 0:
            raise self.error(f"{what} must not be negative")
        return float(self.value)

    def plain(self) -> Any:
        """The value without its places."""
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        if isinstance(self.value, list):
            return [item.plain() for item in self.value]
        return self.value


def read_places(path: Path) -> Place:
    """Read a YAML or JSON file.

    Raises:
        ScriptError: It cannot be read, or it is neither.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ScriptError(path, 1, f"it cannot be read: {error}") from error
    if path.suffix == ".json":
        # YAML reads JSON, except that it does not take tabs between tokens.
        text = text.replace("\t", " ")
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if node is None:
            raise ScriptError(path, 1, "it is empty")
        return _place(path, node, yaml.SafeLoader(""))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ScriptError(path, line, error.problem or "it is not YAML") from error
    except yaml.YAMLError as error:
        raise ScriptError(path, 1, f"it is not YAML: {error}") from error


def _place(path: Path, node: yaml.Node, loader: yaml.SafeLoader) -> Place:
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Place] = {}
        for key_node, value_node in node.value:
            key = loader.construct_object(key_node)
            if not isinstance(key, str):
                raise ScriptError(path, key_node.start_mark.line + 1, "a key must be text")
            if key in found:
                raise ScriptError(path, key_node.start_mark.line + 1, f"{key!r} stands here twice")
            found[key] = _place(path, value_node, loader)
        return Place(path, line, found)
    if isinstance(node, yaml.SequenceNode):
        return Place(path, line, [_place(path, item, loader) for item in node.value])
    return Place(path, line, loader.construct_object(node))
