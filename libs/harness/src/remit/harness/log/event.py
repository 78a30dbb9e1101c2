"""One row of a session log, decoded and checked, with the row itself kept as it is on disk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from remit.harness.log.errors import RowError
from remit.harness.log.json_text import JsonObject, decode, encode, is_safe_integer
from remit.harness.log.payloads import (
    OPAQUE_FAMILIES,
    OPAQUE_TYPES,
    PAYLOADS,
    SURFACE_TYPES,
    Header,
    Payload,
)
from remit.harness.log.sources import read_sources, write_sources

_ROW_KEYS = frozenset({"type", "seq", "time", "data", "surfaceOp", "sourceEventSeqs", "ignorable"})
_HEADER_KEYS = frozenset(
    {
        "type",
        "version",
        "id",
        "createdAt",
        "cwd",
        "parentSession",
        "isSeeded",
        "origin",
        "delegationDepth",
        "agentPreset",
    }
)
_PLUGIN_TYPE = re.compile(r"plugin:[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*")


@dataclass(frozen=True, slots=True)
class Replace:
    """Puts an event in the place of a range of the conversation's nodes.

    Attributes:
        start_seq: The `seq` of the first replaced node.
        end_seq: The `seq` of the last one; it is replaced too.
    """

    start_seq: int
    end_seq: int


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a session.

    Attributes:
        seq: Its place in the log, counted from zero.
        type: Its type.
        payload: Its typed data; None where this version keeps a type without reading it.
        placement: How it joins the conversation: at its end (`append`), in place of other nodes,
            or, for events that are no part of it, not at all (None).
        sources: The events it was made from.
        row: The row as it is on disk, its keys in their order, absent ones absent.
    """

    seq: int
    type: str
    payload: Payload | None
    placement: Replace | str | None
    sources: tuple[int, ...]
    row: JsonObject

    @property
    def time(self) -> int | None:
        """When it was recorded, in milliseconds since the epoch; None in a template."""
        time: int | None = self.row.get("time")
        return time

    def line(self) -> str:
        """The row as one line of the file, without its line break."""
        return encode(self.row)


def new_event(
    payload: Payload,
    *,
    seq: int,
    time: int,
    placement: Replace | str | None,
    sources: tuple[int, ...],
) -> Event:
    """Make an event that is to be appended to a log.

    Raises:
        RowError: The parts do not make a row that the format allows.
    """
    row: JsonObject = {
        "type": payload.TYPE,
        "seq": seq,
        "time": time,
        "data": payload.to_json(),
    }
    if sources:
        row["sourceEventSeqs"] = write_sources(sources)
    if isinstance(placement, Replace):
        row["surfaceOp"] = {
            "op": "replace",
            "startSeq": placement.start_seq,
            "endSeq": placement.end_seq,
        }
    elif placement is not None:
        row["surfaceOp"] = placement
    _check_place(payload.TYPE, placement, sources, seq)
    return Event(seq, payload.TYPE, payload, placement, sources, row)


def read_event(line: str, seq: int) -> Event:
    """Read one line of a log.

    Args:
        line: The line, without its line break.
        seq: The place that the line has in the log.

    Raises:
        RowError: The line is not an event, or not one this version may pass over.
    """
    row = _read_object(line)
    _check_envelope(row, seq)
    kind: str = row["type"]
    payload = _read_payload(kind, row)
    placement = _read_placement(row)
    sources = read_sources(row["sourceEventSeqs"], seq) if "sourceEventSeqs" in row else ()
    _check_place(kind, placement, sources, seq)
    return Event(seq, kind, payload, placement, sources, row)


def read_header(line: str) -> tuple[Header, JsonObject]:
    """Read the first line of a log: the header, typed and as it is on disk.

    Raises:
        RowError: The line is not the header of a version 4 log.
    """
    row = _read_object(line)
    if row.get("type") != "session":
        raise RowError("a log begins with its session header, and this is none")
    if row.get("version") != 4:
        raise RowError(f"log format version {row.get('version')!r} is not supported, only 4 is")
    unknown = sorted(set(row) - _HEADER_KEYS)
    if unknown:
        raise RowError(f"the session header has an unknown key {unknown[0]!r}")
    try:
        return Header.model_validate(row), row
    except ValidationError as error:
        raise RowError(f"the session header is not valid: {_first_problem(error)}") from None


def _read_object(line: str) -> JsonObject:
    try:
        row = decode(line)
    except ValueError as error:
        raise RowError(f"it is not JSON ({error})") from None
    if not isinstance(row, dict):
        raise RowError("it is not a JSON object")
    return row


def _check_envelope(row: JsonObject, seq: int) -> None:
    unknown = sorted(set(row) - _ROW_KEYS)
    if unknown:
        raise RowError(f"unknown key {unknown[0]!r}")
    if not isinstance(row.get("type"), str):
        raise RowError("it has no type")
    if not isinstance(row.get("data"), dict):
        raise RowError("its data is not a JSON object")
    if ("seq" in row) != ("time" in row):
        raise RowError("seq and time stand together or not at all")
    if "seq" in row and (type(row["seq"]) is not int or row["seq"] != seq):
        raise RowError(f"its seq is {row['seq']!r} where {seq} is due")
    if "time" in row and not is_safe_integer(row["time"]):
        raise RowError("its time is not an integer of milliseconds")
    if "ignorable" in row and row["ignorable"] is not True:
        raise RowError("ignorable is true or absent")


def _read_payload(kind: str, row: JsonObject) -> Payload | None:
    model = PAYLOADS.get(kind)
    if model is not None:
        try:
            return model.model_validate(row["data"])
        except ValidationError as error:
            raise RowError(f"its data is no {kind}: {_first_problem(error)}") from None
    if kind.startswith("plugin:") and not _PLUGIN_TYPE.fullmatch(kind):
        raise RowError(f"{kind!r} is not a plugin event type")
    if kind in OPAQUE_TYPES or kind.startswith(OPAQUE_FAMILIES) or row.get("ignorable") is True:
        return None
    raise RowError(f"unknown event type {kind!r}, and it is not marked ignorable")


def _read_placement(row: JsonObject) -> Replace | str | None:
    value: Any = row.get("surfaceOp")
    if "surfaceOp" not in row:
        return None
    if value == "append":
        return "append"
    if (
        isinstance(value, dict)
        and set(value) == {"op", "startSeq", "endSeq"}
        and value["op"] == "replace"
        and is_safe_integer(value["startSeq"])
        and is_safe_integer(value["endSeq"])
    ):
        return Replace(value["startSeq"], value["endSeq"])
    raise RowError("surfaceOp is neither append nor a replace of startSeq to endSeq")


def _check_place(
    kind: str, placement: Replace | str | None, sources: tuple[int, ...], seq: int
) -> None:
    if kind in SURFACE_TYPES:
        if placement is None:
            raise RowError(f"{kind} has no surfaceOp")
    elif placement is not None or sources:
        raise RowError(f"{kind} is no part of the conversation and has a place in it")
    if kind == "assistant/message" and sources:
        raise RowError("assistant/message carries its stream and no sourceEventSeqs")
    if any(source >= seq for source in sources):
        raise RowError("sourceEventSeqs names an event that is not earlier")


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
