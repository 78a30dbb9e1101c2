"""What travels on the bus: CloudEvents 1.0 in NATS binary mode.

The attributes are carried as ``ce-`` headers, the payload as the body
(https://github.com/cloudevents/spec, NATS protocol binding).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

JSON = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message, before or after it was stored.

    Attributes:
        subject: The NATS subject, its tokens already encoded.
        id: Names the fact, not the attempt: a retry repeats it. Sent as ``ce-id``
            and as ``Nats-Msg-Id``.
        type: What kind of fact it is, such as ``remit.trigger``.
        source: Which part of Remit says so, such as ``/remit/source``.
        data: The payload.
        content_type: The payload's media type.
        schema: The version of the payload's shape; readers ignore fields they do not know.
        trace: W3C trace context of the span that caused it (``traceparent``, ``tracestate``).
        commit: The stream sequence of the commit that caused it, where one did;
            whoever needs order uses it.
        deliver_at: When set, the bus holds the message back until then (a timer).
        headers: Further headers, passed through as they are.
    """

    subject: str
    id: str
    type: str
    source: str
    data: bytes
    content_type: str = JSON
    schema: int = 1
    trace: Mapping[str, str] = field(default_factory=dict)
    commit: int | None = None
    deliver_at: datetime | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """A message as it was read from a stream.

    Attributes:
        message: The message.
        stream: The stream that holds it.
        sequence: Its place in that stream.
        stored_at: When the server stored it.
        attempt: 1 for the first delivery to a consumer, higher for each further one;
            0 where it was read directly.
    """

    message: Message
    stream: str
    sequence: int
    stored_at: datetime
    attempt: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """The server's answer to a publish.

    Attributes:
        stream: The stream that took the message.
        sequence: Its place there; for a duplicate, the place of the first one.
        duplicate: The message was there already, and nothing was stored.
    """

    stream: str
    sequence: int
    duplicate: bool = False
