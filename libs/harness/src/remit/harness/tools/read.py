"""The `read` tool: lines of a text file, or the entries of a directory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, BinaryIO

from pydantic import Field

from remit.harness.tools.built_in import Arguments, built_in_tool
from remit.harness.tools.errors import FileError
from remit.harness.tools.tool import Tool, ToolContext, ToolOutput

_LINES = 2000
_LONGEST_LINE = 2000
_ENTRIES = 1000
_PROBE = 8192


class ReadArguments(Arguments):
    """What to read."""

    file_path: Annotated[str, Field(min_length=1, description="The file or directory.")]
    offset: Annotated[int, Field(ge=1, description="The first line to read, from 1.")] = 1
    limit: Annotated[int, Field(ge=1, le=_LINES, description="How many lines to read.")] = _LINES


def read_tool() -> Tool:
    """Make the tool."""
    return built_in_tool(
        "read",
        ReadArguments,
        _run,
        description=(
            "Read a text file, its lines numbered, or list a directory. "
            f"At most {_LINES} lines come at once: go on with offset."
        ),
        effect="read",
        kind="read",
        shown="file_path",
        concurrent=True,
        time_limit=60,
    )


async def _run(arguments: ReadArguments, context: ToolContext) -> ToolOutput:
    path = context.workspace.locate(arguments.file_path)
    shown = context.workspace.show(path)
    if path.is_dir():
        return await asyncio.to_thread(_list, path, shown)
    return await asyncio.to_thread(_read, path, shown, arguments)


def _list(path: Path, shown: str) -> ToolOutput:
    try:
        entries = sorted(
            f"{entry.name}/" if entry.is_dir() else entry.name for entry in path.iterdir()
        )
    except OSError as error:
        raise FileError(f"{shown} cannot be listed: {error.strerror}") from error
    note = "" if len(entries) <= _ENTRIES else f"\n({len(entries) - _ENTRIES} more entries)"
    text = "\n".join(entries[:_ENTRIES]) or "(an empty directory)"
    return ToolOutput(text + note, meta={"path": str(path), "entries": len(entries)})


def _read(path: Path, shown: str, arguments: ReadArguments) -> ToolOutput:
    if path.exists() and not path.is_file():
        raise FileError(f"{shown} is not a regular file")
    try:
        with path.open("rb") as file:
            if b"\0" in file.read(_PROBE):
                raise FileError(f"{shown} is not a text file")
            file.seek(0)
            lines, more = _lines(file, arguments.offset, arguments.limit)
    except OSError as error:
        raise FileError(f"{shown} cannot be read: {error.strerror}") from error
    last = arguments.offset + len(lines) - 1
    if not lines:
        note = "(the file is empty)" if arguments.offset == 1 else "(the file ends before that)"
    elif more:
        note = f"(more lines follow; go on with offset {last + 1})"
    else:
        note = f"(end of file, {last} lines)"
    numbered = [f"{number}: {line}" for number, line in enumerate(lines, arguments.offset)]
    return ToolOutput(
        "\n".join([*numbered, note]),
        meta={"path": str(path), "offset": arguments.offset, "lines": len(lines)},
    )


def _lines(file: BinaryIO, offset: int, limit: int) -> tuple[list[str], bool]:
    """The wanted lines, and whether more follow."""
    lines: list[str] = []
    for number, raw in enumerate(file, 1):
        if number < offset:
            continue
        if len(lines) == limit:
            return lines, True
        line = raw.decode("utf-8", "replace").rstrip("\r\n")
        if len(line) > _LONGEST_LINE:
            line = f"{line[:_LONGEST_LINE]}[... {len(line) - _LONGEST_LINE} characters left out]"
        lines.append(line)
    return lines, False
