"""The bus as an AsyncAPI 3.0 document, generated from the models and the streams.

``python -m remit.runtime.asyncapi`` prints it; the copy under ``docs/`` is checked in tests.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from pydantic import BaseModel, TypeAdapter

from remit.bus import subjects
from remit.bus.streams import stream_of
from remit.domain.channel import ChannelWrite
from remit.domain.disposition import Disposition
from remit.domain.inputs import Input
from remit.domain.messages import (
    EvalRequest,
    EvalResult,
    EventDropped,
    FromAssignment,
    Offer,
    PolicyInForce,
    ToThread,
    ToTicket,
)
from remit.domain.thread import Thread, ThreadEvent
from remit.domain.ticket import Ticket, TicketEvent
from remit.domain.trigger import Trigger

VERSION = "1.0.0"
"""The version of the messages' shapes: raised when a reader would have to change."""

_PAYLOADS: dict[str, tuple[str, Any, str]] = {
    "trigger": (subjects.trigger("s", "t", "h"), Trigger, "A Trigger entered the domain."),
    "evalRequest": (subjects.eval_request("t"), EvalRequest, "Judge a batch of a Thread."),
    "evalResult": (subjects.eval_result("t"), EvalResult, "What an Eval came to."),
    "threadCommand": (subjects.command_thread("t"), ToThread, "Ask something of a Thread."),
    "ticketCommand": (subjects.command_ticket("t"), ToTicket, "Ask something of a Ticket."),
    "report": (subjects.report("t"), FromAssignment, "An Executor speaks for its Assignment."),
    "offer": (subjects.assignment("e", "t"), Offer, "An Assignment waits for an Executor."),
    "input": (subjects.input_("t"), Input, "What a Ticket's Executor is to read."),
    "channelWrite": (subjects.channel("s", "t"), ChannelWrite, "Write to a provider, once."),
    "disposition": (subjects.disposition("t"), Disposition, "What became of a Trigger."),
    "policy": (subjects.policy("p"), PolicyInForce, "A version of the Policy was applied."),
    "eventDropped": (subjects.drop("s", "r"), EventDropped, "An event became no Trigger."),
}
_COMMITS: dict[str, tuple[str, type[BaseModel], Any]] = {
    "threadCommit": (subjects.thread("t"), Thread, ThreadEvent),
    "ticketCommit": (subjects.ticket("t"), Ticket, TicketEvent),
}
_HEADERS = {
    "type": "object",
    "description": "CloudEvents 1.0 in NATS binary mode, and W3C Trace Context.",
    "required": ["ce-specversion", "ce-id", "ce-type", "ce-source"],
    "properties": {
        "ce-specversion": {"const": "1.0"},
        "ce-id": {"type": "string", "description": "Names the fact; a retry repeats it."},
        "ce-type": {"type": "string"},
        "ce-source": {"type": "string"},
        "traceparent": {"type": "string"},
        "tracestate": {"type": "string"},
    },
}


def document() -> dict[str, Any]:
    """Return the document."""
    schemas: dict[str, Any] = {}
    channels: dict[str, Any] = {}
    messages: dict[str, Any] = {}
    operations: dict[str, Any] = {}

    def add(name: str, subject: str, payload: dict[str, Any], summary: str) -> None:
        stream = stream_of(subject)
        if stream is None:
            raise LookupError(f"no stream stores {subject}")
        address = subjects.template(subject)
        messages[name] = {
            "summary": summary,
            "contentType": "application/json",
            "headers": {"$ref": "#/components/schemas/Headers"},
            "payload": payload,
        }
        channels[name] = {
            "address": address,
            "description": f"Stream {stream.name} ({stream.retention}): {stream.why}",
            "parameters": {token: {} for token in re.findall(r"{(\w+)}", address)},
            "messages": {name: {"$ref": f"#/components/messages/{name}"}},
        }
        operations[name] = {
            "action": "send",
            "channel": {"$ref": f"#/channels/{name}"},
            "messages": [{"$ref": f"#/channels/{name}/messages/{name}"}],
        }

    for name, (subject, model, summary) in _PAYLOADS.items():
        add(name, subject, _schema(model, schemas), summary)
    for name, (subject, state, event) in _COMMITS.items():
        payload = {
            "type": "object",
            "required": ["id", "at", "events", "outbox", "state"],
            "properties": {
                "id": {"type": "string"},
                "at": {"type": "string", "format": "date-time"},
                "events": {"type": "array", "items": _schema(event, schemas)},
                "outbox": {"type": "array", "items": {"type": "object"}},
                "state": _schema(state, schemas),
            },
        }
        add(name, subject, payload, f"A commit of a {state.__name__}.")
    schemas["Headers"] = _HEADERS
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Remit",
            "version": VERSION,
            "description": "What the services of Remit say to each other over NATS JetStream.",
            "license": {"name": "Apache-2.0"},
        },
        "channels": dict(sorted(channels.items())),
        "operations": dict(sorted(operations.items())),
        "components": {
            "messages": dict(sorted(messages.items())),
            "schemas": dict(sorted(schemas.items())),
        },
    }


def _schema(model: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    template = "#/components/schemas/{model}"
    schema = TypeAdapter(model).json_schema(mode="serialization", ref_template=template)
    schemas.update(schema.pop("$defs", {}))
    return schema


def main() -> None:
    """Print the document."""
    json.dump(document(), sys.stdout, indent=1, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
