"""The language somebody wrote in, so that they are answered in it (TON-4)."""

from __future__ import annotations

from enum import StrEnum


class Language(StrEnum):
    """The languages that Remit answers in."""

    ENGLISH = "en"
    CHINESE = "zh"


def language_of(text: str) -> Language:
    """Return the language of ``text``: Chinese where it holds a CJK ideograph, else English.

    A Chinese request often holds English names and code, the other way round hardly ever.
    """
    return Language.CHINESE if any(_is_ideograph(char) for char in text) else Language.ENGLISH


def _is_ideograph(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff" or "\u3400" <= char <= "\u4dbf"
