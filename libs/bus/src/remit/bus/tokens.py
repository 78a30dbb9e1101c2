"""Tokens: any text as one safe token of a NATS subject, and back.

ASCII letters, digits, ``-`` and ``_`` stay as they are, so that a token can be read. Every
other character becomes its UTF-8 bytes, each as ``=`` and two upper-case hex digits; the
empty text is ``=`` alone. ``=`` and not ``%``, so that a token can stand in a URL path
without being decoded on the way.

A token has at most `MAX_LENGTH` characters, since the server bounds the line a subject
stands on. Longer ones become a readable beginning, ``=~`` and the SHA-256 of the text: still
deterministic and, as far as anyone can find out, still unique, but no longer decodable.
Whoever needs a long text back carries it in the message.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

from remit.bus.errors import TokenError

MAX_LENGTH = 200
"""Characters in the longest token; four of them fit the server's line with room to spare."""

_EMPTY = "="
_HASHED = "=~"
_BEGINNING = MAX_LENGTH - len(_HASHED) - hashlib.sha256().digest_size * 2
_SAFE = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_LENGTH}}}")
_UNSAFE_BYTE = re.compile(rb"[^A-Za-z0-9_-]")
_ESCAPE = re.compile(rb"=([0-9A-F]{2})")
_CUT_ESCAPE = re.compile(r"=[0-9A-F]?\Z")


@lru_cache(maxsize=8192)
def encode(text: str) -> str:
    """Turn any text into one token that is safe in a subject.

    Raises:
        TokenError: The text holds a lone surrogate, which is no character and has no bytes.
    """
    if _SAFE.fullmatch(text):
        return text
    try:
        raw = text.encode()
    except UnicodeEncodeError as error:
        raise TokenError(text, f"holds a lone surrogate at position {error.start}") from error
    token = _UNSAFE_BYTE.sub(_escape, raw).decode("ascii") or _EMPTY
    if len(token) <= MAX_LENGTH:
        return token
    beginning = _CUT_ESCAPE.sub("", token[:_BEGINNING])
    return f"{beginning}{_HASHED}{hashlib.sha256(raw).hexdigest()}"


def decode(token: str) -> str:
    """Turn a token back into its text.

    Raises:
        TokenError: It is no token, or it stands for a text too long to be kept in it.
    """
    if _SAFE.fullmatch(token):
        return token
    if token == _EMPTY:
        return ""
    if _HASHED in token:
        raise TokenError(token, "stands for a text too long to be kept in a token")
    try:
        raw = _ESCAPE.sub(_unescape, token.encode("ascii"))
        text = raw.decode()
        canonical = encode(text) == token
    except UnicodeError as error:
        raise TokenError(token, "is not a token") from error
    if not canonical:
        raise TokenError(token, "is not a token")
    return text


def _escape(match: re.Match[bytes]) -> bytes:
    return b"=%02X" % match[0][0]


def _unescape(match: re.Match[bytes]) -> bytes:
    return bytes.fromhex(match[1].decode())
