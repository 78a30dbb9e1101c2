"""The scripted model: what it plays, and what it says of a script it cannot play."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from remit.harness.log.messages import (
    AssistantMessage,
    Block,
    Message,
    ModelSource,
    SnapshotSource,
    Source,
    TextBlock,
    ToolCallBlock,
    ToolMessage,
    ToolSource,
    UserMessage,
)
from remit.harness.models import Finish, ModelError, ModelRequest, ReasoningDelta, TextDelta
from remit.harness.models.port import ModelEvent, ToolCallDelta
from remit.harness.models.scripted import ScriptedModel, ScriptError, load_script
from support.harness import counting_ids

CWD = "/home/somebody/work"


def script(tmp_path: Path, text: str, name: str = "script.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def user(text: str) -> UserMessage:
    return UserMessage(content=(TextBlock(text=text),), source=Source(kind="user"), id="u")


def context() -> UserMessage:
    source = SnapshotSource(kind="runtime-context", sections=())
    return UserMessage(content=(TextBlock(text="issue #999"),), source=source, id="c")


def answer(*tools: str, text: str = "ok") -> AssistantMessage:
    content: tuple[Block, ...] = (
        TextBlock(text=text),
        *(ToolCallBlock(id=f"call-{tool}", name=tool, arguments="{}") for tool in tools),
    )
    return AssistantMessage(
        content=content, source=ModelSource(provider="scripted", model="s"), id="a"
    )


def result(tool: str, text: str) -> ToolMessage:
    call_id = f"call-{tool}"
    return ToolMessage(
        source=ToolSource(call_id=call_id),
        tool_call_id=call_id,
        content=(TextBlock(text=text),),
        id="r",
    )


async def play(
    path: Path, *messages: Message, slept: list[float] | None = None
) -> list[ModelEvent]:
    async def sleep(seconds: float) -> None:
        if slept is not None:
            slept.append(seconds)

    model = ScriptedModel.from_file(path, new_id=counting_ids(), sleep=sleep)
    request = ModelRequest(system=None, messages=messages, tools=(), cwd=CWD)
    return [event async for event in model.stream(request)]


async def said(path: Path, *messages: Message) -> str:
    events = await play(path, *messages)
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def arguments(path: Path, *messages: Message) -> Any:
    events = await play(path, *messages)
    texts = [event.arguments for event in events if isinstance(event, ToolCallDelta)]
    return json.loads("".join(texts))


async def test_a_step_says_its_reasoning_its_text_and_its_calls(tmp_path: Path) -> None:
    path = script(
        tmp_path,
        """
steps:
  - reasoning: Hm.
    text: I look.
    tools:
      - {name: read, args: {file_path: a.txt}}
      - name: glob
  - text: Done.
""",
    )
    events = await play(path, user("go"))
    assert events[:2] == [ReasoningDelta(0, "Hm."), TextDelta(1, "I look.")]
    assert [e for e in events if isinstance(e, ToolCallDelta)] == [
        ToolCallDelta(2, "call_id-1", "read", ""),
        ToolCallDelta(2, "call_id-1", None, '{"file_path": "a.txt"}'),
        ToolCallDelta(3, "call_id-2", "glob", ""),
        ToolCallDelta(3, "call_id-2", None, "{}"),
    ]
    assert events[-1] == Finish("tool-calls")
    assert (await play(path, user("go"), answer("read")))[-1] == Finish("stop")


STEPS = """
steps:
  - {text: one, tools: [{name: read}]}
  - text: two
  - text: three
"""


async def test_as_many_steps_are_behind_as_the_conversation_has_answers(tmp_path: Path) -> None:
    path = script(tmp_path, STEPS)
    conversation: list[Message] = [user("first"), context()]
    heard = []
    for follow_up in (result("read", "x"), user("second"), user("third"), user("fourth")):
        heard.append(await said(path, *conversation))
        conversation += [answer("read"), follow_up]
    assert heard == ["one", "two", "three", "three"]


TURNS = """
turns:
  - when: '(?i)status\\?'
    steps: [{text: all well}]
  - steps:
      - {text: first, tools: [{name: read}]}
      - text: first done
  - steps: [{text: later}]
"""


async def test_the_last_prompt_chooses_the_turn_and_the_answers_since_it_the_step(
    tmp_path: Path,
) -> None:
    path = script(tmp_path, TURNS)
    first: list[Message] = [user("do it"), context(), answer("read"), result("read", "x")]
    assert await said(path, *first[:2]) == "first"
    assert await said(path, *first) == "first done"
    assert await said(path, *first, answer(), user("Status?")) == "all well"
    assert await said(path, *first, answer(), user("Status?"), answer(), user("more")) == "later"
    assert await said(path, *first, user("more"), answer(), user("more")) == "later"


async def test_a_prompt_that_was_cut_short_does_not_shift_the_next_one(tmp_path: Path) -> None:
    path = script(tmp_path, TURNS)
    assert await said(path, user("do it"), user("again")) == "later"
    assert await said(path, user("do it"), answer(), answer(), user("more")) == "later"


VALUES = """
values:
  issue: {from: user, pattern: 'issue #(\\d+)'}
  branch: {from: tool, tool: shell, pattern: '^On branch (?P<value>\\S+)$'}
  anything: {from: tool, pattern: 'id=\\w+', default: none}
steps:
  - text: "{{issue}} {{ cwd }} {{anything}}"
    tools:
      - {name: shell, args: {command: "git checkout {{issue}}", flags: ["-{{issue}}", 7, true]}}
  - text: "on {{branch}} with {{anything}}"
"""


async def test_templates_take_values_from_the_prompt_and_the_directory(tmp_path: Path) -> None:
    path = script(tmp_path, VALUES)
    messages = (user("please fix issue #41, I mean issue #42"), context())
    assert await said(path, *messages) == f"42 {CWD} none"
    assert await arguments(path, *messages) == {
        "command": "git checkout 42",
        "flags": ["-42", 7, True],
    }


async def test_templates_take_values_from_the_newest_result_of_the_named_tool(
    tmp_path: Path,
) -> None:
    path = script(tmp_path, VALUES)
    messages = (
        user("issue #1"),
        answer("shell", "read"),
        result("shell", "HEAD\nOn branch main\nclean id=7"),
        result("read", "On branch trap\nid=8"),
    )
    assert await said(path, *messages) == "on main with id=8"


async def test_a_value_that_nothing_matches_names_the_script_the_line_and_the_value(
    tmp_path: Path,
) -> None:
    path = script(tmp_path, VALUES)
    with pytest.raises(ScriptError, match=r"'issue' has no value; give it a default") as broken:
        await play(path, user("hello"))
    assert (broken.value.path, broken.value.line) == (path, 3)
    assert str(path) in str(broken.value)
    assert broken.value.code == "SCRIPT"
    assert not broken.value.retryable


async def test_a_step_can_wait_before_it_speaks(tmp_path: Path) -> None:
    slept: list[float] = []
    path = script(tmp_path, "steps:\n  - {text: at last, delay: 2.5}\n")
    await play(path, user("go"), slept=slept)
    assert slept == [2.5]


async def test_a_step_can_fail(tmp_path: Path) -> None:
    path = script(tmp_path, "steps:\n  - fail: the model is on strike in {{cwd}}\n")
    with pytest.raises(ModelError, match=f"on strike in {CWD}") as failed:
        await play(path, user("go"))
    assert not failed.value.retryable


async def test_a_json_file_with_tabs_is_a_script_too(tmp_path: Path) -> None:
    path = script(tmp_path, '{\n\t"steps": [\n\t\t{"text": "tab\\there"}\n\t]\n}', "s.json")
    assert await said(path, user("go")) == "tab\there"


BROKEN = [
    ("", 1, "it is empty"),
    ("steps: [", 1, ""),
    ("a: b: c\n", 1, ""),
    ("- text: hi\n", 1, "a script must be a mapping"),
    ("values: {}\n", 1, "either steps or turns"),
    ("steps: [{text: a}]\nturns: [{steps: [{text: b}]}]\n", 1, "either steps or turns"),
    ("stepps:\n  - text: hi\n", 2, "a script has no 'stepps'; it may have steps, turns, values"),
    ("steps: []\n", 1, "a list with something in it"),
    ("steps:\n  - text: hi\n    tool: read\n", 3, "a step has no 'tool'"),
    ("steps:\n  - delay: 1\n", 2, "needs text, tools or fail"),
    ("steps:\n  - text: 7\n", 2, "text must be text"),
    ("steps:\n  - {text: a, delay: soon}\n", 2, "delay must be a number"),
    ("steps:\n  - {text: a, delay: -1}\n", 2, "must not be negative"),
    ("steps:\n  - tools:\n    - args: {}\n  - text: x\n", 3, "needs a name"),
    ("steps:\n  - tools:\n    - {name: a, args: [1]}\n  - text: x\n", 3, "args must be a mapping"),
    ("steps:\n  - text: hi\n  - tools: [{name: read}]\n", 3, "the last step"),
    ("steps:\n  - text: hi\n  - text: '{{nobody}}'\n", 3, "{{nobody}} is not a value"),
    ("steps:\n  - text: a\n    text: b\n", 3, "'text' stands here twice"),
    ("turns:\n  - when: hi\n    steps: [{text: a}]\n", 2, "one turn must have no `when`"),
    ("turns:\n  - when: '('\n    steps: [{text: a}]\n", 2, "not a regular expression"),
    ("turns:\n  - when: hi\n", 2, "a turn needs steps"),
    ("values:\n  v: {from: user}\nsteps: [{text: a}]\n", 2, "needs 'pattern'"),
    ("values:\n  v: {from: sky, pattern: a}\nsteps: [{text: a}]\n", 2, "user or tool"),
    ("values:\n  cwd: {from: user, pattern: a}\nsteps: [{text: a}]\n", 2, "cannot be the name"),
    (
        "values:\n  v: {from: user, tool: x, pattern: a}\nsteps: [{text: a}]\n",
        2,
        "goes with from: tool only",
    ),
]


@pytest.mark.parametrize(("text", "line", "problem"), BROKEN)
def test_a_broken_script_is_refused_with_its_file_and_line(
    tmp_path: Path, text: str, line: int, problem: str
) -> None:
    path = script(tmp_path, text)
    with pytest.raises(ScriptError) as refused:
        load_script(path)
    assert (refused.value.path, refused.value.line) == (path, line)
    assert problem in refused.value.problem


def test_a_script_that_is_not_there_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match=r"nowhere\.yaml"):
        load_script(tmp_path / "nowhere.yaml")
