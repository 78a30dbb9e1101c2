"""Which variables reach the commands an agent runs (ENV-2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_ALLOWED = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}
)


def command_environment(source: Mapping[str, str], also: Iterable[str]) -> dict[str, str]:
    """The variables of every command: a few harmless ones and those that were named.

    Args:
        source: All the variables there are.
        also: Names of further variables to pass on.
    """
    names = _ALLOWED | set(also)
    return {
        name: value for name, value in source.items() if name in names or name.startswith("LC_")
    }
