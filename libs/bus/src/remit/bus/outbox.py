"""The outbox: messages that a commit causes, kept in the commit until they are relayed."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime

from pydantic import BaseModel, ConfigDict, ValidationError

from remit.bus.errors import NotAnEvent
from remit.bus.message import JSON, Delivery, Message


class OutboxRecord(BaseModel):
    """One message as a commit keeps it.

    Attributes:
        data: The payload, where it is text.
        data_base64: The payload, where it is not.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    subject: str
    id: str
    type: str
    source: str
    data: str | None = None
    data_base64: str | None = None
    content_type: str = JSON
    schema_version: int = 1
    trace: dict[str, str] = {}
    deliver_at: datetime | None = None
    headers: dict[str, str] = {}


class _Caused(BaseModel):
    model_config = ConfigDict(extra="ignore")

    outbox: tuple[OutboxRecord, ...] = ()


def pack(message: Message) -> OutboxRecord:
    """Return a message as a commit keeps it. Its ``commit`` is not kept: the relay knows it."""
    try:
        text, encoded = message.data.decode(), None
    except UnicodeDecodeError:
        text, encoded = None, b64encode(message.data).decode()
    return OutboxRecord(
        subject=message.subject,
        id=message.id,
        type=message.type,
        source=message.source,
        data=text,
        data_base64=encoded,
        content_type=message.content_type,
        schema_version=message.schema,
        trace=dict(message.trace),
        deliver_at=message.deliver_at,
        headers=dict(message.headers),
    )


def caused_by(commit: Delivery) -> Sequence[Message]:
    """Return the messages that a commit causes, each stamped with the commit's sequence.

    Raises:
        NotAnEvent: The commit cannot be read.
    """
    try:
        caused = _Caused.model_validate_json(commit.message.data)
    except ValidationError as error:
        raise NotAnEvent(commit.message.subject, f"no readable outbox: {error}") from error
    return [_unpack(record, commit.sequence) for record in caused.outbox]


def _unpack(record: OutboxRecord, commit: int) -> Message:
    if record.data_base64 is not None:
        data = b64decode(record.data_base64)
    else:
        data = (record.data or "").encode()
    return Message(
        subject=record.subject,
        id=record.id,
        type=record.type,
        source=record.source,
        data=data,
        content_type=record.content_type,
        schema=record.schema_version,
        trace=record.trace,
        commit=commit,
        deliver_at=record.deliver_at,
        headers=record.headers,
    )
