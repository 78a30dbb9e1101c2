"""The `write` tool: a whole file."""

from __future__ import annotations

import asyncio
from typing import Annotated

from pydantic import Field

from remit.harness.tools.built_in import Arguments, built_in_tool
from remit.harness.tools.files import replace_text
from remit.harness.tools.tool import Tool, ToolContext, ToolOutput


class WriteArguments(Arguments):
    """What to write."""

    file_path: Annotated[str, Field(min_length=1, description="The file.")]
    content: Annotated[str, Field(description="All of its text.")]


def write_tool() -> Tool:
    """Make the tool."""
    return built_in_tool(
        "write",
        WriteArguments,
        _run,
        description=(
            "Create a text file, or replace all of one. Missing directories are made. "
            "To change a part of a file, use edit."
        ),
        effect="write",
        kind="edit",
        shown="file_path",
        time_limit=60,
    )


async def _run(arguments: WriteArguments, context: ToolContext) -> ToolOutput:
    path = context.workspace.locate_writable(arguments.file_path)
    shown = context.workspace.show(path)
    new = await asyncio.to_thread(replace_text, path, shown, arguments.content)
    return ToolOutput(
        f"{'Created' if new else 'Replaced'} {shown}.",
        meta={"path": str(path), "operation": "create" if new else "replace"},
    )
