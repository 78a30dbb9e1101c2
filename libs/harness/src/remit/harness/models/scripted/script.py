r"""A script: what the scripted model says, step by step.

```yaml
values:                       # taken afresh for each step; the newest match counts
  issue: {from: user, pattern: 'issue #(\d+)'}
  branch: {from: tool, tool: shell, pattern: 'On branch (\S+)', default: main}
turns:                        # or `steps:` alone, for one list over all prompts
  - when: '(?i)hello'         # a turn with `when` answers the prompts it matches
    steps:
      - text: Hello.
  - steps:                    # the others answer the rest in order; the last one goes on
      - text: I will look at issue {{issue}}.
        tools:
          - {name: shell, args: {command: git status}}
      - text: We are on {{branch}}, in {{cwd}}.
```

`{{cwd}}` is the session's directory and `{{user}}` the last prompt's text. A step may also have
`reasoning`, `delay` (seconds before it speaks) and `fail` (the call fails with that text).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from remit.harness.models.scripted.nodes import Place, read_places

TEMPLATE = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
"""A place in a text that a value takes."""

BUILT_IN = frozenset({"cwd", "user"})
"""The values that every script has."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Value:
    """A value that the conversation supplies.

    Attributes:
        source: Where it is looked for: in the last prompt or in tools' results.
        tool: The tool whose results are looked at; None for any.
        pattern: What is looked for. Its group named `value` counts, else its first group, else all
            of it.
        default: What is taken where nothing matches; None makes that an error.
        place: Where the script says so.
    """

    source: Literal["user", "tool"]
    tool: str | None
    pattern: re.Pattern[str]
    default: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool call; texts in its arguments may hold templates."""

    name: str
    arguments: dict[str, Any]
    place: Place


@dataclass(frozen=True, slots=True)
class Step:
    """One answer of the model.

    Attributes:
        text: What it says.
        reasoning: What it thought before.
        calls: The tools it asks for.
        delay: How long it waits before it speaks, in seconds.
        fail: Where set, the call fails with this text.
        place: Where the script says so.
    """

    text: str | None
    reasoning: str | None
    calls: tuple[ScriptedCall, ...]
    delay: float
    fail: str | None
    place: Place


@dataclass(frozen=True, slots=True)
class ScriptedTurn:
    """The answers to one prompt.

    Attributes:
        when: Which prompts it answers; None for those nothing else matches.
        steps: The answers, in order; the last one is given again if more are asked for.
    """

    when: re.Pattern[str] | None
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A whole script.

    Attributes:
        values: The values it names.
        steps: One list of answers over all prompts; empty where the script has turns.
        turns: The answers prompt by prompt.
    """

    values: dict[str, Value]
    steps: tuple[Step, ...]
    turns: tuple[ScriptedTurn, ...]


def load_script(path: Path) -> Script:
    """Read a script.

    Raises:
        ScriptError: It is not a script; the error names the file and the line.
    """
    root = read_places(path)
    top = root.mapping("a script", frozenset({"values", "steps", "turns"}))
    values = _values(top["values"]) if "values" in top else {}
    if ("steps" in top) == ("turns" in top):
        raise root.error("a script has either steps or turns")
    names = BUILT_IN | values.keys()
    if "steps" in top:
        return Script(values, _steps(top["steps"], names), ())
    turns = tuple(_turn(item, names) for item in top["turns"].items("turns"))
    if all(turn.when is not None for turn in turns):
        raise top["turns"].error("one turn must have no `when`, for the prompts nothing matches")
    return Script(values, (), turns)


def _values(place: Place) -> dict[str, Value]:
    if not isinstance(place.value, dict):
        raise place.error("values must be a mapping of names")
    return {name: _value(name, item) for name, item in place.value.items()}


def _value(name: str, place: Place) -> Value:
    what = f"the value {name!r}"
    if not _NAME.fullmatch(name) or name in BUILT_IN:
        raise place.error(f"{name!r} cannot be the name of a value")
    parts = place.mapping(what, frozenset({"from", "tool", "pattern", "default"}))
    for key in ("from", "pattern"):
        if key not in parts:
            raise place.error(f"{what} needs {key!r}")
    source = parts["from"].text("from")
    if source not in ("user", "tool"):
        raise parts["from"].error("from must be user or tool")
    if "tool" in parts and source != "tool":
        raise parts["tool"].error("tool goes with from: tool only")
    return Value(
        source="user" if source == "user" else "tool",
        tool=parts["tool"].text("tool") if "tool" in parts else None,
        pattern=_pattern(parts["pattern"]),
        default=parts["default"].text("default") if "default" in parts else None,
        place=place,
    )


def _pattern(place: Place) -> re.Pattern[str]:
    text = place.text("a pattern")
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as error:
        raise place.error(f"{text!r} is not a regular expression: {error}") from error


def _turn(place: Place, names: frozenset[str]) -> ScriptedTurn:
    parts = place.mapping("a turn", frozenset({"when", "steps"}))
    if "steps" not in parts:
        raise place.error("a turn needs steps")
    when = _pattern(parts["when"]) if "when" in parts else None
    return ScriptedTurn(when, _steps(parts["steps"], names))


def _steps(place: Place, names: frozenset[str]) -> tuple[Step, ...]:
    steps = tuple(_step(item, names) for item in place.items("steps"))
    if steps[-1].calls:
        raise steps[-1].place.error(
            "the last step is given again and again, so it cannot call tools; add a step after it"
        )
    return steps


def _step(place: Place, names: frozenset[str]) -> Step:
    parts = place.mapping("a step", frozenset({"text", "reasoning", "tools", "delay", "fail"}))
    if not parts.keys() & {"text", "tools", "fail"}:
        raise place.error("a step needs text, tools or fail")
    for key in ("text", "reasoning", "fail"):
        if key in parts:
            parts[key].text(key)
    _check_templates(place, names)
    return Step(
        text=parts["text"].value if "text" in parts else None,
        reasoning=parts["reasoning"].value if "reasoning" in parts else None,
        calls=tuple(_call(item) for item in parts["tools"].items("tools"))
        if "tools" in parts
        else (),
        delay=parts["delay"].number("delay") if "delay" in parts else 0.0,
        fail=parts["fail"].value if "fail" in parts else None,
        place=place,
    )


def _call(place: Place) -> ScriptedCall:
    parts = place.mapping("a tool call", frozenset({"name", "args"}))
    if "name" not in parts:
        raise place.error("a tool call needs a name")
    arguments: Any = {}
    if "args" in parts:
        arguments = parts["args"].plain()
        if not isinstance(arguments, dict):
            raise parts["args"].error("args must be a mapping")
    return ScriptedCall(parts["name"].text("name"), arguments, place)


def _check_templates(place: Place, names: frozenset[str]) -> None:
    """Refuse a template that names a value the script does not have."""
    if isinstance(place.value, dict):
        for item in place.value.values():
            _check_templates(item, names)
    elif isinstance(place.value, list):
        for item in place.value:
            _check_templates(item, names)
    elif isinstance(place.value, str):
        for name in TEMPLATE.findall(place.value):
            if name not in names:
                raise place.error(f"{{{{{name}}}}} is not a value of this script")
