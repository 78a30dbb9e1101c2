"""The loop: a prompt, answers, tools, and all of it on record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remit.harness.log import Event, read_log
from remit.harness.log.messages import text_of
from remit.harness.log.payloads import (
    AssistantMessageRecorded,
    RequestHeader,
    ToolResult,
    TurnEnd,
    UserMessageRecorded,
)
from remit.harness.models import Finish, ModelError, TextDelta, ToolCallDelta, UsageReport
from remit.harness.permission import PRESETS
from remit.harness.scope import Scope
from remit.harness.tools import ToolOutput
from support.harness import Bench, FakeAudience, calls, make_bench, plain_tool, says


def results(bench: Bench) -> list[tuple[str, str, str | None]]:
    """Every tool result: its call, its text, its code."""
    return [
        (
            event.payload.message.tool_call_id,
            text_of(event.payload.message.content),
            event.payload.error.code if event.payload.error else None,
        )
        for event in bench.session.record.events
        if isinstance(event.payload, ToolResult)
    ]


def last_turn_end(bench: Bench) -> dict[str, Any]:
    ends = [e for e in bench.session.record.events if isinstance(e.payload, TurnEnd)]
    reason: dict[str, Any] = ends[-1].row["data"]["reason"]
    return reason


def check_log(bench: Bench) -> None:
    """The file holds the very events of the session, and they keep the format's rules."""
    read = read_log(bench.log_path().read_bytes())
    assert [e.line() for e in read.record.events] == [e.line() for e in bench.session.record.events]
    assert read.record.lifecycle.open_turn is None


@pytest.mark.rule("LOG-1")
async def test_a_turn_is_on_record_in_the_recorded_shape(tmp_path: Path) -> None:
    read = plain_tool("read", lambda arguments: f"read {arguments['path']}")
    bench = make_bench(
        tmp_path,
        calls(("c1", "read", '{"path": "a"}'), text="I look."),
        says("Done."),
        tools=[read],
    )
    outcome = await bench.prompt("Read the file a in this directory, please.")
    assert outcome.end == "completed"
    assert bench.event_types() == [
        "permission/preset",
        "sandbox/mode",
        "approval/policy",
        "agent/inbox/spliced",
        "turn/start",
        "agent/inbox/spliced",
        "step/start",
        "system/message",
        "user/message",
        "user/message",
        "request/header",
        "request/context",
        "session/title",
        "assistant/message",
        "tool/call",
        "tool/result",
        "step/end",
        "step/start",
        "assistant/message",
        "step/end",
        "turn/end",
    ]
    assert results(bench) == [("c1", "read a", None)]
    assert last_turn_end(bench) == {"kind": "completed"}
    assert bench.session.record.events[12].row["data"]["title"] == "Read the file a in"
    check_log(bench)


async def test_the_audience_hears_of_every_event_in_order_once_it_is_on_record(
    tmp_path: Path,
) -> None:
    bench = make_bench(tmp_path, says("Done."))
    lines: list[int] = []
    bench.audience.on_event = lambda event: lines.append(len(bench.lines()) - 2 - event.seq)
    await bench.prompt()
    assert bench.audience.types() == bench.event_types()[3:]
    assert set(lines) == {0}


async def test_the_model_is_asked_with_all_that_was_said(tmp_path: Path) -> None:
    tool = plain_tool("read", lambda _: "found")
    bench = make_bench(tmp_path, calls(("c1", "read", "{}")), says("Done."), tools=[tool])
    await bench.prompt("Go.")
    first, second = bench.model.requests
    assert first.system == "Be good."
    assert [message.role for message in first.messages] == ["user", "user"]
    assert [message.role for message in second.messages] == ["user", "user", "assistant", "tool"]
    assert [schema.name for schema in first.tools] == ["read"]
    assert text_of(first.messages[0].content) == "Go."
    assert str(bench.workspace) in text_of(first.messages[1].content)


async def test_later_turns_add_only_what_is_new(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, says("one"), says("two"), says("three"))
    await bench.prompt()
    await bench.prompt()
    before = len(bench.event_types())
    assert bench.event_types().count("system/message") == 1
    assert bench.event_types().count("user/message") == 3
    assert bench.event_types().count("request/header") == 1
    assert bench.event_types().count("session/title") == 1
    await bench.session.put_in_force(PRESETS["read-only"])
    await bench.prompt()
    assert bench.event_types()[before:] == [
        *("permission/preset", "sandbox/mode", "approval/policy"),
        *("agent/inbox/spliced", "turn/start", "agent/inbox/spliced"),
        *("step/start", "user/message", "user/message"),
        *("assistant/message", "step/end", "turn/end"),
    ]


async def test_a_tool_that_comes_or_goes_changes_the_next_request(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, says("one"), says("two"))
    await bench.prompt()
    bench.registry.register(plain_tool("late", lambda _: "x"), bench.session.scope)
    await bench.prompt()
    assert [schema.name for schema in bench.model.requests[1].tools] == ["late"]
    headers = [
        e.payload for e in bench.session.record.events if isinstance(e.payload, RequestHeader)
    ]
    assert [header.reason for header in headers] == ["initial", "change"]


async def test_usage_adds_up_over_a_turn(tmp_path: Path) -> None:
    step = calls(("c1", "read", "{}"))
    bench = make_bench(
        tmp_path,
        [*step[:-1], UsageReport(10, 5, 3, 1), step[-1]],
        [TextDelta(0, "ok"), UsageReport(20, 7), Finish("stop")],
        tools=[plain_tool("read", lambda _: "")],
    )
    usage = (await bench.prompt()).usage
    assert (usage.input_tokens, usage.output_tokens, usage.cache_read_tokens) == (30, 12, 3)
    assert usage.total_tokens == 46


FAULTS: list[tuple[str, str, str, str]] = [
    ("nosuch", "{}", 'Error: unknown tool "nosuch"', "UNKNOWN_TOOL"),
    ("strict", "not json", "the arguments are not JSON", "INVALID_ARGS"),
    ("strict", "[1]", "the arguments are not a JSON object", "INVALID_ARGS"),
    ("broken", "{}", "broken failed: ZeroDivisionError", "TOOL_FAILED"),
    ("slow", "{}", "slow did not end within 0 s", "TOOL_TIMEOUT"),
]


@pytest.mark.parametrize(("name", "arguments", "text", "code"), FAULTS)
async def test_a_call_that_fails_tells_the_model_why_and_the_turn_goes_on(
    tmp_path: Path, name: str, arguments: str, text: str, code: str
) -> None:
    tools = [
        plain_tool("strict", lambda _: "ok"),
        plain_tool("broken", lambda _: 1 / 0),
        plain_tool("slow", lambda _: asyncio.Event().wait(), time_limit=0),
    ]
    bench = make_bench(tmp_path, calls(("c1", name, arguments)), says("I see."), tools=tools)
    assert (await bench.prompt()).end == "completed"
    ((_, said, given),) = results(bench)
    assert text in said
    assert given == code
    assert bench.model.requests[1].messages[-1].role == "tool"


async def test_a_tool_of_another_session_is_refused_as_one_that_never_existed(
    tmp_path: Path,
) -> None:
    bench = make_bench(tmp_path, calls(("c1", "theirs", "{}"), ("c2", "nosuch", "{}")), says("ok"))
    bench.registry.register(plain_tool("theirs", lambda _: "secret"), Scope("another"))
    await bench.prompt()
    (_, theirs, code), (_, nosuch, other_code) = results(bench)
    assert theirs.replace("theirs", "nosuch") == nosuch
    assert code == other_code == "UNKNOWN_TOOL"
    assert bench.model.requests[0].tools == ()


async def test_a_failure_that_a_tool_reports_itself_has_no_code(tmp_path: Path) -> None:
    tool = plain_tool("report", lambda _: ToolOutput("not now", is_error=True))
    bench = make_bench(tmp_path, calls(("c1", "report", "")), says("ok"), tools=[tool])
    await bench.prompt()
    assert results(bench) == [("c1", "Error: not now", None)]
    result = next(e for e in bench.session.record.events if e.type == "tool/result")
    assert result.row["data"]["message"]["isError"] is True


async def test_neighbours_that_may_run_beside_each_other_do_and_answer_in_order(
    tmp_path: Path,
) -> None:
    log: list[str] = []
    gate = asyncio.Event()

    async def first(_: Any) -> str:
        log.append("first begins")
        await gate.wait()
        log.append("first ends")
        return "1"

    def second(_: Any) -> str:
        log.append("second")
        gate.set()
        return "2"

    def alone(_: Any) -> str:
        log.append("alone")
        return "3"

    tools = [
        plain_tool("first", first, concurrent=True),
        plain_tool("second", second, concurrent=True),
        plain_tool("alone", alone),
    ]
    asked = calls(
        ("c1", "first", "{}"), ("c2", "second", "{}"), ("c3", "alone", "{}"), ("c4", "second", "{}")
    )
    bench = make_bench(tmp_path, asked, says("ok"), tools=tools)
    await bench.prompt()
    assert log == ["first begins", "second", "first ends", "alone", "second"]
    assert [text for _, text, _ in results(bench)] == ["1", "2", "3", "2"]
    calling = [t for t in bench.event_types() if t in ("tool/call", "tool/result")]
    assert calling == ["tool/call"] * 2 + ["tool/result"] * 2 + ["tool/call", "tool/result"] * 2


async def test_no_more_than_ten_calls_run_beside_each_other(tmp_path: Path) -> None:
    running, most = 0, 0

    async def run(_: Any) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return ""

    asked = calls(*((f"c{n}", "look", "{}") for n in range(25)))
    tool = plain_tool("look", run, concurrent=True)
    bench = make_bench(tmp_path, asked, says("ok"), tools=[tool])
    await bench.prompt()
    assert most == 10
    assert [call for call, _, _ in results(bench)] == [f"c{n}" for n in range(25)]


ASKED = [
    ("read-only", "read", False),
    ("read-only", "write", True),
    ("read-only", "execute", True),
    ("read-only", "external", True),
    ("workspace-write", "write", False),
    ("workspace-write", "external", False),
    ("workspace-write", "execute", True),
    ("danger-full-access", "execute", False),
]


@pytest.mark.parametrize(("preset", "effect", "asked"), ASKED)
async def test_the_preset_decides_which_tools_are_asked_for(
    tmp_path: Path, preset: str, effect: Any, asked: bool
) -> None:
    tool = plain_tool("act", lambda _: "did it", effect=effect)
    bench = make_bench(
        tmp_path, calls(("c1", "act", "{}")), says("ok"), tools=[tool], preset=preset
    )
    await bench.prompt()
    assert bench.audience.asked == (["act"] if asked else [])
    assert ("approval/asked" in bench.event_types()) is asked
    assert results(bench) == [("c1", "did it", None)]


@pytest.mark.parametrize("answer", ["rejected", "cancelled", "unavailable"])
async def test_anything_but_a_yes_means_the_tool_does_not_run(tmp_path: Path, answer: Any) -> None:
    ran: list[Any] = []
    tool = plain_tool("act", ran.append, effect="execute")
    bench = make_bench(
        tmp_path, calls(("c1", "act", "{}")), says("ok"), tools=[tool], preset="read-only"
    )
    bench.audience.answer = answer
    assert (await bench.prompt()).end == "completed"
    assert ran == []
    ((_, _, code),) = results(bench)
    assert code == "PERMISSION_DENIED"
    decided = next(e for e in bench.session.record.events if e.type == "approval/decided")
    assert decided.row["data"]["outcome"] == answer


async def test_bad_arguments_are_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    tool = plain_tool("act", lambda _: "", effect="execute")
    bench = make_bench(
        tmp_path, calls(("c1", "act", "[]")), says("ok"), tools=[tool], preset="read-only"
    )
    await bench.prompt()
    assert bench.audience.asked == []


async def test_a_turn_that_never_ends_is_ended_and_says_so(tmp_path: Path) -> None:
    steps = [calls((f"c{n}", "look", "{}")) for n in range(9)]
    bench = make_bench(tmp_path, *steps, tools=[plain_tool("look", lambda _: "")])
    bench.max_steps = 3
    outcome = await bench.prompt()
    assert outcome.end == "max-steps"
    assert len(bench.model.requests) == 3
    assert last_turn_end(bench)["error"]["code"] == "MAX_STEPS"
    assert outcome.failure is not None
    assert "after 3 steps" in outcome.failure.message
    check_log(bench)


async def test_an_answer_cut_off_by_its_token_limit_ends_the_turn_and_runs_nothing(
    tmp_path: Path,
) -> None:
    ran: list[Any] = []
    cut = [TextDelta(0, "I"), ToolCallDelta(1, "c1", "act", '{"a'), Finish("max-tokens")]
    bench = make_bench(tmp_path, cut, tools=[plain_tool("act", ran.append)])
    assert (await bench.prompt()).end == "max-tokens"
    assert ran == []
    assert results(bench)[0][1:] == (
        "Error: not run: the answer was cut off by its token limit",
        "ABORTED_BEFORE_DISPATCH",
    )
    assert last_turn_end(bench) == {"kind": "max-tokens"}
    check_log(bench)


async def test_a_model_that_declines_ends_the_turn(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, [TextDelta(0, "No."), Finish("refusal")])
    outcome = await bench.prompt()
    assert outcome.end == "refusal"
    assert last_turn_end(bench)["error"]["code"] == "REFUSAL"
    check_log(bench)


def failure(*, retryable: bool = True, after: float | None = None) -> ModelError:
    return ModelError("busy", code="SERVER", status=503, retryable=retryable, retry_after=after)


async def test_a_failed_call_is_tried_again_after_a_wait_and_all_of_it_is_on_record(
    tmp_path: Path,
) -> None:
    bench = make_bench(
        tmp_path, failure(), [TextDelta(0, "half"), failure(after=7.0)], says("whole")
    )
    assert (await bench.prompt()).end == "completed"
    assert bench.slept == [0.5, 7.0]
    trying = [t for t in bench.event_types() if t.startswith(("llm/", "assistant/"))]
    assert trying == [
        *("assistant/attempt", "llm/retry", "llm/retry-started") * 2,
        "assistant/message",
    ]
    retries = [e.row["data"] for e in bench.session.record.events if e.type == "llm/retry"]
    assert [retry["retry"] for retry in retries] == [1, 2]
    assert retries[1]["failure"] == {
        "message": "busy",
        "code": "SERVER",
        "status": 503,
        "providerRetryAfterMs": 7000,
    }
    assert [m.role for m in bench.model.requests[-1].messages] == ["user", "user"]
    check_log(bench)


async def test_a_call_that_keeps_failing_ends_the_turn_with_its_reason(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, failure(), failure(), failure(), says("never"))
    outcome = await bench.prompt()
    assert outcome.end == "failed"
    assert outcome.failure is not None
    assert (outcome.failure.message, outcome.failure.status) == ("busy", 503)
    assert len(bench.model.requests) == 3
    assert last_turn_end(bench)["error"]["code"] == "SERVER"
    check_log(bench)
    assert (await bench.prompt()).end == "completed"


async def test_a_call_that_cannot_succeed_is_not_tried_again(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, failure(retryable=False), says("never"))
    assert (await bench.prompt()).end == "failed"
    assert bench.slept == []


async def test_an_answer_without_an_end_is_a_failure(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, [TextDelta(0, "half")])
    outcome = await bench.prompt()
    assert outcome.end == "failed"
    assert "assistant/message" not in bench.event_types()


async def until(reached: Callable[[], bool], *, and_then: int = 0) -> None:
    """Let everything else go on until something is so, and then some more rounds."""
    for _ in range(1000):
        if reached():
            break
        await asyncio.sleep(0)
    assert reached()
    for _ in range(and_then):
        await asyncio.sleep(0)


async def cancelled_at(bench: Bench, reached: Callable[[Event], bool]) -> None:
    """Prompt, and cancel as soon as an event was recorded."""
    turn = bench.turn()
    bench.audience.on_event = lambda event: turn.cancel("user") if reached(event) else None
    async with asyncio.timeout(5):
        outcome = await turn.start()
    assert outcome.end == "cancelled"


def is_type(kind: str) -> Callable[[Event], bool]:
    return lambda event: event.type == kind


async def test_a_cancel_while_the_model_speaks_keeps_what_it_said(tmp_path: Path) -> None:
    speaking = asyncio.Event()
    bench = make_bench(
        tmp_path,
        [TextDelta(0, "I was"), TextDelta(0, " about"), ToolCallDelta(1, "c", "x", "{"), speaking],
        says("Right."),
    )
    turn = bench.turn()
    task = turn.start()
    await until(lambda: bool(bench.model.requests), and_then=5)
    turn.cancel("user")
    turn.cancel("user")
    assert (await task).end == "cancelled"
    said = [
        e.payload
        for e in bench.session.record.events
        if isinstance(e.payload, AssistantMessageRecorded)
    ]
    assert said[0].interrupted is True
    assert text_of(said[0].message.content) == "I was about"
    assert said[0].message.tool_calls() == ()
    assert last_turn_end(bench) == {"kind": "aborted", "reason": {"kind": "user"}}
    check_log(bench)
    assert (await bench.prompt()).end == "completed"
    check_log(bench)


async def test_a_cancel_before_the_model_spoke_leaves_an_attempt(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, [asyncio.Event()])
    turn = bench.turn()
    task = turn.start()
    await until(lambda: bool(bench.model.requests), and_then=1)
    turn.cancel("user")
    assert (await task).end == "cancelled"
    assert "assistant/attempt" in bench.event_types()
    check_log(bench)


async def test_a_cancel_inside_a_tool_ends_it_and_closes_the_others(tmp_path: Path) -> None:
    cleaned: list[str] = []

    async def hang(_: Any) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("up")
        return "never"

    tools = [
        plain_tool("quick", lambda _: "quick", concurrent=True),
        plain_tool("hang", hang, concurrent=True),
        plain_tool("later", lambda _: "later"),
    ]
    asked = calls(("c1", "quick", "{}"), ("c2", "hang", "{}"), ("c3", "later", "{}"))
    bench = make_bench(tmp_path, asked, tools=tools)
    turn = bench.turn()
    task = turn.start()
    await until(lambda: bench.event_types().count("tool/call") == 2, and_then=5)
    turn.cancel("disposed")
    assert (await task).end == "cancelled"
    assert cleaned == ["up"]
    assert [(call, code) for call, _, code in results(bench)] == [
        ("c1", None),
        ("c2", "ABORTED"),
        ("c3", "ABORTED_BEFORE_DISPATCH"),
    ]
    assert last_turn_end(bench)["reason"] == {"kind": "disposed"}
    check_log(bench)


async def test_a_cancel_while_somebody_is_asked_withdraws_the_question(tmp_path: Path) -> None:
    bench = make_bench(
        tmp_path,
        calls(("c1", "act", "{}")),
        tools=[plain_tool("act", lambda _: "", effect="execute")],
        preset="read-only",
    )
    bench.audience.answer = asyncio.Event()
    turn = bench.turn()
    task = turn.start()
    await until(lambda: bool(bench.audience.asked))
    turn.cancel("user")
    assert (await task).end == "cancelled"
    decided = next(e for e in bench.session.record.events if e.type == "approval/decided")
    assert decided.row["data"]["outcome"] == "cancelled"
    assert results(bench)[0][2] == "ABORTED"
    check_log(bench)


EVERY_EVENT = [
    "agent/inbox/spliced",
    "turn/start",
    "step/start",
    "system/message",
    "user/message",
    "request/header",
    "session/title",
    "assistant/message",
    "tool/call",
    "tool/result",
    "step/end",
]


@pytest.mark.parametrize("kind", EVERY_EVENT)
async def test_a_cancel_after_any_event_leaves_a_whole_log(tmp_path: Path, kind: str) -> None:
    tool = plain_tool("look", lambda _: "seen")
    bench = make_bench(tmp_path, calls(("c1", "look", "{}")), says("ok"), says("ok"), tools=[tool])
    await cancelled_at(bench, is_type(kind))
    assert bench.session.record.inbox.withdrawals() == []
    check_log(bench)
    bench.audience.on_event = None
    assert (await bench.prompt()).end == "completed"
    check_log(bench)


async def test_a_turn_cancelled_before_it_began_leaves_nothing(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, says("never"))
    before = bench.event_types()
    turn = bench.turn()
    task = turn.start()
    turn.cancel("user")
    assert (await task).end == "cancelled"
    assert bench.event_types() == before
    assert bench.model.requests == []


async def test_a_cancel_after_the_end_changes_nothing(tmp_path: Path) -> None:
    bench = make_bench(tmp_path, says("ok"))
    turn = bench.turn()
    bench.audience.on_event = lambda e: turn.cancel("user") if e.type == "turn/end" else None
    assert (await turn.start()).end == "completed"
    turn.cancel("user")
    assert last_turn_end(bench) == {"kind": "completed"}


@pytest.mark.rule("LOG-5")
async def test_a_resumed_session_asks_what_one_that_never_stopped_asks(tmp_path: Path) -> None:
    def bench_in(folder: Path) -> Bench:
        folder.mkdir()
        look = plain_tool("look", lambda _: "seen")
        asked = calls(("c1", "look", '{"a": 1}'), text="I look.")
        return make_bench(folder, asked, says("one"), says("two"), says("three"), tools=[look])

    steady, resumed = bench_in(tmp_path / "steady"), bench_in(tmp_path / "resumed")
    for text in ("First.", "Second.", "Third."):
        await steady.prompt(text)
        await resumed.prompt(text)
        resumed.reopen()
    assert len(steady.model.requests) == 4
    for one, other in zip(steady.model.requests, resumed.model.requests, strict=True):
        assert same(one, tmp_path / "steady") == same(other, tmp_path / "resumed")
    headers = [
        e.payload for e in resumed.session.record.events if isinstance(e.payload, RequestHeader)
    ]
    assert [header.reason for header in headers] == ["initial", "resume", "resume"]


@pytest.mark.rule("LOG-5")
async def test_a_session_resumed_after_a_cancel_asks_the_same_too(tmp_path: Path) -> None:
    requests = []
    for name in ("steady", "resumed"):
        (tmp_path / name).mkdir()
        bench = make_bench(
            tmp_path / name,
            calls(("c1", "look", "{}")),
            says("ok"),
            tools=[plain_tool("look", lambda _: "seen")],
        )
        await cancelled_at(bench, is_type("tool/call"))
        bench.audience = bench.session.audience = FakeAudience()
        if name == "resumed":
            bench.reopen()
        await bench.prompt("Go on.")
        requests.append(same(bench.model.requests[-1], tmp_path / name))
    assert requests[0] == requests[1]


def same(request: Any, folder: Path) -> tuple[Any, ...]:
    """A request without what must differ between two sessions: ids and the directory."""
    messages = [message.to_json() for message in request.messages]
    for message in messages:
        message.pop("id")
    text = str(messages).replace(str(folder), "FOLDER")
    return (request.system, text, request.tools)


async def test_what_a_person_asked_is_on_record_word_for_word(tmp_path: Path) -> None:
    text = "Line one\n\n  <b>line two</b> \u2028 é 😀"
    bench = make_bench(tmp_path, says("ok"))
    await bench.prompt(text)
    bench.reopen()
    prompts = [
        text_of(e.payload.content)
        for e in bench.session.record.events
        if isinstance(e.payload, UserMessageRecorded) and e.payload.source.kind == "user"
    ]
    assert prompts == [text]
