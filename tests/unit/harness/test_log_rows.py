"""What is a row of a session log and what is none (LOG-1, LOG-3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from remit.harness.log import LogDamagedError, Replace, RowError, read_log
from remit.harness.log.event import new_event, read_event
from remit.harness.log.payloads import TurnStart
from support.harness import START

HEADER = {
    "type": "session",
    "version": 4,
    "id": "s",
    "createdAt": START,
    "cwd": "/work",
    "isSeeded": False,
    "delegationDepth": 0,
}


def row(kind: str, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": kind, "data": data, **more}


def user(text: str = "hi", **more: Any) -> dict[str, Any]:
    data = {
        "content": [{"type": "text", "text": text}],
        "source": {"kind": "user"},
        "role": "user",
        "id": f"m-{text}",
    }
    return row("user/message", data, **{"surfaceOp": "append", **more})


def system(text: str = "be good", **more: Any) -> dict[str, Any]:
    message = {
        "role": "system",
        "content": [{"type": "text", "text": text}],
        "source": {"kind": "system-prompt"},
        "id": "m-s",
    }
    data = {"turn": 1, "step": 1, "message": message}
    return row("system/message", data, **{"surfaceOp": "append", **more})


def turn(kind: str, number: int = 1, **data: Any) -> dict[str, Any]:
    return row(f"turn/{kind}", {"turn": number, **data})


def step(kind: str, number: int = 1, in_turn: int = 1) -> dict[str, Any]:
    return row(f"step/{kind}", {"turn": in_turn, "step": number})


def assistant(*calls: str, **more: Any) -> dict[str, Any]:
    content = [
        {"type": "tool-call", "id": call, "name": "read", "arguments": "{}"} for call in calls
    ]
    message = {
        "role": "assistant",
        "content": content or [{"type": "text", "text": "ok"}],
        "source": {"kind": "model", "provider": "p", "model": "m"},
        "id": "m-a",
    }
    data = {"turn": 1, "step": 1, "message": message, "stream": []}
    return row("assistant/message", data, **{"surfaceOp": "append", **more})


def tool_call(call: str, name: str = "read", arguments: str = "{}") -> dict[str, Any]:
    data = {"turn": 1, "step": 1, "callId": call, "name": name, "arguments": arguments}
    return row("tool/call", data)


def tool_result(call: str, text: str = "done", **more: Any) -> dict[str, Any]:
    message = {
        "role": "tool",
        "source": {"kind": "tool", "callId": call},
        "toolCallId": call,
        "content": [{"type": "text", "text": text}],
        "isError": False,
        "id": f"r-{call}",
    }
    data = {"turn": 1, "step": 1, "message": message, **more.pop("data", {})}
    return row("tool/result", data, **{"surfaceOp": "append", **more})


COMPLETED = {"kind": "completed"}
OPEN = [turn("start"), step("start")]


def log_of(*rows: dict[str, Any], header: dict[str, Any] = HEADER) -> bytes:
    return "".join(json.dumps(item) + "\n" for item in (header, *rows)).encode()


LIFE = [
    user(),
    turn("start"),
    step("start"),
    assistant("c1", "c2"),
    tool_call("c1"),
    tool_result("c1", sourceEventSeqs=[4]),
    tool_result("c2"),
    step("end"),
    step("start", 2),
    step("end", 2),
    turn("end", reason=COMPLETED),
    user("between turns"),
    turn("start", 2),
    turn("end", 2, reason={"kind": "aborted", "reason": {"kind": "user"}}),
]


@pytest.mark.rule("LOG-1")
def test_a_whole_life_of_a_session_reads() -> None:
    read = read_log(log_of(*LIFE))
    assert [event.type for event in read.record.events] == [item["type"] for item in LIFE]
    assert read.record.lifecycle.turns == 2


REFUSED_HEADERS = [
    ({**HEADER, "type": "message"}, "begins with its session header"),
    ({**HEADER, "version": 3}, "version 3 is not supported"),
    ({**HEADER, "colour": "red"}, "unknown key 'colour'"),
    ({**HEADER, "isSeeded": "no"}, "isSeeded"),
    ({**HEADER, "id": ""}, "id"),
    ({key: value for key, value in HEADER.items() if key != "createdAt"}, "createdAt"),
]


@pytest.mark.rule("LOG-3")
@pytest.mark.parametrize(("header", "problem"), REFUSED_HEADERS)
def test_a_bad_header_is_refused_as_line_1(header: dict[str, Any], problem: str) -> None:
    with pytest.raises(LogDamagedError, match=problem) as refused:
        read_log(log_of(header=header))
    assert refused.value.line == 1


REFUSED_ROWS = [
    ([row("weather/report", {})], "unknown event type 'weather/report'"),
    ([row("plugin:Bad/Name", {}, ignorable=True)], "not a plugin event type"),
    ([row("plugin:remit/note", {})], "not marked ignorable"),
    ([row("todo/write", {}, colour="red")], "unknown key 'colour'"),
    ([row("todo/write", {}, ignorable=False)], "ignorable is true or absent"),
    ([{"type": "todo/write", "data": []}], "data is not a JSON object"),
    ([{"type": 7, "data": {}}], "no type"),
    ([row("turn/start", {"turn": "1"})], "turn"),
    ([row("turn/start", {"turn": True})], "turn"),
    ([row("turn/start", {"turn": 1}, seq=0)], "stand together"),
    ([row("turn/start", {"turn": 1}, seq=1, time=START)], "seq is 1 where 0 is due"),
    ([row("turn/start", {"turn": 1}, seq=0, time=1.5)], "time is not an integer"),
    ([row("turn/start", {"turn": 1}, seq=0, time=START), step("start")], "this one differs"),
    ([turn("start", 2)], "turn 2 starts where turn 1 is due"),
    ([turn("start"), turn("start", 2)], "while turn 1 is open"),
    ([turn("end", reason=COMPLETED)], "is not open"),
    ([turn("start"), step("start", 2)], "step 2 starts where step 1 is due"),
    ([step("start")], "that turn is not open"),
    ([turn("start"), step("start"), turn("end", reason=COMPLETED)], "step 1 is open"),
    ([turn("start"), step("start"), step("start", 2)], "while step 1 is open"),
    ([turn("start"), step("end")], "is not open"),
    ([turn("start"), assistant()], "which is not open"),
    ([*OPEN, assistant("c1"), step("end")], "c1 has no result"),
    ([*OPEN, assistant("c1", "c1")], "asked for twice"),
    ([*OPEN, assistant("c1"), tool_call("c2")], "was not asked for"),
    ([*OPEN, assistant("c1"), tool_call("c1"), tool_call("c1")], "taken up twice"),
    ([*OPEN, assistant("c1"), tool_call("c1", "write")], "not the one that was asked for"),
    ([*OPEN, assistant("c1"), tool_call("c1", arguments="[]")], "not the one"),
    ([*OPEN, tool_result("c1")], "waits for no result"),
    (
        [*OPEN, assistant("c"), tool_result("c", data={"error": {"name": "E", "code": "C"}})],
        "not marked as one",
    ),
    ([row("request/header", {"header": {}, "reason": "initial"})], "outside any turn"),
    ([user(surfaceOp="prepend")], "surfaceOp is neither"),
    ([user(surfaceOp={"op": "replace", "startSeq": 0})], "surfaceOp is neither"),
    ([row("todo/write", {}, surfaceOp="append")], "no part of the conversation"),
    ([{**user(), "surfaceOp": None}], "surfaceOp is neither"),
    ([{key: value for key, value in user().items() if key != "surfaceOp"}], "has no surfaceOp"),
    ([user(), user("b", sourceEventSeqs=[1])], "not earlier"),
    ([user(), user("b", sourceEventSeqs=[])], "not a list with something in it"),
    ([user(), user("b", sourceEventSeqs=[0, 0])], "names an event twice"),
    ([user(), *OPEN, assistant(sourceEventSeqs=[0])], "carries its stream"),
    ([user(), user("b", surfaceOp={"op": "replace", "startSeq": 0, "endSeq": 0})], "as a source"),
    (
        [
            user(),
            user("b", surfaceOp={"op": "replace", "startSeq": 7, "endSeq": 0}, sourceEventSeqs=[0]),
        ],
        "not part of the conversation now",
    ),
    ([user(), *OPEN, system()], "may only lead"),
    (
        [
            *OPEN,
            system(),
            user("b", surfaceOp={"op": "replace", "startSeq": 2, "endSeq": 2}, sourceEventSeqs=[2]),
        ],
        "only a system/message may replace",
    ),
    (
        [
            row(
                "agent/inbox/spliced",
                {"target": "next-turn", "start": 0, "removedCount": 1, "inserted": []},
            )
        ],
        "takes out message 0 of 0",
    ),
]


@pytest.mark.rule("LOG-3")
@pytest.mark.parametrize(("rows", "problem"), REFUSED_ROWS)
def test_a_row_that_breaks_the_format_is_refused_with_its_line(
    rows: list[dict[str, Any]], problem: str
) -> None:
    with pytest.raises(LogDamagedError, match=problem) as refused:
        read_log(log_of(*rows))
    assert refused.value.line == len(rows) + 1


@pytest.mark.parametrize(
    "line",
    [b"{", b"nonsense", b"[]", b'{"type":"turn/start","data":{"turn":NaN}}', b"\xff\xfe", b""],
)
@pytest.mark.rule("LOG-3")
def test_a_line_that_is_no_json_object_is_refused_where_it_stands(line: bytes) -> None:
    data = log_of(turn("start")) + line + b"\n" + log_of(turn("end"))
    with pytest.raises(LogDamagedError) as refused:
        read_log(data)
    assert refused.value.line == 3


@pytest.mark.rule("LOG-3")
def test_damage_in_a_stream_is_refused_with_its_line() -> None:
    broken = assistant()
    broken["data"]["stream"] = [{"type": "text-chunks", "texts": []}]
    with pytest.raises(LogDamagedError) as refused:
        read_log(log_of(*OPEN, broken))
    assert refused.value.line == 4


def test_an_event_of_an_unknown_type_that_is_ignorable_is_kept() -> None:
    unknown = row("plugin:remit/receipt", {"seen": [1, None]}, ignorable=True)
    read = read_log(log_of(unknown, user()))
    assert read.record.events[0].row == unknown
    assert read.record.events[0].payload is None


@pytest.mark.parametrize("kind", ["todo/write", "job/settled", "hook/anything", "subagent/catalog"])
def test_an_event_of_the_format_that_this_version_does_not_read_is_kept(kind: str) -> None:
    assert read_event(json.dumps(row(kind, {"a": 1})), 0).payload is None


def test_keys_that_a_later_version_adds_to_known_data_are_kept() -> None:
    line = json.dumps(row("turn/start", {"turn": 1, "mood": "good"}), separators=(",", ":"))
    assert read_event(line, 0).line() == line


def test_a_replacement_takes_the_place_of_a_range() -> None:
    summary = user(
        "summary",
        surfaceOp={"op": "replace", "startSeq": 1, "endSeq": 2},
        sourceEventSeqs=[1, 2],
    )
    read = read_log(log_of(user("a"), user("b"), user("c"), user("d"), summary))
    texts = [node.row["data"]["id"] for node in read.record.surface.nodes]
    assert texts == ["m-a", "m-summary", "m-d"]
    assert read.record.events[4].placement == Replace(1, 2)


def test_a_tool_result_may_be_replaced_by_one_that_differs_in_its_content_only() -> None:
    life = [*OPEN, assistant("c1"), tool_result("c1"), step("end")]
    shorter = {"surfaceOp": {"op": "replace", "startSeq": 3, "endSeq": 3}, "sourceEventSeqs": [3]}
    read = read_log(log_of(*life, tool_result("c1", "cut", **shorter)))
    assert [node.seq for node in read.record.surface.nodes] == [2, 5]
    renamed = tool_result("c1", "cut", **shorter)
    renamed["data"]["message"]["id"] = "another"
    with pytest.raises(LogDamagedError, match="differ in its content only"):
        read_log(log_of(*life, renamed))


def test_a_new_event_without_a_place_in_the_conversation_has_none_in_its_row() -> None:
    event = new_event(TurnStart(turn=1), seq=3, time=START, placement=None, sources=())
    assert event.line() == f'{{"type":"turn/start","seq":3,"time":{START},"data":{{"turn":1}}}}'
    assert event.time == START


def test_a_new_event_is_checked_like_a_read_one() -> None:
    with pytest.raises(RowError):
        new_event(TurnStart(turn=1), seq=0, time=START, placement="append", sources=())
