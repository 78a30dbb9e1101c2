"""Policy documents: YAML that people write, read whole or refused with the line (POL-7).

::

    accept: auto
    rules:
      - id: change-on-request
        text: Somebody who may asks for a change to the code.
        scope: A change on a branch, proposed as a pull request.
    sources:
      github:
        allowed: ["583231"]

Numbers and words such as ``off`` stay the text that was written, so that an id is exactly what the
provider gives. Only ``true``, ``false`` and ``null`` mean something else than themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from remit.domain.ids import SourceName
from remit.domain.policy import AdmissionRow, AssessmentRule, Policy, SourcePart

LARGEST = 1024 * 1024
"""Bytes of a document, at most: more is no list of rules that people keep."""

_WORDS: Mapping[str, object] = {"true": True, "false": False, "null": None, "~": None, "": None}

Place = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a document.

    Attributes:
        line: The line, counted from 1.
        place: The setting, as a dotted path; empty where the whole is meant.
        reason: What is wrong, and what to write instead.
    """

    line: int
    place: str
    reason: str


class PolicyFileInvalid(Exception):
    """A Policy document is refused; the version in force stays.

    Attributes:
        path: The file.
        problems: All that is wrong with it, at least one.
    """

    def __init__(self, path: Path, problems: tuple[Problem, ...]) -> None:
        lines = [
            f"{path}:{one.line}: {one.place + ': ' if one.place else ''}{one.reason}"
            for one in problems
        ]
        super().__init__("\n".join(lines))
        self.path = path
        self.problems = problems


class _Row(AdmissionRow, extra="forbid"):
    """A row as a document may write it: with no setting that does not exist."""


class _Part(SourcePart, extra="forbid"):
    admission: tuple[_Row, ...] = ()


class _Rule(AssessmentRule, extra="forbid"):
    pass


class _Document(Policy, extra="forbid"):
    rules: tuple[_Rule, ...] = ()
    sources: Mapping[SourceName, _Part] = {}


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A document that was read.

    Attributes:
        policy: What it says.
        text: How it says it.
    """

    policy: Policy
    text: str


def read_policy(path: Path) -> PolicyFile:
    """Return the Policy in the document at ``path``.

    Raises:
        PolicyFileInvalid: It cannot be read, or says something that no Policy can.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _refused(path, 0, f"cannot be read: {error.strerror}") from error
    if len(content) > LARGEST:
        raise _refused(path, 0, f"is larger than {LARGEST} bytes")
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n")
        raise _refused(path, line, "is not UTF-8 text here") from error
    return PolicyFile(parse_policy(text, path), text)


def parse_policy(text: str, path: Path) -> Policy:
    """Return the Policy that ``text`` says; ``path`` names it in errors.

    Raises:
        PolicyFileInvalid: It says something that no Policy can.
    """
    root = _compose(text, path)
    lines: dict[Place, int] = {}
    problems: list[Problem] = []
    data = _plain(root, (), lines, problems)
    if problems:
        raise PolicyFileInvalid(path, tuple(problems))
    if not isinstance(data, dict):
        raise _refused(path, lines[()], "needs settings by name, such as 'accept: auto'")
    try:
        document = _Document.model_validate(data)
    except ValidationError as error:
        found = tuple(_problem(dict(one), lines) for one in error.errors(include_url=False))
        raise PolicyFileInvalid(path, found) from error
    return Policy.model_validate(document.model_dump())


def _compose(text: str, path: Path) -> yaml.Node:
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line if event.start_mark else 0
                raise _refused(path, line, f"*{event.anchor}: write it out here instead")
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = f"is not YAML: {error.problem or error.context}"
        raise _refused(path, mark.line if mark else 0, reason) from error
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n")
        raise _refused(path, line, f"is not YAML: {error.reason}") from error
    except RecursionError as error:
        raise _refused(path, 0, "is nested too deeply") from error
    if root is None:
        raise _refused(path, 0, "is empty; it needs settings such as 'accept: auto'")
    return root


def _plain(
    node: yaml.Node, place: Place, lines: dict[Place, int], problems: list[Problem]
) -> object:
    """Return what a node holds, noting the line of every place in it."""
    lines.setdefault(place, node.start_mark.line)
    if isinstance(node, yaml.ScalarNode):
        plain = node.style is None
        return _WORDS.get(node.value, node.value) if plain else node.value
    if isinstance(node, yaml.SequenceNode):
        return [
            _plain(item, (*place, number), lines, problems)
            for number, item in enumerate(node.value)
        ]
    return dict(_settings(node, place, lines, problems))


def _settings(
    node: yaml.Node, place: Place, lines: dict[Place, int], problems: list[Problem]
) -> Iterator[tuple[str, object]]:
    for key, value in node.value:
        line = key.start_mark.line
        if not isinstance(key, yaml.ScalarNode):
            problems.append(Problem(line + 1, _dotted(place), "a setting's name must be a word"))
            continue
        inner = (*place, key.value)
        if inner in lines:
            earlier = lines[inner] + 1
            problems.append(Problem(line + 1, _dotted(inner), f"is on line {earlier} already"))
            continue
        lines[inner] = line
        yield key.value, _plain(value, inner, lines, problems)


def _problem(error: Mapping[str, Any], lines: Mapping[Place, int]) -> Problem:
    place: Place = tuple(error["loc"])
    known = place
    while known not in lines:
        known = known[:-1]
    reason = _reason(str(error["type"]), str(error["msg"]), place)
    return Problem(lines[known] + 1, _dotted(place), reason)


def _reason(kind: str, message: str, place: Place) -> str:
    match kind:
        case "extra_forbidden":
            return f"is no setting here; there are {', '.join(_known(place))}"
        case "missing":
            return "is missing"
        case _:
            return message.removeprefix("Value error, ").replace("Input should", "should")


def _known(place: Place) -> list[str]:
    """Return the settings that exist where ``place`` is."""
    model: type[BaseModel]
    match place:
        case ("rules", _, _):
            model = AssessmentRule
        case ("sources", _, _):
            model = SourcePart
        case ("sources", _, "admission", _, _):
            model = AdmissionRow
        case _:
            model = Policy
    return list(model.model_fields)


def _dotted(place: Place) -> str:
    return ".".join(str(part) for part in place)


def _refused(path: Path, line: int, reason: str) -> PolicyFileInvalid:
    return PolicyFileInvalid(path, (Problem(line + 1, "", reason),))
