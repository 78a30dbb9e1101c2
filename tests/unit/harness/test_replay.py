from __future__ import annotations

import json
from typing import Any

import pytest

from remit.harness.log import conversation, read_log
from remit.harness.log.messages import text_of
from remit.harness.log.repair import closing_events

HEADER = '{"type":"session","version":4,"id":"s","createdAt":1,"isSeeded":false}\n'


def said(role: str, text: str | None) -> dict[str, Any]:
    sources: dict[str, Any] = {
        "system": {"kind": "system-prompt"},
        "developer": {"kind": "tool-registry"},
        "assistant": {"kind": "model", "provider": "p", "model": "m"},
    }
    message = {
        "role": role,
        "content": [] if text is None else [{"type": "text", "text": text}],
        "source": sources[role],
        "id": f"{role}-{text}",
    }
    data: dict[str, Any] = {"turn": 1, "step": 1, "message": message}
    if role == "assistant":
        data["stream"] = []
    return {"type": f"{role}/message", "data": data, "surfaceOp": "append"}


def log(*rows: dict[str, Any]) -> bytes:
    opening = [
        {"type": "turn/start", "data": {"turn": 1}},
        {"type": "step/start", "data": {"turn": 1, "step": 1}},
    ]
    return (HEADER + "".join(json.dumps(row) + "\n" for row in [*opening, *rows])).encode()


@pytest.mark.rule("LOG-2")
def test_messages_that_say_nothing_are_left_out_and_keep_their_place() -> None:
    read = read_log(
        log(
            said("system", ""),
            said("developer", None),
            said("assistant", None),
            said("developer", "note"),
            said("assistant", "hello"),
        )
    )
    replayed = conversation(read.record.surface)
    assert replayed.system is None
    assert [text_of(message.content) for message in replayed.messages] == ["note", "hello"]
    assert len(read.record.surface.nodes) == 5


@pytest.mark.rule("LOG-2")
def test_the_leading_system_message_stands_apart() -> None:
    replayed = conversation(read_log(log(said("system", "be good"))).record.surface)
    assert replayed.system is not None
    assert text_of(replayed.system.content) == "be good"
    assert replayed.messages == ()


def test_a_log_between_turns_needs_no_closing() -> None:
    assert closing_events(read_log(HEADER.encode()).record.lifecycle, 0) == []
