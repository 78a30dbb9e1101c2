"""Where a review comment's line is in a patch."""

from __future__ import annotations

import pytest

from remit.emulators.github.diff import Place, find_line, find_position
from remit.emulators.github.state import Side

PATCH = """@@ -1,3 +1,4 @@
 one
-two
+zwei
+drei
 four
@@ -10,2 +11,2 @@ def f():
 ten
-eleven
+elf
\\ No newline at end of file"""


@pytest.mark.parametrize(
    ("line", "side", "position"),
    [
        (1, "LEFT", 1),
        (1, "RIGHT", 1),
        (2, "LEFT", 2),
        (2, "RIGHT", 3),
        (3, "RIGHT", 4),
        (3, "LEFT", 5),
        (4, "RIGHT", 5),
        (10, "LEFT", 7),
        (11, "RIGHT", 7),
        (11, "LEFT", 8),
        (12, "RIGHT", 9),
    ],
)
def test_a_line_of_either_side_is_found(line: int, side: Side, position: int) -> None:
    found = find_line(PATCH, line, side)
    assert found is not None
    assert (found.position, found.line, found.side) == (position, line, side)


@pytest.mark.parametrize(("line", "side"), [(5, "RIGHT"), (4, "LEFT"), (13, "RIGHT"), (0, "LEFT")])
def test_a_line_that_the_patch_does_not_show_is_not_found(line: int, side: Side) -> None:
    assert find_line(PATCH, line, side) is None


def test_the_hunk_ends_at_the_line() -> None:
    found = find_line(PATCH, 2, "RIGHT")
    assert found is not None
    assert found.hunk == "@@ -1,3 +1,4 @@\n one\n-two\n+zwei"


@pytest.mark.parametrize(
    ("position", "line", "side"), [(1, 1, "RIGHT"), (2, 2, "LEFT"), (3, 2, "RIGHT")]
)
def test_a_position_is_a_line_of_one_side(position: int, line: int, side: Side) -> None:
    found = find_position(PATCH, position)
    assert isinstance(found, Place)
    assert (found.line, found.side) == (line, side)


@pytest.mark.parametrize("position", [0, 6, 10, 11])
def test_headers_and_what_is_below_have_no_line(position: int) -> None:
    assert find_position(PATCH, position) is None
