from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from remit.harness.log.messages import ReasoningBlock, TextBlock, ToolCallBlock
from remit.harness.models import (
    Finish,
    ModelError,
    ReasoningDelta,
    ReasoningSignature,
    TextDelta,
    ToolCallDelta,
    UsageReport,
)
from remit.harness.models.http import Limits
from remit.harness.models.messages import MessagesModel
from support.model_wire import (
    Wire,
    answer_of,
    assistant,
    request,
    sse,
    streaming,
    tool_result,
    user,
)


def model_on(wire: Wire, limits: Limits | None = None) -> MessagesModel:
    return MessagesModel(
        wire.client(),
        base_url="https://models.example/api/",
        model="m",
        api_key="k3y",
        max_tokens=100,
        context_window=None,
        limits=limits or Limits(),
    )


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **part: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": part}


def stop(reason: str, **usage: int) -> list[dict[str, Any]]:
    return [
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]


MESSAGE_START = {
    "type": "message_start",
    "message": {"usage": {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 5}},
}
ANSWER = sse(
    MESSAGE_START,
    start(0, type="thinking", thinking="", signature=""),
    delta(0, type="thinking_delta", thinking="Hm."),
    delta(0, type="signature_delta", signature="sig"),
    {"type": "content_block_stop", "index": 0},
    {"type": "ping"},
    start(1, type="text", text=""),
    delta(1, type="text_delta", text="I "),
    delta(1, type="text_delta", text="look."),
    start(2, type="tool_use", id="t1", name="read", input={}),
    delta(2, type="input_json_delta", partial_json='{"a":'),
    delta(2, type="input_json_delta", partial_json="1}"),
    *stop("tool_use", output_tokens=7),
)


async def test_an_answer_streams_as_typed_events() -> None:
    assert await answer_of(model_on(streaming(ANSWER[:50], ANSWER[50:333], ANSWER[333:]))) == [
        ReasoningDelta(0, ""),
        ReasoningDelta(0, "Hm."),
        ReasoningSignature(0, "sig"),
        TextDelta(1, "I "),
        TextDelta(1, "look."),
        ToolCallDelta(2, "t1", "read", ""),
        ToolCallDelta(2, "t1", None, '{"a":'),
        ToolCallDelta(2, "t1", None, "1}"),
        UsageReport(input_tokens=10, output_tokens=7, cache_read_tokens=5),
        Finish("tool-calls"),
    ]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("max_tokens", "max-tokens"),
        ("refusal", "refusal"),
        ("something new", "stop"),
    ],
)
async def test_every_stop_reason_has_a_meaning(reason: str, finish: str) -> None:
    events = await answer_of(model_on(streaming(sse(MESSAGE_START, *stop(reason)))))
    assert isinstance(events[-1], Finish)
    assert events[-1].kind == finish


async def test_the_request_is_what_the_interface_takes() -> None:
    wire = streaming(ANSWER)
    replay = {
        "response": {"kind": "messages", "version": 1, "model": "m"},
        "blocks": [{"type": "reasoning", "signature": "sig"}, {"type": "text"}],
    }
    await answer_of(
        model_on(wire),
        user("hi"),
        user("facts", kind="runtime-context"),
        assistant(
            ReasoningBlock(text="Hm."),
            TextBlock(text="I look."),
            ToolCallBlock(id="t1", name="read", arguments='{"a": 1}'),
            ToolCallBlock(id="t2", name="read", arguments="not json"),
            replay=replay,
        ),
        tool_result("t1", "found"),
        tool_result("t2", "Error: no", failed=True),
        user("and?"),
    )
    sent = wire.requests[0]
    assert str(sent.url) == "https://models.example/api/v1/messages"
    assert sent.headers["x-api-key"] == "k3y"
    assert sent.headers["anthropic-version"] == "2023-06-01"
    assert wire.body() == {
        "model": "m",
        "max_tokens": 100,
        "stream": True,
        "system": "Be good.",
        "tools": [
            {
                "name": "read",
                "description": "Reads.",
                "input_schema": {"type": "object", "properties": {}},
            }
        ],
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "hi"}, {"type": "text", "text": "facts"}],
            },
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Hm.", "signature": "sig"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t1", "name": "read", "input": {"a": 1}},
                    {
                        "type": "tool_use",
                        "id": "t2",
                        "name": "read",
                        "input": {"invalid_arguments": "not json"},
                    },
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "t1",
                        "content": [{"type": "text", "text": "found"}],
                        "is_error": False,
                    },
                    {
                        "type": "tool_result",
                        "tool_use_id": "t2",
                        "content": [{"type": "text", "text": "Error: no"}],
                        "is_error": True,
                    },
                    {"type": "text", "text": "and?"},
                ],
            },
        ],
    }


@pytest.mark.parametrize(
    "replay",
    [
        None,
        {"response": {"kind": "messages", "version": 1, "model": "another"}, "blocks": []},
        {"response": {"kind": "other", "version": 1, "model": "m"}},
    ],
)
async def test_reasoning_of_another_model_is_not_shown_to_this_one(
    replay: dict[str, Any] | None,
) -> None:
    wire = streaming(ANSWER)
    said = assistant(ReasoningBlock(text="Hm."), TextBlock(text="ok"), replay=replay)
    await answer_of(model_on(wire), user("hi"), said, user("go on"))
    assert wire.body()["messages"][1]["content"] == [{"type": "text", "text": "ok"}]


STATUSES = [
    (400, "BAD_REQUEST", False),
    (401, "AUTH", False),
    (403, "AUTH", False),
    (404, "BAD_REQUEST", False),
    (408, "TIMEOUT", True),
    (409, "BAD_REQUEST", True),
    (429, "RATE_LIMIT", True),
    (500, "SERVER", True),
    (529, "SERVER", True),
]


@pytest.mark.parametrize(("status", "code", "retryable"), STATUSES)
async def test_a_refusal_says_why_and_whether_to_try_again(
    status: int, code: str, retryable: bool
) -> None:
    body = {"error": {"type": "x", "message": "too many of you"}}
    wire = Wire(lambda: httpx.Response(status, json=body, headers={"retry-after": "7"}))
    with pytest.raises(ModelError, match=f"answered {status}: too many of you") as refused:
        await answer_of(model_on(wire))
    error = refused.value
    assert (error.code, error.status, error.retryable) == (code, status, retryable)
    assert error.retry_after == 7.0
    assert "k3y" not in str(error)


async def test_a_redirect_is_a_refusal_too() -> None:
    wire = Wire(lambda: httpx.Response(302, headers={"location": "https://elsewhere.example"}))
    with pytest.raises(ModelError, match="answered 302"):
        await answer_of(model_on(wire))


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("1.5", 1.5),
        ("-3", 0.0),
        ("Tue, 01 Sep 2026 10:00:30 GMT", 30.0),
        ("Tue, 01 Sep 2026 09:00:00 GMT", 0.0),
        ("soon", None),
    ],
)
async def test_a_retry_hint_is_read_in_either_form(value: str, seconds: float | None) -> None:
    headers = {"retry-after": value, "date": "Tue, 01 Sep 2026 10:00:00 GMT"}
    wire = Wire(lambda: httpx.Response(429, headers=headers))
    with pytest.raises(ModelError) as refused:
        await answer_of(model_on(wire))
    assert refused.value.retry_after == seconds


BROKEN: list[tuple[list[bytes | Exception], str, bool]] = [
    ([ANSWER[:-60]], "TRANSPORT", True),
    ([b""], "TRANSPORT", True),
    ([ANSWER[:100], httpx.ReadError("reset")], "TRANSPORT", True),
    ([ANSWER[:100], httpx.ReadTimeout("slow")], "TIMEOUT", True),
    ([b"data: nonsense\n\n"], "BAD_RESPONSE", True),
    ([b"data: []\n\n"], "BAD_RESPONSE", True),
    ([sse({"type": "content_block_delta", "delta": {}})], "BAD_RESPONSE", True),
    ([sse({"type": "content_block_start", "index": 0})], "BAD_RESPONSE", True),
    ([sse({"type": "error", "error": {"type": "overloaded_error"}})], "SERVER", True),
    ([sse({"type": "error", "error": {"type": "rate_limit_error"}})], "RATE_LIMIT", True),
    ([sse({"type": "error", "error": {"type": "invalid_request_error"}})], "SERVER", False),
]


@pytest.mark.parametrize(("pieces", "code", "retryable"), BROKEN)
async def test_an_answer_that_breaks_off_is_a_failure(
    pieces: list[bytes | Exception], code: str, retryable: bool
) -> None:
    with pytest.raises(ModelError) as broken:
        await answer_of(model_on(streaming(*pieces)))
    assert (broken.value.code, broken.value.retryable) == (code, retryable)


async def test_an_endpoint_that_cannot_be_reached_is_a_failure() -> None:
    def refuse() -> httpx.Response:
        raise httpx.ConnectError("refused")

    with pytest.raises(ModelError, match=r"models\.example/api/v1/messages failed") as broken:
        await answer_of(model_on(Wire(refuse)))
    assert broken.value.retryable


async def test_an_answer_may_take_only_so_long_in_all() -> None:
    wire = streaming(ANSWER[:300], asyncio.Event())
    with pytest.raises(ModelError, match="within 0 s") as late:
        await answer_of(model_on(wire, Limits(total=0)))
    assert wire.closed
    assert (late.value.code, late.value.retryable) == ("TIMEOUT", True)


async def test_an_answer_that_nobody_wants_any_more_is_let_go_of() -> None:
    wire = streaming(ANSWER[:300], ANSWER[300:])
    stream = model_on(wire).stream(request())
    await anext(stream)
    assert not wire.closed
    await stream.aclose()
    assert wire.closed


async def test_a_text_that_utf_8_cannot_carry_is_sent_all_the_same() -> None:
    wire = streaming(ANSWER)
    await answer_of(model_on(wire), user("half a pair: \ud83d"))
    assert wire.body()["messages"][0]["content"][0]["text"] == "half a pair: \ud83d"
    assert wire.requests[0].headers["content-type"] == "application/json"


async def test_a_key_that_is_not_set_is_not_sent() -> None:
    wire = streaming(ANSWER)
    model = MessagesModel(
        wire.client(),
        base_url="https://models.example",
        model="m",
        api_key=None,
        max_tokens=5,
        context_window=None,
        limits=Limits(),
    )
    await answer_of(model)
    assert "x-api-key" not in wire.requests[0].headers
