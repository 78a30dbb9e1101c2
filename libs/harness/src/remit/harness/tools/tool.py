"""What a tool is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from remit.harness.models.port import ToolSchema
from remit.harness.tools.workspace import Workspace

Effect = Literal["read", "write", "execute", "external"]
"""What a tool may do: look, change files of the workspace, run commands, act somewhere else."""

Kind = Literal["read", "edit", "search", "execute", "other"]
"""What a client shows a tool call as."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may know of the session it runs for.

    Attributes:
        workspace: The session's directory.
        environment: The variables of every command it runs; nothing else reaches one (ENV-2).
    """

    workspace: Workspace
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool call gave.

    Attributes:
        text: What the model reads.
        is_error: Whether it is a failure that the tool itself reports.
        meta: Facts about it, as JSON, for the log.
    """

    text: str
    is_error: bool = False
    meta: Any = None


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool.

    Attributes:
        schema: What the model is told of it.
        effect: What it may do; the permission preset decides by this.
        kind: What a client shows its calls as.
        concurrent: Whether calls of it may run beside each other.
        time_limit: How long a call may take, in seconds.
        check: Turns arguments into what `run` takes, or raises `InvalidArgumentsError`.
        run: Does the work. It raises `ToolError` when there is no result, and ends at once, with
            everything it started, when its task is cancelled.
        summary: The call in a few words, from its arguments as they came.
    """

    schema: ToolSchema
    effect: Effect
    kind: Kind
    concurrent: bool
    time_limit: float
    check: Callable[[dict[str, Any]], Any]
    run: Callable[[Any, ToolContext], Awaitable[ToolOutput]]
    summary: Callable[[dict[str, Any]], str]

    @property
    def name(self) -> str:
        """The name the model calls it by."""
        return self.schema.name
