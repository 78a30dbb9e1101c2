"""Where a review comment's line is in a file's patch."""

import re
from dataclasses import dataclass

from .state import Side

_HEADER = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True)
class Place:
    """A line of a patch.

    Attributes:
        position: Lines below the patch's first hunk header, as GitHub counts.
        line: Line number in the file, before (`LEFT`) or after (`RIGHT`) the change.
        side: Which of the two files `line` counts in.
        hunk: The hunk up to and with this line.
    """

    position: int
    line: int
    side: Side
    hunk: str


def places(patch: str) -> list[Place]:
    """Return every line of a patch that can be commented on, in order.

    A context line stands twice, once for each side.
    """
    found: list[Place] = []
    left = right = 0
    hunk: list[str] = []
    for position, text in enumerate(patch.splitlines()):
        if header := _HEADER.match(text):
            left, right = int(header[1]), int(header[2])
            hunk = [text]
            continue
        hunk.append(text)
        shown = "\n".join(hunk)
        mark = text[:1]
        if mark in {" ", ""}:
            found += [Place(position, left, "LEFT", shown), Place(position, right, "RIGHT", shown)]
        elif mark == "-":
            found.append(Place(position, left, "LEFT", shown))
        elif mark == "+":
            found.append(Place(position, right, "RIGHT", shown))
        left += mark in {" ", "-", ""}
        right += mark in {" ", "+", ""}
    return found


def find_line(patch: str, line: int, side: Side) -> Place | None:
    """Return the place of a line of the file, if the patch shows it."""
    return next((it for it in places(patch) if it.line == line and it.side == side), None)


def find_position(patch: str, position: int) -> Place | None:
    """Return the place at a position; a context line counts for the file after the change."""
    here = [it for it in places(patch) if it.position == position]
    return here[-1] if here else None
