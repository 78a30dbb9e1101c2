"""Which step of a script answers a request, and what its templates stand for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from remit.harness.log.messages import (
    AssistantMessage,
    Message,
    ToolMessage,
    UserMessage,
    text_of,
)
from remit.harness.models.port import ModelRequest
from remit.harness.models.scripted.script import TEMPLATE, Script, ScriptedTurn, Step, Value


def choose_step(script: Script, messages: Sequence[Message]) -> Step:
    """The step that answers a conversation: a pure function of what has been said.

    With one list of steps, as many are behind as the conversation has answers. With turns, the last
    prompt chooses the turn and the answers since that prompt choose the step. The last step stays.
    """
    if script.steps:
        return _step(script.steps, messages)
    prompts = [index for index, message in enumerate(messages) if is_prompt(message)]
    texts = [text_of(messages[index].content) for index in prompts]
    turn = _turn(script.turns, texts)
    return _step(turn.steps, messages[prompts[-1] :] if prompts else messages)


def is_prompt(message: Message) -> bool:
    """Whether a message is what somebody asked for, and not context the harness added."""
    return isinstance(message, UserMessage) and message.source.kind == "user"


def _turn(turns: Sequence[ScriptedTurn], prompts: Sequence[str]) -> ScriptedTurn:
    in_order = [turn for turn in turns if turn.when is None]
    unmatched = 0
    chosen = in_order[0]
    for prompt in prompts:
        matched = next((turn for turn in turns if turn.when and turn.when.search(prompt)), None)
        if matched is None:
            chosen = in_order[min(unmatched, len(in_order) - 1)]
            unmatched += 1
        else:
            chosen = matched
    return chosen


def _step(steps: Sequence[Step], messages: Sequence[Message]) -> Step:
    answers = sum(1 for message in messages if isinstance(message, AssistantMessage))
    return steps[min(answers, len(steps) - 1)]


class Filling:
    """Puts values in the place of templates, for one request."""

    def __init__(self, script: Script, request: ModelRequest) -> None:
        self._script = script
        self._request = request
        prompts = [text_of(m.content) for m in request.messages if is_prompt(m)]
        self._known = {"cwd": request.cwd, "user": prompts[-1] if prompts else ""}

    def fill(self, value: Any) -> Any:
        """A text, or anything that holds texts, with its templates filled.

        Raises:
            ScriptError: The conversation has nothing that a value's pattern matches.
        """
        if isinstance(value, str):
            return TEMPLATE.sub(lambda found: self._value(found.group(1)), value)
        if isinstance(value, dict):
            return {key: self.fill(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.fill(item) for item in value]
        return value

    def _value(self, name: str) -> str:
        if name not in self._known:
            self._known[name] = self._take(name, self._script.values[name])
        return self._known[name]

    def _take(self, name: str, value: Value) -> str:
        for text in self._candidates(value):
            matches = list(value.pattern.finditer(text))
            if matches:
                return _matched(matches[-1])
        if value.default is not None:
            return value.default
        where = "the last prompt"
        if value.source == "tool":
            where = f"a result of {value.tool}" if value.tool else "a tool's result"
        raise value.place.error(
            f"nothing in {where} matches {value.pattern.pattern!r}, so {name!r} has no value; "
            "give it a default or change the pattern"
        )

    def _candidates(self, value: Value) -> list[str]:
        """The texts to look at, the newest first."""
        if value.source == "user":
            return [self._known["user"]]
        names = {
            call.id: call.name
            for message in self._request.messages
            if isinstance(message, AssistantMessage)
            for call in message.tool_calls()
        }
        return [
            text_of(message.content)
            for message in reversed(self._request.messages)
            if isinstance(message, ToolMessage)
            and value.tool in (None, names.get(message.tool_call_id))
        ]


def _matched(found: re.Match[str]) -> str:
    candidates = (found.groupdict().get("value"), *found.groups()[:1])
    return next((text for text in candidates if text is not None), found.group())
