"""The `edit` tool: one piece of a file for another."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

from pydantic import Field

from remit.harness.tools.built_in import Arguments, built_in_tool
from remit.harness.tools.errors import FileError, InvalidArgumentsError
from remit.harness.tools.files import read_text, replace_text
from remit.harness.tools.tool import Tool, ToolContext, ToolOutput


class EditArguments(Arguments):
    """What to change."""

    file_path: Annotated[str, Field(min_length=1, description="The file.")]
    old_string: Annotated[str, Field(min_length=1, description="The text to replace, exactly.")]
    new_string: Annotated[str, Field(description="What takes its place; empty to delete it.")]
    replace_all: Annotated[
        bool, Field(description="Replace every place; otherwise there must be exactly one.")
    ] = False


def edit_tool() -> Tool:
    """Make the tool."""
    return built_in_tool(
        "edit",
        EditArguments,
        _run,
        description=(
            "Replace a piece of a text file, given exactly as it stands there with its spaces and "
            "line breaks. It must stand there once, unless replace_all is set."
        ),
        effect="write",
        kind="edit",
        shown="file_path",
        time_limit=60,
    )


async def _run(arguments: EditArguments, context: ToolContext) -> ToolOutput:
    path = context.workspace.locate_writable(arguments.file_path)
    shown = context.workspace.show(path)
    if arguments.old_string == arguments.new_string:
        raise InvalidArgumentsError("edit: old_string and new_string are the same")
    count = await asyncio.to_thread(_edit, path, shown, arguments)
    places = "one place" if count == 1 else f"{count} places"
    return ToolOutput(
        f"Changed {places} in {shown}.",
        meta={"path": str(path), "operation": "edit", "places": count},
    )


def _edit(path: Path, shown: str, arguments: EditArguments) -> int:
    text = read_text(path, shown)
    old, new = arguments.old_string, arguments.new_string
    if old not in text and "\r\n" in text and "\n" in old and "\r" not in old:
        # The file has CRLF line ends, which a model does not see.
        old, new = old.replace("\n", "\r\n"), new.replace("\n", "\r\n")
    count = text.count(old)
    if count == 0:
        raise FileError(f"old_string does not stand in {shown}; read the file and copy it exactly")
    if count > 1 and not arguments.replace_all:
        raise FileError(
            f"old_string stands in {shown} {count} times; give more of the text around it, "
            "or set replace_all"
        )
    replace_text(path, shown, text.replace(old, new))
    return count
