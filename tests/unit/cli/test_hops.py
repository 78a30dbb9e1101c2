from __future__ import annotations

import json
from typing import Any

import pytest

from remit.bus.message import Delivery, Message
from remit.cli.demo.hops import Stage, hops_in
from support.domain import NOW, trigger


def stored(stream: str, data: object) -> Delivery:
    body = data.encode() if isinstance(data, str) else json.dumps(data).encode()
    message = Message(subject="x", id="x", type="x", source="x", data=body)
    return Delivery(message=message, stream=stream, sequence=1, stored_at=NOW)


def told(event: dict[str, Any]) -> list[tuple[str, str, Stage | None]]:
    return [
        (hop.part, hop.what, hop.stage) for hop in hops_in(stored("TICKET", {"events": [event]}))
    ]


def test_a_trigger_tells_who_wrote_it_and_where() -> None:
    (hop,) = hops_in(stored("TRIGGER", trigger(1).model_dump_json()))
    assert hop.stage is Stage.RECEIVED
    assert "github:issue_comment/1 by alice, on Thread github:" in hop.what
    assert hop.at == NOW


@pytest.mark.parametrize(
    ("event", "part", "what", "stage"),
    [
        (
            {"event": "trigger_appended", "home": True, "reached": ["t-1"]},
            "ticket",
            "the message fans out to t-1",
            None,
        ),
        (
            {"event": "eval_started", "batch": [1, 2]},
            "eval",
            "Eval of 2 Trigger(s)",
            Stage.EVALUATING,
        ),
        (
            {
                "event": "decision_recorded",
                "decision": {"outcome": "accept", "rules": ["r"]},
                "ticket": "t-1",
            },
            "ticket",
            "Decision accept by rule r opens t-1",
            Stage.ACCEPTED,
        ),
        (
            {"event": "decision_recorded", "decision": {"outcome": "ignore"}, "ticket": None},
            "ticket",
            "Decision ignore",
            Stage.ACCEPTED,
        ),
        ({"event": "input_added", "ref": {"number": 2}}, "ticket", "Input 2 waits", Stage.SECOND),
        ({"event": "input_added", "ref": {"number": 1}}, "ticket", "Input 1 waits", None),
        (
            {"event": "write_requested", "write": {"kind": "pull_request"}},
            "ticket",
            "asks the Channel for: pull request",
            Stage.PROPOSED,
        ),
        (
            {
                "event": "write_settled",
                "kind": "reply",
                "receipt": {"outcome": "refused", "reason": "the issue is locked"},
            },
            "channel",
            "reply refused the issue is locked",
            None,
        ),
    ],
)
def test_an_event_is_told_in_a_line(
    event: dict[str, Any], part: str, what: str, stage: Stage | None
) -> None:
    assert told(event) == [(part, what, stage)]


@pytest.mark.parametrize(
    "event", [{"event": "message_heard"}, {"event": "trigger_appended", "home": False}]
)
def test_what_nobody_needs_to_follow_is_not_told(event: dict[str, Any]) -> None:
    assert told(event) == []
