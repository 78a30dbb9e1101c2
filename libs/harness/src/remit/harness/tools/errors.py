"""How a tool call fails, in words the model can use and codes the log keeps."""

from __future__ import annotations

from typing import Any

from remit.harness.errors import HarnessError


class ToolError(HarnessError):
    """A tool call has no result but this.

    Attributes:
        code: The kind of failure, for the log.
        meta: Facts about it, as JSON, for the log.
    """

    code: str = "TOOL_FAILED"

    def __init__(self, message: str, meta: Any = None) -> None:
        super().__init__(message)
        self.meta = meta


class UnknownToolError(ToolError):
    """No tool of that name is there for this agent (AGS-7).

    Attributes:
        tool: The name.
    """

    code = "UNKNOWN_TOOL"

    def __init__(self, tool: str) -> None:
        super().__init__(f'unknown tool "{tool}"')
        self.tool = tool


class InvalidArgumentsError(ToolError):
    """The arguments are not what the tool's schema says."""

    code = "INVALID_ARGS"


class ToolTimeoutError(ToolError):
    """The tool took longer than it may."""

    code = "TOOL_TIMEOUT"


class PermissionDeniedError(ToolError):
    """Nobody allowed the call."""

    code = "PERMISSION_DENIED"


class OutsideWorkspaceError(ToolError):
    """A tool was to change something outside the session's directory.

    Attributes:
        path: The path as it was given.
        root: The session's directory.
    """

    code = "OUTSIDE_WORKSPACE"

    def __init__(self, path: str, root: str) -> None:
        super().__init__(
            f"{path} is outside the working directory {root}; files can be changed only inside it"
        )
        self.path = path
        self.root = root


class FileError(ToolError):
    """A file could not be read or written."""

    code = "FILE_ERROR"


class ToolAbortedError(ToolError):
    """The work was cancelled while the tool ran, or before it did."""

    def __init__(self, *, started: bool) -> None:
        super().__init__(
            "the tool call was cancelled"
            if started
            else "the work was cancelled before this tool was started"
        )
        self.code = "ABORTED" if started else "ABORTED_BEFORE_DISPATCH"
