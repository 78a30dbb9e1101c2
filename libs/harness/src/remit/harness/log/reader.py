"""Reading a session log: whole, or refused with the line that is wrong (LOG-3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from remit.harness.log.errors import LogDamagedError, RowError
from remit.harness.log.event import read_event, read_header
from remit.harness.log.json_text import decode
from remit.harness.log.payloads import AssistantAttempt, AssistantMessageRecorded
from remit.harness.log.record import Record
from remit.harness.log.stream import expand


@dataclass(frozen=True, slots=True)
class LogRead:
    """What reading a log gave.

    Attributes:
        record: The header and the whole events.
        whole_bytes: How much of the file they take up; what follows is a torn last line.
        ends_open: Whether the last whole line lacks its line break.
    """

    record: Record
    whole_bytes: int
    ends_open: bool


def read_log(data: bytes, path: Path | None = None) -> LogRead:
    """Read a log.

    A last line without its line break that is not a whole event was torn by a crash: it is left
    out. Anything else that is wrong refuses the log.

    Args:
        data: The file's bytes.
        path: The file, to name it in errors.

    Raises:
        LogDamagedError: Some line is not what the format says.
    """
    record: Record | None = None
    whole = 0
    torn = False
    for number, raw in _lines(data):
        torn = not raw.endswith(b"\n")
        try:
            record = _read_line(_text(raw), record)
        except RowError as error:
            if torn and record is not None and _is_torn(raw):
                return LogRead(record, whole, ends_open=False)
            raise LogDamagedError(path, number, error.problem) from None
        whole += len(raw)
    if record is None:
        raise LogDamagedError(path, 1, "the log is empty")
    return LogRead(record, whole, ends_open=torn)


def _read_line(line: str, record: Record | None) -> Record:
    if record is None:
        return Record(*read_header(line))
    event = read_event(line, record.next_seq)
    before = record.last()
    if before is not None and (before.time is None) != (event.time is None):
        raise RowError("some rows have seq and time, and this one differs")
    if isinstance(event.payload, AssistantMessageRecorded | AssistantAttempt):
        expand(event.payload.stream)
    record.add(event)
    return record


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    start, number = 0, 0
    while start < len(data):
        end = data.find(b"\n", start)
        stop = len(data) if end < 0 else end + 1
        number += 1
        yield number, data[start:stop]
        start = stop


def _text(raw: bytes) -> str:
    try:
        return raw.removesuffix(b"\n").decode("utf-8")
    except UnicodeDecodeError:
        raise RowError("it is not UTF-8") from None


def _is_torn(raw: bytes) -> bool:
    """Whether a last line was cut off: one that is whole JSON was not, it is wrong otherwise."""
    try:
        decode(_text(raw))
    except (RowError, ValueError):
        return True
    return False
