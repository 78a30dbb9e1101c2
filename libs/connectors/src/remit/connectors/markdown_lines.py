"""The lines of a Markdown text, numbered as the parser numbers them."""

from __future__ import annotations

import bisect
import re

__all__ = ["Lines"]


class Lines:
    """Where each line of a text starts; a line feed, a carriage return, or both end one.

    Attributes:
        starts: Index of each line's first character, from line 0.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.starts = [0, *(it.end() for it in re.finditer(r"\r\n|\r|\n", text))]

    def start(self, number: int) -> int:
        """Return the index of a line's first character; the end of the text after the last."""
        return self.starts[number] if number < len(self.starts) else len(self._text)

    def line(self, number: int) -> str:
        """Return a line without its end."""
        return self._text[self.start(number) : self.start(number + 1)].rstrip("\r\n")

    def line_at(self, index: int) -> int:
        """Return the number of the line that holds an index."""
        return bisect.bisect_right(self.starts, index) - 1
