"""Bringing a server to the streams that the code relies on, and checking that it is there.

One owner applies (``remit admin streams apply``); every service checks at its start. Applying
adds: it makes streams, gives them new subjects and larger limits, and leaves alone what is
more than the code asks for. What would lose messages is refused and told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

from remit.bus.errors import BusError, ServerTooOld, StreamMismatch
from remit.bus.streams import STREAMS, Stream

OLDEST = (2, 12)
"""The oldest server that has what Remit needs: message schedules and guards over prefixes."""

_STREAM_NOT_FOUND = 10059
_FIXED = ("retention", "storage")
_LIMITS = ("max_age", "max_bytes", "max_msgs_per_subject")


class Server(Protocol):
    """The administrative side of a connection, as `remit.bus.nats.NatsBus` has it."""

    @property
    def server_version(self) -> str:
        """What the server says it is."""
        ...

    async def api(self, path: str, payload: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Ask the JetStream API."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What applying did to a stream, or left as it was.

    Attributes:
        stream: Its name.
        what: In words.
    """

    stream: str
    what: str

    def __str__(self) -> str:
        return f"{self.stream}: {self.what}"


async def apply(server: Server, streams: Iterable[Stream] = STREAMS) -> list[Change]:
    """Make what is missing and bring the rest up to date; return what was done.

    Raises:
        ServerTooOld: The server lacks what Remit needs.
        StreamMismatch: A stream differs in what cannot be changed, or the server refuses it.
        BusUnavailable: No answer within the bound.
    """
    check_version(server.server_version)
    changes: list[Change] = []
    for stream in streams:
        changes += await _apply(server, stream)
    return changes


async def check(server: Server, streams: Iterable[Stream] = STREAMS) -> None:
    """Check that the server has what the code relies on.

    Raises:
        ServerTooOld: The server lacks what Remit needs.
        StreamMismatch: A stream is missing, or differs in more than its size.
        BusUnavailable: No answer within the bound.
    """
    check_version(server.server_version)
    for stream in streams:
        config = await _config_of(server, stream.name)
        if config is None:
            raise StreamMismatch(stream.name, "it is missing")
        wanted = config_of(stream)
        missing = sorted(set(stream.subjects) - set(config["subjects"]))
        if missing:
            raise StreamMismatch(stream.name, f"it does not store {', '.join(missing)}")
        for field in ("retention", "allow_direct", "allow_msg_schedules"):
            if config.get(field, False) != wanted[field]:
                raise StreamMismatch(
                    stream.name, f"{field} is {config.get(field, False)}, not {wanted[field]}"
                )


def check_version(version: str) -> None:
    """Check what a server says it is.

    Raises:
        ServerTooOld: It is older than `OLDEST`.
    """
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST:
        raise ServerTooOld(version, ".".join(map(str, OLDEST)))


def config_of(stream: Stream) -> dict[str, Any]:
    """Return a stream as the JetStream API wants it."""
    return {
        "name": stream.name,
        "description": stream.why,
        "subjects": list(stream.subjects),
        "retention": stream.retention,
        "discard": stream.discard,
        "storage": stream.storage,
        "num_replicas": stream.replicas,
        "max_age": _nanoseconds(stream.max_age) if stream.max_age else 0,
        "max_bytes": stream.max_bytes or -1,
        "max_msgs_per_subject": stream.max_per_subject or -1,
        "duplicate_window": _nanoseconds(stream.duplicate_window),
        # Loads before a commit read from any replica: the fence makes stale ones harmless.
        "allow_direct": True,
        "allow_msg_schedules": stream.schedules,
    }


async def _apply(server: Server, stream: Stream) -> list[Change]:
    wanted = config_of(stream)
    config = await _config_of(server, stream.name)
    if config is None:
        await _tell(server, "CREATE", stream.name, wanted)
        return [Change(stream=stream.name, what=f"made for {', '.join(stream.subjects)}")]
    for field in _FIXED:
        if config[field] != wanted[field]:
            raise StreamMismatch(
                stream.name,
                f"{field} is {config[field]}, not {wanted[field]}, and cannot be changed",
                remedy="make it anew under an operator's eyes, since that drops its messages",
            )
    update, changes = _difference(stream.name, config, wanted)
    if update != config:
        await _tell(server, "UPDATE", stream.name, update)
    return changes


def _difference(
    name: str, config: Mapping[str, Any], wanted: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Change]]:
    update = dict(config)
    changes: list[Change] = []
    for field, value in wanted.items():
        current = config.get(field, False if isinstance(value, bool) else None)
        if field == "subjects":
            added = [subject for subject in value if subject not in current]
            extra = [subject for subject in current if subject not in value]
            if added:
                update[field] = [*current, *added]
                changes.append(Change(stream=name, what=f"now stores {', '.join(added)}"))
            if extra:
                changes.append(Change(stream=name, what=f"goes on storing {', '.join(extra)}"))
        elif current == value:
            continue
        elif field in _LIMITS and _smaller(value, current):
            changes.append(
                Change(stream=name, what=f"{field} stays {current}: {value} could lose messages")
            )
        else:
            update[field] = value
            changes.append(Change(stream=name, what=f"{field} is {value} now, was {current}"))
    return update, changes


def _smaller(value: int, current: int) -> bool:
    """Say whether a limit is tighter than another; none at all is 0 or less."""
    return value > 0 and (current <= 0 or value < current)


async def _config_of(server: Server, name: str) -> dict[str, Any] | None:
    told = await server.api(f"STREAM.INFO.{name}")
    error = told.get("error")
    if error is None:
        config: dict[str, Any] = told["config"]
        return config
    if error["err_code"] == _STREAM_NOT_FOUND:
        return None
    raise BusError(f"NATS says nothing about stream {name}: {error['description']}")


async def _tell(server: Server, action: str, name: str, config: Mapping[str, Any]) -> None:
    told = await server.api(f"STREAM.{action}.{name}", config)
    error = told.get("error")
    if error is not None:
        raise StreamMismatch(
            name, f"NATS refuses it: {error['description']}", remedy="see the server's settings"
        )


def _nanoseconds(span: timedelta) -> int:
    return round(span / timedelta(microseconds=1)) * 1000
