"""The `shell` tool: one command in a fresh shell."""

from __future__ import annotations

import shutil
from typing import Annotated

from pydantic import Field

from remit.harness.tools.built_in import Arguments, built_in_tool
from remit.harness.tools.errors import FileError, InvalidArgumentsError, ToolTimeoutError
from remit.harness.tools.process import run_process
from remit.harness.tools.tool import Tool, ToolContext, ToolOutput

_KEEP = 32_000
_SLACK = 5.0


class ShellArguments(Arguments):
    """What to run."""

    command: Annotated[str, Field(min_length=1, description="The command, as a shell reads it.")]
    workdir: Annotated[
        str | None,
        Field(description="The directory to run it in; the working directory if left out."),
    ] = None
    timeout_ms: Annotated[
        int | None,
        Field(ge=1, description="How long it may take, in milliseconds."),
    ] = None


def shell_tool(*, time_limit: float, longest: float) -> Tool:
    """Make the tool.

    Args:
        time_limit: How long a command may take that does not say, in seconds.
        longest: How long any command may take, in seconds.
    """
    program = shutil.which("bash") or "/bin/sh"

    async def run(arguments: ShellArguments, context: ToolContext) -> ToolOutput:
        seconds = time_limit if arguments.timeout_ms is None else arguments.timeout_ms / 1000
        seconds = min(seconds, longest)
        workdir = context.workspace.locate(arguments.workdir or ".")
        if not workdir.is_dir():
            raise InvalidArgumentsError(f"shell: {arguments.workdir} is not a directory")
        if "\0" in arguments.command:
            raise InvalidArgumentsError("shell: a command cannot hold a NUL character")
        try:
            finished = await run_process(
                (program, "-c", arguments.command),
                cwd=workdir,
                environment=context.environment,
                time_limit=seconds,
                keep=_KEEP,
            )
        except OSError as error:
            raise FileError(f"the command could not be started: {error.strerror}") from error
        output = finished.output.rstrip("\n") or "(no output)"
        if finished.timed_out:
            raise ToolTimeoutError(
                f"the command was ended after {seconds:g} s. Its output until then:\n{output}"
            )
        return ToolOutput(
            f"{output}\n[exit code: {finished.exit_code}]",
            meta={"exitCode": finished.exit_code, "cwd": str(workdir)},
        )

    return built_in_tool(
        "shell",
        ShellArguments,
        run,
        description=(
            "Run one command in a fresh shell and read its output and exit code. It has no input. "
            f"Long output loses its middle. It may take {time_limit:g} s unless timeout_ms says "
            f"otherwise, {longest:g} s at most; whatever it leaves running is ended with it."
        ),
        effect="execute",
        kind="execute",
        shown="command",
        time_limit=longest + _SLACK,
    )
