"""JSON as the session log writes it: compact, in the order of its keys, never escaped needlessly.

The shape is the one JavaScript's `JSON.stringify` gives, because the format's other readers and
writers use that. A lone surrogate, which UTF-8 cannot carry, is written as its escape.
"""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

JsonObject = dict[str, Any]
"""A JSON object whose keys keep their order."""

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer every reader of the format keeps exactly."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def is_safe_integer(value: object) -> bool:
    """Whether a JSON value is an integer that every reader keeps exactly."""
    return type(value) is int and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER


def encode(value: object) -> str:
    """Write one JSON value on one line.

    Raises:
        ValueError: The value holds a number that JSON cannot express.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def decode(text: str) -> Any:
    """Read one JSON value.

    Raises:
        ValueError: The text is not JSON, nests too deeply, or names a number JSON does not have.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("it nests too deeply") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
