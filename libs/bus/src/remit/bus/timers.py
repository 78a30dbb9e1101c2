"""Timers: messages that the bus holds back until their time.

A timer is held on a subject of its own, named after its target and its id
(`remit.bus.subjects.timer_of`), in the stream of its target. Storing another one there
replaces it, removing it cancels it, and when it fires the server stores the message on its
target and removes the holder in one step: once, also across a restart.
"""

from __future__ import annotations

from datetime import UTC

from remit.bus.errors import PublishRefused
from remit.bus.message import Message
from remit.bus.subjects import timer_of


def holder(message: Message) -> str:
    """Return where a message with ``deliver_at`` is held.

    Raises:
        PublishRefused: Its subject takes no timers.
    """
    try:
        return timer_of(message.subject, message.id)
    except ValueError as error:
        raise PublishRefused(message.subject, 0, str(error)) from error


def unique_id(message: Message) -> str:
    """Return the id under which the server recognises a retry.

    A timer may be set again under its id, so its time and the commit that set it belong to it:
    a relay that repeats a commit sets nothing twice, and a later commit that sets the very same
    time again is not taken for a repetition.
    """
    if message.deliver_at is None:
        return message.id
    return f"{message.id}@{rfc3339(message)}@{message.commit or 0}"


def rfc3339(message: Message) -> str:
    """Return a timer's time as the server wants it, in UTC.

    Raises:
        PublishRefused: The time has no zone.
    """
    when = message.deliver_at
    if when is None or when.tzinfo is None:
        raise PublishRefused(message.subject, 0, f"deliver_at {when} says no time zone")
    return when.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
