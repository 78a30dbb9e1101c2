"""Checking a call's arguments against the JSON schema an MCP server gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from remit.harness.tools.errors import InvalidArgumentsError

_PROBLEMS = 5


def argument_check(tool: str, schema: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Make a check for one tool.

    A schema cannot make the harness fetch another: references that leave it are not followed.

    Args:
        tool: The tool's public name, for errors.
        schema: Its schema.

    Raises:
        ValueError: It is not a JSON schema.
    """
    kind = validator_for(schema, default=Draft202012Validator)
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        raise ValueError(error.message) from error
    validator = kind(schema, registry=Registry())

    def check(arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            errors = list(validator.iter_errors(arguments))
        except Unresolvable as error:
            raise InvalidArgumentsError(f"{tool}: its schema refers to {error.ref}") from None
        if errors:
            problems = "; ".join(
                f"{'.'.join(str(part) for part in error.absolute_path) or 'arguments'}: "
                f"{error.message}"
                for error in errors[:_PROBLEMS]
            )
            raise InvalidArgumentsError(f"{tool}: {problems}")
        return arguments

    return check
