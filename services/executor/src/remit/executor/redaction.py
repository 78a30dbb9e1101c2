"""Keeping secrets out of what is logged and told (ENV-2)."""

from __future__ import annotations

from collections.abc import Iterable

HIDDEN = "***"


def without(text: str, secrets: Iterable[str]) -> str:
    """Return ``text`` with every one of ``secrets`` replaced."""
    # The longest first: one secret may be a part of another.
    for secret in sorted((one for one in secrets if one), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text
