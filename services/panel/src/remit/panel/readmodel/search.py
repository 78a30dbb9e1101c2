"""Finding text in any language with the words that SQLite's full-text search knows.

The search splits text at spaces and punctuation, which Chinese, Japanese and Korean do not use
between words. So each of their characters becomes a word of its own, in the index and in what is
looked for, and a run of them is looked for as a phrase.
"""

from __future__ import annotations

import re

LONGEST = 20_000
"""Characters of a text that can be found."""

_IDEOGRAPH = re.compile(r"([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")
_WORD = re.compile(r"\w+")
_MOST_WORDS = 32


def searchable(text: str | None) -> str:
    """Return ``text`` as it goes into the index."""
    if not text:
        return ""
    cut = text[:LONGEST]
    return cut if cut.isascii() else _IDEOGRAPH.sub(r" \1 ", cut)


def match_for(wanted: str) -> str | None:
    """Return the FTS5 expression for what somebody looks for; None where it holds no word.

    Every word must occur; the last letters of a word may be missing. Nothing in ``wanted`` is read
    as an operator.
    """
    terms: list[str] = []
    for word in _WORD.findall(wanted)[:_MOST_WORDS]:
        parts = searchable(word).split()
        prefix = "" if _IDEOGRAPH.fullmatch(parts[-1]) else "*"
        terms.append(f'"{" ".join(parts)}"{prefix}')
    return " ".join(terms) or None
