"""CloudEvents 1.0 in binary mode: a `Message` as NATS headers and a body, and back.

Attributes travel as ``ce-`` headers and ``content-type``, trace context as ``traceparent``
and ``tracestate``; values are percent-encoded where a header could not carry them, as the
HTTP binding says. Reading is tolerant: unknown headers pass through, unknown attributes
are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import quote, unquote

from remit.bus.errors import NotAnEvent, PublishRefused
from remit.bus.message import JSON, Message

SPEC_VERSION = "1.0"

_TRACE = ("traceparent", "tracestate")
_RESERVED = frozenset({"content-type", *_TRACE})
_NONE: Mapping[str, str] = MappingProxyType({})
_PLAIN = re.compile(r"[!#$&-~]*")
_SAFE = "".join(map(chr, range(0x21, 0x7F))).replace("%", "").replace('"', "")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


def encode(message: Message) -> dict[str, str]:
    """Return the headers that carry everything but the data.

    Raises:
        PublishRefused: A value or a further header cannot be carried.
    """
    try:
        headers = {
            "ce-specversion": SPEC_VERSION,
            "ce-id": _quoted(message.id),
            "ce-type": _quoted(message.type),
            "ce-source": _quoted(message.source),
            "content-type": message.content_type,
            "ce-schemaversion": str(message.schema),
        }
    except UnicodeEncodeError as error:
        raise PublishRefused(message.subject, 0, "a lone surrogate in an attribute") from error
    if message.commit is not None:
        headers["ce-commit"] = str(message.commit)
    if message.trace:
        headers.update(message.trace)
    for name, value in message.headers.items():
        if _is_reserved(name) or not _NAME.fullmatch(name):
            raise PublishRefused(message.subject, 0, f"the header {name!r} is not for senders")
        headers[name] = value
    return headers


def decode(subject: str, headers: Mapping[str, str] | None, data: bytes) -> Message:
    """Read a message from what was stored.

    Raises:
        NotAnEvent: A required attribute is missing or unreadable.
    """
    given = headers or _NONE
    if "ce-id" not in given:
        given = {name.lower() if _is_reserved(name) else name: given[name] for name in given}
    version = given.get("ce-specversion")
    if version is None or not version.startswith("1."):
        raise NotAnEvent(subject, f"ce-specversion is {version!r}, not {SPEC_VERSION!r}")
    return Message(
        subject=subject,
        id=_required(subject, given, "ce-id"),
        type=_required(subject, given, "ce-type"),
        source=_required(subject, given, "ce-source"),
        data=data,
        content_type=given.get("content-type", JSON),
        schema=_number(subject, given, "ce-schemaversion") or 1,
        trace={name: given[name] for name in _TRACE if name in given},
        commit=_number(subject, given, "ce-commit"),
        headers=further(given),
    )


def further(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that are neither attributes, nor trace context, nor the server's."""
    return {name: value for name, value in headers.items() if not _is_reserved(name)}


def size(headers: Mapping[str, str], data: bytes) -> int:
    """Return how many bytes the server counts for a message."""
    return 14 + len(data) + sum(len(n) + len(v.encode()) + 4 for n, v in headers.items())


def _is_reserved(name: str) -> bool:
    lower = name.lower()
    return lower.startswith(("ce-", "nats-")) or lower in _RESERVED


def _quoted(value: str) -> str:
    return value if _PLAIN.fullmatch(value) else quote(value, safe=_SAFE)


def _required(subject: str, headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise NotAnEvent(subject, f"{name} is missing")
    return unquote(value) if "%" in value else value


def _number(subject: str, headers: Mapping[str, str], name: str) -> int | None:
    value = headers.get(name)
    if value is None:
        return None
    if not (value.isascii() and value.isdigit()):
        raise NotAnEvent(subject, f"{name} is {value!r}, not a number")
    return int(value)
