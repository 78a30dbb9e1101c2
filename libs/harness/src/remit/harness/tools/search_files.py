"""Looks for files and for text in files; a program of its own, run by the search tools.

It runs as a child process because a pattern can take for ever, and only a process can be ended
then. It takes one JSON object as its argument and prints one JSON object. It needs the standard
library only.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_SKIPPED = frozenset({".git", ".hg", ".svn"})
_PROBE = 8192
_LARGEST = 8 * 1024 * 1024
_LONGEST_LINE = 300


def find_files(root: Path, pattern: str, limit: int) -> dict[str, Any]:
    """The files under a directory whose path matches a glob pattern, in order of their paths."""
    matches = sorted(
        str(path)
        for path in root.glob(pattern)
        if path.is_file() and not _SKIPPED & set(path.relative_to(root).parts)
    )
    return {"paths": matches[:limit], "total": len(matches)}


def find_text(root: Path, request: dict[str, Any]) -> dict[str, Any]:
    """The lines under a directory, or of one file, that a regular expression matches."""
    flags = re.IGNORECASE if request["ignore_case"] else 0
    pattern = re.compile(request["pattern"], flags)
    found: list[list[Any]] = []
    for path in [root] if root.is_file() else _walk(root, request["include"]):
        for number, line in _text_lines(path):
            if pattern.search(line):
                if len(found) == request["limit"]:
                    return {"lines": found, "more": True}
                found.append([str(path), number, line[:_LONGEST_LINE]])
    return {"lines": found, "more": False}


def _walk(root: Path, include: str | None) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(files):
            path = Path(folder, name)
            if include is None or _included(path.relative_to(root), include):
                yield path


def _included(path: Path, include: str) -> bool:
    return fnmatch.fnmatch(path.name, include) or fnmatch.fnmatch(str(path), include)


def _text_lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        if not path.is_file() or path.stat().st_size > _LARGEST:
            return
        data = path.read_bytes()
    except OSError:
        return
    if b"\0" in data[:_PROBE]:
        return
    for number, line in enumerate(data.decode("utf-8", "replace").split("\n"), 1):
        yield number, line.removesuffix("\r")


def main() -> None:
    """Answer one request."""
    request: dict[str, Any] = json.loads(sys.argv[1])
    root = Path(request["root"])
    try:
        if request["what"] == "files":
            answer = find_files(root, request["pattern"], request["limit"])
        else:
            answer = find_text(root, request)
    except (ValueError, NotImplementedError, re.error, OSError) as error:
        answer = {"error": str(error)}
    sys.stdout.write(json.dumps(answer))


if __name__ == "__main__":
    main()
