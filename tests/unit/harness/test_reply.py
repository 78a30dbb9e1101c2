from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harness.log import expand
from remit.harness.log.messages import ReasoningBlock, TextBlock, ToolCallBlock
from remit.harness.loop.reply import Reply
from remit.harness.models import (
    Finish,
    ModelError,
    ModelEvent,
    ReasoningDelta,
    ReasoningSignature,
    TextDelta,
    ToolCallDelta,
    UsageReport,
)
from support.harness import TickingClock


def reply_of(*events: ModelEvent) -> Reply:
    reply = Reply(TickingClock(), provider="messages", model="m")
    for event in events:
        reply.feed(event)
    return reply


def chunks(reply: Reply) -> list[dict[str, Any]]:
    return [timed.chunk for timed in expand(reply.stream())]


WHOLE: list[ModelEvent] = [
    ReasoningDelta(0, ""),
    ReasoningDelta(0, "Hm."),
    ReasoningSignature(0, "sig"),
    TextDelta(1, "I "),
    TextDelta(1, "look."),
    ToolCallDelta(2, "c1", "read", ""),
    ToolCallDelta(2, "c1", None, '{"a": 1}'),
    UsageReport(10, 7, 5),
    Finish("tool-calls"),
]


def test_an_answer_becomes_blocks_in_their_order() -> None:
    reply = reply_of(*WHOLE)
    assert reply.content() == (
        ReasoningBlock(text="Hm."),
        TextBlock(text="I look."),
        ToolCallBlock(id="c1", name="read", arguments='{"a": 1}'),
    )
    assert reply.finish == "tool-calls"
    assert reply.usage is not None
    assert reply.usage.total_tokens == 22


@pytest.mark.rule("LOG-4")
def test_the_stream_holds_every_delta_between_the_ends_of_its_block() -> None:
    assert chunks(reply_of(*WHOLE)) == [
        {"type": "block-start", "index": 0, "blockType": "reasoning"},
        {"type": "reasoning-delta", "index": 0, "text": "Hm."},
        {"type": "block-end", "index": 0, "block": {"type": "reasoning", "text": "Hm."}},
        {"type": "block-start", "index": 1, "blockType": "text"},
        {"type": "text-delta", "index": 1, "text": "I "},
        {"type": "text-delta", "index": 1, "text": "look."},
        {"type": "block-end", "index": 1, "block": {"type": "text", "text": "I look."}},
        {"type": "block-start", "index": 2, "blockType": "tool-call"},
        {"type": "tool-call-delta", "index": 2, "id": "c1", "name": "read", "argumentsDelta": ""},
        {"type": "tool-call-delta", "index": 2, "id": "c1", "argumentsDelta": '{"a": 1}'},
        {
            "type": "block-end",
            "index": 2,
            "block": {"type": "tool-call", "id": "c1", "name": "read", "arguments": '{"a": 1}'},
        },
        {
            "type": "usage",
            "usage": {
                "inputTokens": 10,
                "outputTokens": 7,
                "cacheReadTokens": 5,
                "cacheWriteTokens": 0,
                "totalTokens": 22,
            },
        },
        {
            "type": "finish",
            "reason": {"kind": "tool-calls"},
            "replayState": {
                "response": {"kind": "messages", "version": 1, "model": "m"},
                "blocks": [
                    {"type": "reasoning", "signature": "sig"},
                    {"type": "text"},
                    {"type": "tool-call"},
                ],
            },
        },
    ]


def test_an_answer_that_nothing_was_signed_in_needs_no_replay_state() -> None:
    assert reply_of(TextDelta(0, "a"), Finish("stop")).replay_state() is None


def test_usage_in_the_middle_of_a_block_does_not_cut_it() -> None:
    reply = reply_of(TextDelta(0, "a"), UsageReport(1, 1), TextDelta(0, "b"), UsageReport(1, 2))
    assert reply.content() == (TextBlock(text="ab"),)
    assert reply.usage is not None
    assert reply.usage.output_tokens == 2


def test_text_that_comes_back_after_a_call_is_another_block() -> None:
    reply = reply_of(TextDelta(1, "a"), ToolCallDelta(2, "c", "read", "{}"), TextDelta(1, "b"))
    assert [block.type for block in reply.content()] == ["text", "tool-call", "text"]


def test_an_answer_that_is_cut_short_keeps_what_was_said_before_its_first_call() -> None:
    reply = reply_of(*WHOLE[:7], TextDelta(3, "more"))
    reply.cut_short()
    assert reply.content() == (ReasoningBlock(text="Hm."), TextBlock(text="I look."))
    assert chunks(reply)[-1]["type"] == "block-end"
    assert all(chunk["index"] < 2 for chunk in chunks(reply))


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([ToolCallDelta(0, "c", None, "{}")], "without a name"),
        ([ToolCallDelta(0, "", "read", "{}")], "without a name"),
        (
            [ToolCallDelta(0, "c", "read", "{}"), ToolCallDelta(1, "c", "read", "{}")],
            "two tool calls with the id c",
        ),
        (
            [
                ToolCallDelta(0, "c", "read", "{"),
                ToolCallDelta(1, "d", "read", "{}"),
                ToolCallDelta(0, "c", None, "}"),
            ],
            "after it ended",
        ),
    ],
)
def test_what_makes_no_sense_is_a_failure_that_may_be_tried_again(
    events: list[ModelEvent], problem: str
) -> None:
    with pytest.raises(ModelError, match=problem) as refused:
        reply_of(*events)
    assert refused.value.retryable


@pytest.mark.rule("LOG-4")
@given(st.lists(st.tuples(st.integers(0, 3), st.text(max_size=3), st.booleans()), max_size=12))
def test_whatever_arrives_the_deltas_of_a_block_make_its_text(
    pieces: list[tuple[int, str, bool]],
) -> None:
    reply = reply_of(
        *(TextDelta(i, text) if spoken else ReasoningDelta(i, text) for i, text, spoken in pieces),
        Finish("stop"),
    )
    texts: dict[int, str] = {}
    for chunk in chunks(reply):
        if chunk["type"].endswith("-delta"):
            texts[chunk["index"]] = texts.get(chunk["index"], "") + chunk["text"]
        elif chunk["type"] == "block-end":
            assert chunk["block"]["text"] == texts.get(chunk["index"], "")
    assert [block.to_json()["text"] for block in reply.content()] == [
        texts.get(index, "") for index in range(len(reply.content()))
    ]
