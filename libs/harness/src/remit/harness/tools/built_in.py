"""Tools whose arguments are a pydantic model: the schema and the check are one thing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from remit.harness.models.port import ToolSchema
from remit.harness.tools.errors import InvalidArgumentsError
from remit.harness.tools.tool import Effect, Kind, Tool, ToolContext, ToolOutput


class Arguments(BaseModel):
    """The arguments of a tool."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


A = TypeVar("A", bound=Arguments)


def built_in_tool(
    name: str,
    arguments: type[A],
    run: Callable[[A, ToolContext], Awaitable[ToolOutput]],
    *,
    description: str,
    effect: Effect,
    kind: Kind,
    shown: str,
    concurrent: bool = False,
    time_limit: float = 120.0,
) -> Tool:
    """Make a tool.

    Args:
        name: What the model calls it by.
        arguments: Its arguments.
        run: Does the work.
        description: What the model is told of it.
        effect: What it may do.
        kind: What a client shows its calls as.
        shown: The argument that says most about a call.
        concurrent: Whether calls of it may run beside each other.
        time_limit: How long a call may take, in seconds.
    """

    def check(given: dict[str, Any]) -> A:
        try:
            return arguments.model_validate(given)
        except ValidationError as error:
            raise InvalidArgumentsError(f"{name}: {_problems(error)}") from None

    def summary(given: dict[str, Any]) -> str:
        value = given.get(shown)
        return f"{name} {value}" if isinstance(value, str) and value else name

    return Tool(
        schema=ToolSchema(name, description, _plain_schema(arguments.model_json_schema())),
        effect=effect,
        kind=kind,
        concurrent=concurrent,
        time_limit=time_limit,
        check=check,
        run=run,
        summary=summary,
    )


def _problems(error: ValidationError) -> str:
    return "; ".join(
        f"{'.'.join(str(part) for part in problem['loc']) or 'arguments'}: {problem['msg']}"
        for problem in error.errors(include_url=False, include_context=False, include_input=False)
    )


def _plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without the titles that pydantic makes up; they cost tokens and say nothing."""
    properties = {
        name: {key: value for key, value in item.items() if key != "title"}
        for name, item in schema["properties"].items()
    }
    plain = {key: value for key, value in schema.items() if key not in ("title", "description")}
    return plain | {"properties": properties}
