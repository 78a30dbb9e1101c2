from __future__ import annotations

from typing import Any

import httpx
import pytest

from remit.harness.log.messages import ReasoningBlock, TextBlock, ToolCallBlock
from remit.harness.models import (
    Finish,
    ModelError,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    UsageReport,
)
from remit.harness.models.chat import ChatModel
from remit.harness.models.http import Limits
from support.harness import counting_ids
from support.model_wire import Wire, answer_of, assistant, sse, streaming, tool_result, user


def model_on(wire: Wire, max_tokens: int | None = None) -> ChatModel:
    return ChatModel(
        wire.client(),
        base_url="https://models.example/v1",
        model="m",
        api_key="k3y",
        max_tokens=max_tokens,
        context_window=None,
        limits=Limits(),
        new_id=counting_ids(),
    )


def choice(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def call(index: int, arguments: str, **more: Any) -> dict[str, Any]:
    function = {"arguments": arguments, **{k: v for k, v in more.items() if k == "name"}}
    rest = {k: v for k, v in more.items() if k != "name"}
    return choice(tool_calls=[{"index": index, "function": function, **rest}])


USAGE = {
    "choices": [],
    "usage": {
        "prompt_tokens": 15,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 5},
    },
}


async def test_an_answer_streams_as_typed_events() -> None:
    stream = sse(
        choice(role="assistant", content=""),
        choice(reasoning_content="Hm."),
        choice(content="I look."),
        call(0, "", id="t1", name="read"),
        call(0, '{"a":'),
        call(0, "1}"),
        call(1, "{}", name="glob"),
        choice(finish="tool_calls"),
        USAGE,
        "[DONE]",
    )
    assert await answer_of(model_on(streaming(stream))) == [
        ReasoningDelta(0, "Hm."),
        TextDelta(1, "I look."),
        ToolCallDelta(2, "t1", "read", ""),
        ToolCallDelta(2, "t1", None, '{"a":'),
        ToolCallDelta(2, "t1", None, "1}"),
        ToolCallDelta(3, "id-1", "glob", "{}"),
        UsageReport(input_tokens=10, output_tokens=7, cache_read_tokens=5),
        Finish("tool-calls"),
    ]


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"),
        ("length", "max-tokens"),
        ("content_filter", "refusal"),
        ("something new", "stop"),
    ],
)
async def test_every_finish_reason_has_a_meaning(reason: str, finish: str) -> None:
    events = await answer_of(model_on(streaming(sse(choice(reason, content="x")))))
    assert isinstance(events[-1], Finish)
    assert events[-1].kind == finish


async def test_tool_calls_count_even_where_the_provider_says_stop() -> None:
    stream = sse(call(0, "{}", id="t", name="read"), choice("stop"), "[DONE]")
    assert (await answer_of(model_on(streaming(stream))))[-1] == Finish("tool-calls")


async def test_the_request_is_what_the_interface_takes() -> None:
    wire = streaming(sse(choice("stop", content="ok")))
    await answer_of(
        model_on(wire, max_tokens=50),
        user("hi"),
        assistant(
            ReasoningBlock(text="Hm."),
            TextBlock(text="I look."),
            ToolCallBlock(id="t1", name="read", arguments=""),
        ),
        tool_result("t1", "found"),
        assistant(ToolCallBlock(id="t2", name="read", arguments='{"a": 1}')),
        tool_result("t2", "found too"),
        assistant(TextBlock(text="done")),
    )
    sent = wire.requests[0]
    assert str(sent.url) == "https://models.example/v1/chat/completions"
    assert sent.headers["authorization"] == "Bearer k3y"
    body = wire.body()
    assert body["messages"] == [
        {"role": "system", "content": "Be good."},
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "t1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "content": "found"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "t2",
                    "type": "function",
                    "function": {"name": "read", "arguments": '{"a": 1}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "t2", "content": "found too"},
        {"role": "assistant", "content": "done"},
    ]
    assert body["max_tokens"] == 50
    assert body["stream_options"] == {"include_usage": True}
    assert body["tools"][0]["function"]["name"] == "read"


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (sse(choice(content="half")), "TRANSPORT"),
        (sse("[DONE]"), "TRANSPORT"),
        (sse({"error": {"message": "overloaded"}}), "SERVER"),
        (sse("nonsense"), "BAD_RESPONSE"),
    ],
)
async def test_an_answer_without_its_end_is_a_failure(stream: bytes, code: str) -> None:
    with pytest.raises(ModelError) as broken:
        await answer_of(model_on(streaming(stream)))
    assert broken.value.code == code
    assert broken.value.retryable


async def test_a_refusal_says_why() -> None:
    wire = Wire(lambda: httpx.Response(401, text="who are you"))
    with pytest.raises(ModelError, match="answered 401: who are you") as refused:
        await answer_of(model_on(wire))
    assert not refused.value.retryable
