"""Cutting a long Markdown text into parts that a provider takes, at places that read well.

A part never ends inside a grapheme cluster. Where it must end inside a fenced code block, the
block is closed at the end of the part and opened again at the start of the next, so that every
part is whole Markdown. Nothing of the text is lost or changed: its bodies put together are the
text.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import regex
from markdown_it import MarkdownIt
from markdown_it.token import Token

from remit.connectors.markdown_lines import Lines

__all__ = ["Part", "Unit", "split"]

Unit = Literal["characters", "bytes"]
"""What a provider counts: characters (code points), or bytes of UTF-8."""

_SMALLEST_LIMIT = {"characters": 1, "bytes": 4}


@dataclass(frozen=True, slots=True)
class Part:
    """One message of a text that was cut.

    Attributes:
        opening: What opens a code block again that the part before had to close; else empty.
        body: A piece of the text, unchanged.
        closing: What closes a code block that goes on in the next part; else empty.
    """

    opening: str
    body: str
    closing: str

    @property
    def text(self) -> str:
        """The whole message."""
        return self.opening + self.body + self.closing


def split(text: str, limit: int, *, unit: Unit = "characters") -> tuple[Part, ...]:
    """Cut a Markdown text into parts, each within a limit.

    A part ends between paragraphs if it can, else between lines, else between words, and always
    between grapheme clusters, unless one cluster alone is over the limit. A code block whose
    fences would take up half of the limit is cut like other text.

    Args:
        text: Any Markdown text; an empty one is one empty part.
        limit: The most that one part may have.
        unit: What the limit counts.

    Raises:
        ValueError: The limit is too small for a single character.
    """
    if limit < _SMALLEST_LIMIT[unit]:
        raise ValueError(f"a limit of {limit} {unit} cannot hold every character")
    return tuple(_Cutter(text, limit, unit).parts())


@dataclass(frozen=True, slots=True)
class _Fence:
    """A fenced code block.

    Attributes:
        start: Index of its first line.
        body: Index after its opening line.
        body_end: Index of its closing line, or its end where it has none.
        end: Index after its last line.
        prefix: What its lines start with because of the quotation or list around it.
        reopening: What opens it again.
        closing: What closes it, on a line of its own.
    """

    start: int
    body: int
    body_end: int
    end: int
    prefix: str
    reopening: str
    closing: str


# Deeper than this a line is an indented code block, and needs no fence to be shown as code.
_INDENT = 3
_INFO = 32


def _fence(token: Token, lines: Lines) -> _Fence:
    assert token.map is not None
    first, after = token.map
    opening = lines.line(first)
    at = opening.find(token.markup)
    prefix = re.sub(r"[^>\s]", " ", opening[:at])
    mark = re.escape(token.markup[0])
    closing = re.compile(rf"[>\s]*{mark}{{{len(token.markup)},}}\s*")
    is_closed = after - first > 1 and closing.fullmatch(lines.line(after - 1)) is not None
    info = token.info.strip().split(" ")[0]
    if len(info) > _INFO:
        info = ""
    quoted, _, indent = prefix.rpartition(">")
    is_deep = len(indent.expandtabs(4)) > _INDENT + bool(quoted or prefix.strip())
    return _Fence(
        start=lines.start(first),
        body=lines.start(first + 1),
        body_end=lines.start(after - 1 if is_closed else after),
        end=lines.start(after),
        prefix=prefix,
        reopening="" if is_deep else f"{prefix}{token.markup}{info}\n",
        closing=f"{prefix}{token.markup}",
    )


class _Cutter:
    """Cuts one text."""

    def __init__(self, text: str, limit: int, unit: Unit) -> None:
        self._text = text
        self._limit = limit
        self._unit = unit
        self._lines = Lines(text)
        tokens = MarkdownIt("commonmark").parse(text)
        fences = (_fence(it, self._lines) for it in tokens if it.type == "fence")
        self._fences = [it for it in fences if self._is_worth_keeping(it)]
        self._fence_starts = [it.start for it in self._fences]

    def parts(self) -> Iterator[Part]:
        """Yield the parts in order."""
        start, opening = 0, ""
        while True:
            if self._size(opening) + self._size(self._text[start:]) <= self._limit:
                yield Part(opening, self._text[start:], "")
                return
            end = self._cut(start, self._limit - self._size(opening))
            yield Part(opening, self._text[start:end], self._closing(start, end))
            start, opening = end, self._opening(end)

    def _size(self, text: str) -> int:
        return len(text) if self._unit == "characters" else len(text.encode())

    def _is_worth_keeping(self, fence: _Fence) -> bool:
        opening = max(
            self._size(self._text[fence.start : fence.body]),
            self._size(fence.reopening) + self._size(fence.prefix),
        )
        closing = max(
            self._size(self._text[fence.body_end : fence.end]), self._size(fence.closing) + 1
        )
        return 2 * (opening + closing) <= self._limit

    def _fence_at(self, index: int) -> _Fence | None:
        """Return the code block that an index cuts: neither its first nor its end."""
        found = bisect.bisect_left(self._fence_starts, index) - 1
        if found < 0 or index >= self._fences[found].end:
            return None
        return self._fences[found]

    def _opening(self, index: int) -> str:
        fence = self._fence_at(index)
        if fence is None or not fence.reopening:
            return ""
        # The rest of a line that was cut needs the quotation's mark again.
        within_line = not self._is_line_start(index) and fence.prefix.strip()
        return fence.reopening + (fence.prefix if within_line else "")

    def _closing(self, start: int, index: int) -> str:
        fence = self._fence_at(index)
        if fence is None or (start > fence.start and not fence.reopening):
            return ""
        return fence.closing if self._text[index - 1] in "\r\n" else f"\n{fence.closing}"

    def _cut(self, start: int, room: int) -> int:
        """Return where a part ends that starts at an index and has room for so much."""
        furthest = start + self._fitting(start, room)
        half = start + (furthest - start) // 2

        def fits(index: int) -> bool:
            fence = self._fence_at(index)
            if fence is not None and not fence.body < index < fence.body_end:
                return False
            closing = self._size(self._closing(start, index))
            return not closing or self._size(self._text[start:index]) + closing <= room

        clusters = set(self._cluster_ends(start, furthest))
        ways: list[Callable[[int], bool]] = [
            self._is_paragraph_start,
            lambda it: self._is_line_start(it) and self._fence_at(it) is None,
            self._is_line_start,
            self._is_sentence_end,
            self._is_word_start,
        ]
        for way in ways:
            for index in range(furthest, half, -1):
                if index in clusters and way(index) and fits(index):
                    return index
        for index in range(furthest, start, -1):
            if index in clusters and fits(index):
                return index
        # One cluster is over the limit: nothing is left but to cut it.
        return next((it for it in range(furthest, start, -1) if fits(it)), max(furthest, start + 1))

    def _fitting(self, start: int, room: int) -> int:
        """Return how many characters from an index take up no more than some room."""
        if self._unit == "characters":
            return min(room, len(self._text) - start)
        taken = self._text[start : start + room].encode()[:room]
        return len(taken.decode(errors="ignore"))

    def _cluster_ends(self, start: int, furthest: int) -> Iterator[int]:
        for cluster in _CLUSTER.finditer(self._text, start):
            if cluster.end() > furthest:
                return
            yield cluster.end()

    def _is_line_start(self, index: int) -> bool:
        found = bisect.bisect_left(self._lines.starts, index)
        return found < len(self._lines.starts) and self._lines.starts[found] == index

    def _is_paragraph_start(self, index: int) -> bool:
        if not self._is_line_start(index) or self._fence_at(index) is not None:
            return False
        number = self._lines.line_at(index)
        return (
            not self._lines.line(number - 1).strip()
            or index in self._fence_starts
            or _HEADING.match(self._lines.line(number)) is not None
        ) and bool(self._lines.line(number).strip())

    def _is_sentence_end(self, index: int) -> bool:
        return self._text[index - 1] in "。！？；" or (
            self._text[index - 1].isspace() and self._text[index - 2 : index - 1] in _STOPS
        )

    def _is_word_start(self, index: int) -> bool:
        return self._text[index - 1].isspace() or self._text[index - 1] in "，、：）」』》"


_CLUSTER = regex.compile(r"\X")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|\Z)")
_STOPS = frozenset(".!?;")
