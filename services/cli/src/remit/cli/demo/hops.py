"""How a message travels: what the streams tell, as lines that people can follow."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from remit.bus import subjects
from remit.bus.message import Delivery

WATCHED: Mapping[str, str] = {
    "TRIGGER": subjects.TRIGGERS,
    "THREAD": subjects.THREADS,
    "TICKET": subjects.TICKETS,
    "DISPOSITION": subjects.DISPOSITIONS,
}
"""The streams that tell, and on which subjects."""


class Stage(StrEnum):
    """Points of the way at which something can be made to go wrong."""

    RECEIVED = "received"
    """A delivery became a Trigger."""
    EVALUATING = "evaluating"
    """An Eval was asked for."""
    ACCEPTED = "accepted"
    """The Decision was recorded."""
    WORKING = "working"
    """An Executor took the Assignment."""
    PROPOSED = "proposed"
    """The pull request was asked for."""
    REPORTED = "reported"
    """The agent reported its result."""
    SECOND = "second"
    """The second message reached the Ticket."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """One step of the way.

    Attributes:
        at: When it was stored.
        part: Who did it.
        what: What happened.
        stage: The stage that begins with it.
    """

    at: datetime
    part: str
    what: str
    stage: Stage | None = None


def hops_in(delivery: Delivery) -> Iterator[Hop]:
    """Yield the steps that a stored message tells of."""
    data = json.loads(delivery.message.data)
    match delivery.stream:
        case "TRIGGER":
            who = data["actor"]["name"]
            what = f"Trigger {data['id']} by {who}, on Thread {data['threads'][0]}"
            yield Hop(at=delivery.stored_at, part="source", what=what, stage=Stage.RECEIVED)
        case "DISPOSITION":
            yield Hop(at=delivery.stored_at, part="ticket", what=_disposition(data))
        case _:
            for event in data["events"]:
                tell = _TELL.get(event["event"])
                hop = tell(event) if tell else None
                if hop is not None:
                    part, what, stage = hop
                    yield Hop(at=delivery.stored_at, part=part, what=what, stage=stage)


_Told = tuple[str, str, Stage | None] | None
_Event = Mapping[str, Any]


def _disposition(data: _Event) -> str:
    said = f"Disposition of {data['trigger']}: {data['kind']} ({data['reason']})"
    tickets = ", ".join(data["tickets"])
    return f"{said} → {tickets}" if tickets else said


def _appended(event: _Event) -> _Told:
    if not event["home"]:
        return None
    reached = event["reached"]
    if reached:
        return "ticket", f"the message fans out to {', '.join(reached)}", None
    return "ticket", "the Thread took the Trigger", None


def _decided(event: _Event) -> _Told:
    decision = event["decision"]
    said = f"Decision {decision['outcome']}"
    if rules := decision.get("rules"):
        said += f" by rule {', '.join(rules)}"
    if event.get("ticket"):
        said += f" opens {event['ticket']}"
    return "ticket", said, Stage.ACCEPTED


def _input(event: _Event) -> _Told:
    number = event["ref"]["number"]
    return "ticket", f"Input {number} waits", Stage.SECOND if number == 2 else None


def _asked_to_write(event: _Event) -> _Told:
    kind = event["write"]["kind"]
    stage = Stage.PROPOSED if kind == "pull_request" else None
    return "ticket", f"asks the Channel for: {kind.replace('_', ' ')}", stage


def _written(event: _Event) -> _Told:
    receipt = event["receipt"]
    where = receipt.get("url") or receipt.get("reason") or ""
    return (
        "channel",
        f"{event['kind'].replace('_', ' ')} {receipt['outcome']} {where}".strip(),
        None,
    )


_TELL: Mapping[str, Callable[[_Event], _Told]] = {
    "trigger_appended": _appended,
    "eval_started": lambda event: (
        "eval",
        f"Eval of {len(event['batch'])} Trigger(s)",
        Stage.EVALUATING,
    ),
    "eval_discarded": lambda event: ("ticket", f"Eval discarded: {event['reason']}", None),
    "decision_recorded": _decided,
    "ticket_opened": lambda event: (
        "ticket",
        f"Ticket {event['ticket']} “{event['title']}” under its Mandate",
        None,
    ),
    "ticket_ended": lambda _: ("ticket", "Ticket ended", None),
    "input_added": _input,
    "input_delivered": lambda event: (
        "executor",
        f"the agent has read Input {event['number']}",
        None,
    ),
    "assignment_offered": lambda event: (
        "ticket",
        f"Assignment {event['number']} is offered",
        None,
    ),
    "assignment_started": lambda event: (
        "executor",
        f"Assignment taken by {event['host']}",
        Stage.WORKING,
    ),
    "assignment_taken_over": lambda event: (
        "executor",
        f"Assignment taken over by {event['host']}",
        None,
    ),
    "report_taken": lambda event: (
        "executor",
        f"Report {event['report']['kind']}: {event['report']['text']}",
        Stage.REPORTED,
    ),
    "attention_opened": lambda event: (
        "ticket",
        f"asks a person: {event['attention']['question']}",
        None,
    ),
    "write_requested": _asked_to_write,
    "write_settled": _written,
    "thread_joined": lambda event: ("ticket", f"follows {event['thread']['key']}", None),
}
