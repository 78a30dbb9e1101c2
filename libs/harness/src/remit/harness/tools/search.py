"""The `glob` and `grep` tools."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from remit.harness.tools.built_in import Arguments, built_in_tool
from remit.harness.tools.errors import FileError, InvalidArgumentsError, ToolTimeoutError
from remit.harness.tools.process import run_process
from remit.harness.tools.tool import Tool, ToolContext, ToolOutput

_SECONDS = 30.0
_PATHS = 200
_LINES = 200
_KEEP = 4 * 1024 * 1024
_PROGRAM = Path(__file__).with_name("search_files.py")


class GlobArguments(Arguments):
    """What to look for."""

    pattern: Annotated[
        str, Field(min_length=1, description="A glob pattern such as `**/*.py`, not absolute.")
    ]
    path: Annotated[
        str | None, Field(description="Where to look; the working directory if left out.")
    ] = None


class GrepArguments(Arguments):
    """What to look for."""

    pattern: Annotated[str, Field(min_length=1, description="A regular expression, for one line.")]
    path: Annotated[
        str | None,
        Field(description="The file or directory to look in; the working directory if left out."),
    ] = None
    include: Annotated[
        str | None, Field(description="Only files whose name or path matches this glob pattern.")
    ] = None
    ignore_case: Annotated[bool, Field(description="Whether case makes no difference.")] = False


def glob_tool() -> Tool:
    """Make the `glob` tool."""
    return built_in_tool(
        "glob",
        GlobArguments,
        _glob,
        description=(
            f"Find files by a glob pattern, hidden and ignored ones too. At most {_PATHS} paths "
            "come back, in their order."
        ),
        effect="read",
        kind="search",
        shown="pattern",
        concurrent=True,
        time_limit=_SECONDS + 5,
    )


def grep_tool() -> Tool:
    """Make the `grep` tool."""
    return built_in_tool(
        "grep",
        GrepArguments,
        _grep,
        description=(
            f"Find lines of text files by a regular expression. At most {_LINES} come back."
        ),
        effect="read",
        kind="search",
        shown="pattern",
        concurrent=True,
        time_limit=_SECONDS + 5,
    )


async def _glob(arguments: GlobArguments, context: ToolContext) -> ToolOutput:
    root = context.workspace.locate(arguments.path or ".")
    if not root.is_dir():
        raise FileError(f"{arguments.path} is not a directory")
    answer = await _search(
        context,
        {
            "what": "files",
            "root": str(root),
            "pattern": arguments.pattern,
            "limit": _PATHS,
        },
    )
    paths = [context.workspace.show(Path(path)) for path in answer["paths"]]
    note = f"({answer['total']} files)"
    if answer["total"] > len(paths):
        note = f"(the first {len(paths)} of {answer['total']} files; use a narrower pattern)"
    return ToolOutput("\n".join([*paths, note]), meta={"total": answer["total"]})


async def _grep(arguments: GrepArguments, context: ToolContext) -> ToolOutput:
    root = context.workspace.locate(arguments.path or ".")
    if not root.exists():
        raise FileError(f"{arguments.path} does not exist")
    answer = await _search(
        context,
        {
            "what": "text",
            "root": str(root),
            "pattern": arguments.pattern,
            "include": arguments.include,
            "ignore_case": arguments.ignore_case,
            "limit": _LINES,
        },
    )
    lines = [
        f"{context.workspace.show(Path(path))}:{number}: {line}"
        for path, number, line in answer["lines"]
    ]
    note = f"({len(lines)} lines)"
    if answer["more"]:
        note = f"(the first {len(lines)} lines; use a narrower pattern)"
    return ToolOutput("\n".join([*lines, note]), meta={"total": len(lines)})


async def _search(context: ToolContext, request: dict[str, Any]) -> dict[str, Any]:
    finished = await run_process(
        (sys.executable, "-I", "-S", str(_PROGRAM), json.dumps(request)),
        cwd=context.workspace.root,
        environment={"PYTHONIOENCODING": "utf-8"},
        time_limit=_SECONDS,
        keep=_KEEP,
    )
    if finished.timed_out:
        raise ToolTimeoutError(f"the search took longer than {_SECONDS:g} s; look for less")
    try:
        answer: dict[str, Any] = json.loads(finished.output)
    except ValueError:
        raise FileError(f"the search failed: {finished.output[-300:]}") from None
    if "error" in answer:
        raise InvalidArgumentsError(f"the search cannot be made: {answer['error']}")
    return answer
