"""The panel's words, in English and Chinese, one language at a time."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files

from remit.domain.model import Model


class Tongue(StrEnum):
    """A language that the panel speaks."""

    ENGLISH = "en"
    CHINESE = "zh"

    @property
    def tag(self) -> str:
        """The language for the page's ``lang`` attribute (BCP 47)."""
        return "zh-Hans" if self is Tongue.CHINESE else "en"

    @property
    def own_name(self) -> str:
        """What speakers call it."""
        return "中文" if self is Tongue.CHINESE else "English"


class Term(Model):
    """A term of the glossary, in both languages."""

    en: str
    zh: str
    en_meaning: str
    zh_meaning: str


@dataclass(frozen=True, slots=True)
class Words:
    """Every text, by language, family and key.

    Attributes:
        texts: The texts.
        glossary: The terms, in the order in which they explain each other.
    """

    texts: Mapping[Tongue, Mapping[str, Mapping[str, str]]]
    glossary: Sequence[Term]

    def text(self, tongue: Tongue, key: str, **values: object) -> str:
        """Return a text.

        Args:
            tongue: The language.
            key: ``family.key``.
            values: What stands in the text's braces.

        Raises:
            KeyError: There is no such text: a page names one that the catalogue lacks.
        """
        family, _, name = key.partition(".")
        text = self.texts[tongue][family][name]
        return text.format(**values) if values else text

    def word(self, tongue: Tongue, family: str, value: object) -> str:
        """Return what a value of a closed list is called; others are shown as they are.

        A connector of somebody else may have reasons of its own.
        """
        return self.texts[tongue][family].get(str(value), str(value))


def read_words() -> Words:
    """Return the words that come with the panel."""
    folder = files("remit.panel.web") / "words"
    glossary = tomllib.loads((folder / "glossary.toml").read_text(encoding="utf-8"))
    return Words(
        texts={
            tongue: tomllib.loads((folder / f"{tongue}.toml").read_text(encoding="utf-8"))
            for tongue in Tongue
        },
        glossary=tuple(Term.model_validate(term) for term in glossary["term"]),
    )


def wanted_by(accept_language: str) -> Tongue:
    """Return the language that a browser asks for (RFC 9110, section 12.5.4); English if neither."""
    best, weight = Tongue.ENGLISH, 0.0
    for part in accept_language.split(","):
        tag, _, quality = part.strip().partition(";q=")
        language = tag.strip().lower().partition("-")[0]
        try:
            weighs = float(quality) if quality else 1.0
        except ValueError:
            continue
        if language in tuple(Tongue) and weighs > weight:
            best, weight = Tongue(language), weighs
    return best
