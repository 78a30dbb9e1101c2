"""Tokens: what a person or a program proves itself with.

A token file holds one token on each line, with the name of the person it belongs to before it
where there are several::

    alice 8f1c...
    bob   b77e...
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from pathlib import Path

SHORTEST = 16
"""Characters that a token needs at least: it guards everything."""


class TokenFileInvalid(Exception):
    """A token file cannot be used.

    Attributes:
        path: The file.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path


class Token:
    """A secret and whose it is.

    Args:
        person: The person, as the Policy's lists name them.
        secret: The token itself.
    """

    def __init__(self, person: str, secret: str) -> None:
        self.person = person
        self._secret = secret.encode()

    def __repr__(self) -> str:
        return f"Token({self.person!r})"

    def matches(self, given: str) -> bool:
        """Say whether ``given`` is the token, in constant time."""
        return hmac.compare_digest(
            hashlib.sha256(given.encode()).digest(), hashlib.sha256(self._secret).digest()
        )

    def key(self, purpose: str) -> bytes:
        """Return a key that derives from the token: a new token makes everything it signed void."""
        return hmac.digest(self._secret, f"remit.panel/{purpose}".encode(), "sha256")


class Tokens:
    """The tokens of the people who may log in."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tuple(tokens)

    def holder_of(self, given: str) -> Token | None:
        """Return the token that ``given`` is; every one is compared, whichever it is."""
        found = [token for token in self._tokens if token.matches(given)]
        return found[0] if found else None

    def of(self, person: str) -> Token | None:
        """Return a person's token."""
        return next((token for token in self._tokens if token.person == person), None)


def read_tokens(path: Path, default_person: str) -> Tokens:
    """Return the tokens in a file.

    Args:
        path: The file.
        default_person: Whose a token without a name is.

    Raises:
        TokenFileInvalid: It cannot be read, is empty, or holds a token that is too short.
    """
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise TokenFileInvalid(path, f"cannot be read: {reason}") from error
    tokens: list[Token] = []
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words:
            continue
        if len(words) > 2:
            raise TokenFileInvalid(path, f"line {number}: write a token, or a name and a token")
        person = words[0] if len(words) == 2 else default_person
        if len(words[-1]) < SHORTEST:
            raise TokenFileInvalid(
                path, f"line {number}: the token has fewer than {SHORTEST} characters"
            )
        tokens.append(Token(person, words[-1]))
    if not tokens:
        raise TokenFileInvalid(path, "holds no token; write one on a line of its own")
    people = [token.person for token in tokens]
    for person in people:
        if people.count(person) > 1:
            raise TokenFileInvalid(path, f"{person} has two tokens; give each person one")
    return Tokens(tokens)


def read_token(path: Path) -> Token:
    """Return the one token in a file.

    Raises:
        TokenFileInvalid: It cannot be read, is empty, or holds a token that is too short.
    """
    found = read_tokens(path, "")
    token = found.of("")
    if token is None:
        raise TokenFileInvalid(path, "holds more than a token; write it alone")
    return token
