"""Untrusted text, made safe to put before a model: nothing hidden in it, and fenced.

Pure. What people cannot see on a provider's page is taken out, to a fixed point, so that
sanitising twice equals once (field report A9). What is left is fenced with a delimiter that it
cannot contain. Neither makes a text true or an order: authority comes from the gate and the Policy
alone (EVL-9).
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import unicodedata

REMOVED = "[hidden text removed]"
"""What stands where something hidden was, so that its reader knows of it."""

_HIDDEN_MARKUP = re.compile(
    r"""
      <!--.*?(?:--!?>|\Z)       # a comment, closed either way; an open one hides all the rest
    | <!\[CDATA\[.*?(?:\]\]>|\Z)
    | <\?.*?(?:\?>|\Z)          # a processing instruction
    | <![A-Za-z][^>]*(?:>|\Z)   # a declaration
    """,
    re.DOTALL | re.VERBOSE,
)
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")

_IGNORABLE_RANGES = (
    (0x034F, 0x034F),  # combining grapheme joiner
    (0x115F, 0x1160),  # Hangul fillers
    (0x17B4, 0x17B5),  # Khmer inherent vowels
    (0x180B, 0x180F),  # Mongolian selectors
    (0x3164, 0x3164),  # Hangul filler
    (0xFE00, 0xFE0F),  # variation selectors
    (0xFFA0, 0xFFA0),  # half-width Hangul filler
    (0xFFF0, 0xFFF8),
    (0xE0000, 0xE0FFF),  # tags and the further variation selectors
)
"""Code points that leave no trace on a page, beside the control and format characters."""


def plain(text: str) -> str:
    """Return ``text`` with nothing in it that a person would not see.

    Invisible code points go, also where they are written as entities; comments and other markup
    that pages do not show are replaced by `REMOVED`. Every other entity stays as it was written,
    since it may be what the text is about.
    """
    while True:
        cleaned = _once(text)
        if cleaned == text:
            return cleaned
        text = cleaned


def _once(text: str) -> str:
    text = _LINE_ENDS.sub("\n", text)
    text = "".join(char for char in text if not _invisible(char))
    text = _ENTITY.sub(lambda found: "" if _stands_for_nothing(found[0]) else found[0], text)
    return _HIDDEN_MARKUP.sub(REMOVED, text)


def _stands_for_nothing(entity: str) -> bool:
    decoded = html.unescape(entity)
    return decoded != entity and all(_invisible(char) for char in decoded)


def _invisible(char: str) -> bool:
    if char in "\n\t":
        return False
    if unicodedata.category(char) in ("Cc", "Cf", "Cs"):
        return True
    point = ord(char)
    return any(first <= point <= last for first, last in _IGNORABLE_RANGES)


def quoted(text: str, limit: int = 300) -> str:
    """Return ``text`` as one line in quotation marks, cut to ``limit`` characters.

    For short texts from outside, such as names and titles, inside a line of ours.
    """
    line = " ".join(plain(text).split())
    if len(line) > limit:
        line = line[: limit - 1] + "…"
    return json.dumps(line, ensure_ascii=False)


def fenced(text: str, limit: int = 60_000) -> str:
    """Return ``text``, cleaned, between two lines that it cannot contain.

    The same text gets the same fence, so that a prompt built again is the same prompt.

    Args:
        text: What somebody wrote.
        limit: How many characters are kept; that it was cut is said outside the fence.
    """
    cleaned = plain(text)
    cut = len(cleaned) > limit
    body = cleaned[:limit] if cut else cleaned
    mark = _mark_for(body)
    note = f"\n(cut here: the text has {len(cleaned)} characters)" if cut else ""
    return f"----- text {mark} -----\n{body}\n----- end of text {mark} -----{note}"


def _mark_for(body: str) -> str:
    tries = 0
    while True:
        mark = hashlib.sha256(f"{tries}:{body}".encode()).hexdigest()[:12]
        if mark not in body:
            return mark
        tries += 1
