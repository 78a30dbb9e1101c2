"""What the agent's words become before they go to GitHub.

A mention there calls people, so only those that a person would make stay: never the agent's own
name, or it would answer itself (B6), and no team or everybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from remit.connectors import markers

BODY_LIMIT = 65_536
"""Characters that GitHub takes in one text."""
TITLE_LIMIT = 256
"""Characters that GitHub takes in a title."""

_CODE = r"""
    (?P<fence>^[ \t>]*(?P<mark>`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t>]*(?P=mark)[`~]*[ \t]*$|\Z))
  | (?P<code>(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`))
"""
_CALL = r"""
    (?P<call>(?<![\w/.@-])@(?:[a-z0-9-]+/[\w.-]*\w|(?:all|channel|everyone|here)(?![\w-])))
"""
_CODE_OR_CALL = re.compile(
    f"{_CODE}|{_CALL}", re.VERBOSE | re.MULTILINE | re.DOTALL | re.IGNORECASE | re.ASCII
)


def safe_text(text: str, names: Iterable[str]) -> str:
    """Return ``text`` so that it calls nobody but people, and is not taken for another write.

    Args:
        text: The agent's words, as Markdown.
        names: The agent's names, which it never calls.
    """
    names = tuple(names)
    while (bare := _without_own_name(markers.strip(text), names)) != text:
        # What was taken away may have held apart what is to be taken away next.
        text = bare
    return _without_own_name(_CODE_OR_CALL.sub(_as_code, text), names)


def safe_title(title: str, names: Iterable[str]) -> str:
    """Return ``title`` the same way, on one line, and no longer than GitHub takes."""
    safe = " ".join(safe_text(title, names).split())
    return safe if len(safe) <= TITLE_LIMIT else safe[: TITLE_LIMIT - 1].rstrip() + "…"


def _without_own_name(text: str, names: Iterable[str]) -> str:
    """Take the sign before each of its names away, in code too; e-mail addresses stay."""
    for name in names:
        call = rf"(?<![A-Za-z0-9+])@+(?={re.escape(name)}(?![A-Za-z0-9-]))"
        text = re.sub(call, "", text, flags=re.IGNORECASE)
    return text


def _as_code(match: re.Match[str]) -> str:
    return f"`{match['call']}`" if match["call"] else match[0]
