"""The hidden marker that a Channel puts into what it writes, to find it again (CHN-3).

Providers without an idempotency key show after a crash only whether a text with the marker is
there. A marker proves nothing about who wrote: people quote, so a caller that finds one checks the
actor too.
"""

from __future__ import annotations

import re

__all__ = ["find", "make", "strip", "with_marker"]

_KEY = r"[A-Za-z0-9][A-Za-z0-9._/:+=~@]*(?:-[A-Za-z0-9._/:+=~@]+)*"
_VALID = re.compile(_KEY)
_MARKER = re.compile(rf"<!-- remit:({_KEY}) -->")


def make(key: str) -> str:
    """Return the marker of a key.

    Args:
        key: Letters, digits, and ``. _ / : + = ~ @ -``; it starts with a letter or digit, and
            has no two hyphens together and none at the end, which would end an HTML comment.

    Raises:
        ValueError: The key has another form.
    """
    if not _VALID.fullmatch(key):
        raise ValueError(
            f"{key!r} cannot be a marker's key: take letters, digits, and ./:_+=~@, "
            "with single hyphens between them"
        )
    return f"<!-- remit:{key} -->"


def with_marker(text: str, key: str) -> str:
    """Return a text that ends in its marker, on a line of its own.

    Raises:
        ValueError: The key has no marker's form.
    """
    return f"{text.rstrip()}\n\n{make(key)}"


def find(text: str) -> tuple[str, ...]:
    """Return the keys of all markers in a text, in order, quoted ones included."""
    return tuple(_MARKER.findall(text))


def strip(text: str) -> str:
    """Return a text without its markers and the blank lines that led to them."""
    first, *others = _MARKER.split(text)
    kept = [first]
    for piece in others[1::2]:
        kept[-1] = kept[-1].rstrip("\n")
        kept.append(piece.lstrip(" \t"))
    return "".join(kept)
