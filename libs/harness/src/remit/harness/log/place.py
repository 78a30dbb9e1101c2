"""Where a session's log is kept: `<home>/sessions/<slug of its directory>/<id>/session.v4.jsonl`."""

from __future__ import annotations

import re
from pathlib import Path

LOG_NAME = "session.v4.jsonl"
"""The name of a log file."""

LOCK_NAME = "session.lock"
"""The name of the file whose lock says who has a session open."""

_LONGEST_SLUG = 251
_SAFE = re.compile(r"[A-Za-z0-9._-]")


def sessions_folder(home: Path) -> Path:
    """The folder that holds every session's folder."""
    return home / "sessions"


def session_folder(home: Path, cwd: str, session_id: str) -> Path:
    """The folder of one session.

    Args:
        home: The harness's own folder.
        cwd: The session's directory, absolute.
        session_id: The session.
    """
    return sessions_folder(home) / directory_slug(cwd) / escape(session_id)


def directory_slug(cwd: str) -> str:
    """A folder name for a directory: readable, and safe on every file system.

    Separators become one hyphen, letters, digits and `._-` stay, anything else becomes `~` and its
    UTF-16 code units in hexadecimal. Long names are cut.
    """
    joined = re.sub(r"[/\\]+", "-", cwd.strip("/\\"))
    return f"--{escape(joined)[:_LONGEST_SLUG]}--"


def escape(text: str) -> str:
    """A file name for any text; no two texts share one."""
    if text in {".", ".."}:
        return "".join(_units(character) for character in text)
    return "".join(
        character if _SAFE.fullmatch(character) else _units(character) for character in text
    )


def _units(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"~{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2))
