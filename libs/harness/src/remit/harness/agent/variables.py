"""Variables that a client sets for the commands of one session (ENV-1).

They come with `session/new`, `session/load` and `session/resume` in `_meta`. They are kept in memory
only: the log does not hold them, so a client sends them again when it loads the session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from acp import RequestError

from remit.harness.settings import API_KEY

META_VARIABLES = "remit/variables"
"""The key in `_meta`: an object of names and their values."""


def variables_of(meta: Mapping[str, Any]) -> dict[str, str]:
    """The variables a client sets.

    Raises:
        RequestError: They are not names and texts.
    """
    given = meta.get(META_VARIABLES)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise RequestError(-32602, f"_meta {META_VARIABLES} must be an object of names and texts")
    for name, value in given.items():
        if not name or "=" in name or not isinstance(value, str) or "\0" in name + value:
            raise RequestError(-32602, f"_meta {META_VARIABLES}: {name!r} cannot be a variable")
        if name == API_KEY:
            raise RequestError(-32602, f"{API_KEY} never reaches a command")
    return dict(given)
