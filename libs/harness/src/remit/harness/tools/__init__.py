"""The tools an agent works with, and the registry that says which agent has which."""

from __future__ import annotations

from remit.harness.tools.edit import edit_tool
from remit.harness.tools.environment import command_environment
from remit.harness.tools.errors import (
    FileError,
    InvalidArgumentsError,
    OutsideWorkspaceError,
    PermissionDeniedError,
    ToolAbortedError,
    ToolError,
    ToolTimeoutError,
    UnknownToolError,
)
from remit.harness.tools.read import read_tool
from remit.harness.tools.registry import DuplicateToolError, ToolRegistry, ToolView
from remit.harness.tools.search import glob_tool, grep_tool
from remit.harness.tools.shell import shell_tool
from remit.harness.tools.tool import Effect, Kind, Tool, ToolContext, ToolOutput
from remit.harness.tools.workspace import Workspace
from remit.harness.tools.write import write_tool

__all__ = [
    "DuplicateToolError",
    "Effect",
    "FileError",
    "InvalidArgumentsError",
    "Kind",
    "OutsideWorkspaceError",
    "PermissionDeniedError",
    "Tool",
    "ToolAbortedError",
    "ToolContext",
    "ToolError",
    "ToolOutput",
    "ToolRegistry",
    "ToolTimeoutError",
    "ToolView",
    "UnknownToolError",
    "Workspace",
    "command_environment",
    "edit_tool",
    "glob_tool",
    "grep_tool",
    "read_tool",
    "shell_tool",
    "write_tool",
]
