"""Dead letters: what was given up on, whole, with where it came from and why.

A dead letter carries the message's data and type, and the rest of it in headers, so that
whoever has removed the reason can publish it again (`DeadLetter.message`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from urllib.parse import quote, unquote

from remit.bus import cloudevents
from remit.bus.errors import NotAnEvent
from remit.bus.message import Delivery, Message
from remit.bus.subjects import deadletter

UNREADABLE = "remit.unreadable"
"""The type of a dead letter whose message could not be read at all."""

_REASON = "Remit-Dead-Reason"
_STREAM = "Remit-Dead-Stream"
_SEQUENCE = "Remit-Dead-Sequence"
_CONSUMER = "Remit-Dead-Consumer"
_ATTEMPTS = "Remit-Dead-Attempts"
_SUBJECT = "Remit-Dead-Subject"
_HEADERS = "Remit-Dead-Headers"
_LONGEST_REASON = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A message that was given up on.

    Attributes:
        message: The message as it was. Where it could not be read, only its subject, its
            data and `headers` mean anything.
        headers: Every header it had.
        reason: Why it was given up on.
        stream: The stream it was in.
        sequence: Its place there.
        consumer: Who gave up.
        attempts: How often it was tried.
    """

    message: Message
    headers: dict[str, str]
    reason: str
    stream: str
    sequence: int
    consumer: str
    attempts: int


def bury(delivery: Delivery, *, consumer: str, reason: str, readable: bool = True) -> Message:
    """Return the dead letter of a delivery. The same delivery has the same one, however often."""
    message = delivery.message
    headers = cloudevents.encode(message) if readable else dict(message.headers)
    return Message(
        subject=deadletter(delivery.stream),
        id=f"{delivery.stream}:{delivery.sequence}:{consumer}",
        type=message.type if readable else UNREADABLE,
        source="/remit/bus",
        data=message.data,
        content_type=message.content_type,
        schema=message.schema,
        trace=message.trace,
        headers={
            _REASON: quote(reason[:_LONGEST_REASON], errors="replace"),
            _STREAM: delivery.stream,
            _SEQUENCE: str(delivery.sequence),
            _CONSUMER: consumer,
            _ATTEMPTS: str(delivery.attempt),
            _SUBJECT: message.subject,
            _HEADERS: quote(json.dumps(headers)),
        },
    )


def read(delivery: Delivery) -> DeadLetter:
    """Return what a dead letter says.

    Raises:
        NotAnEvent: It is not a dead letter.
    """
    given = delivery.message.headers
    try:
        headers: dict[str, str] = json.loads(unquote(given[_HEADERS]))
        subject = given[_SUBJECT]
        if delivery.message.type == UNREADABLE:
            message = Message(
                subject=subject,
                id=delivery.message.id,
                type=UNREADABLE,
                source="",
                data=delivery.message.data,
                headers=headers,
            )
        else:
            message = cloudevents.decode(subject, headers, delivery.message.data)
        return DeadLetter(
            message=message,
            headers=headers,
            reason=unquote(given[_REASON]),
            stream=given[_STREAM],
            sequence=int(given[_SEQUENCE]),
            consumer=given[_CONSUMER],
            attempts=int(given[_ATTEMPTS]),
        )
    except (KeyError, ValueError) as error:
        raise NotAnEvent(delivery.message.subject, f"not a dead letter: {error}") from error
