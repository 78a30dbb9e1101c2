"""Sessions: a signed cookie that says who is logged in, and until when.

Nothing is kept on the server. The signature derives from the person's token, so changing the token
ends every session that it opened.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from datetime import UTC, datetime, timedelta

from remit.panel.access.tokens import Token, Tokens

COOKIE = "remit_session"


def seal(token: Token, *, now: datetime, lasts: timedelta) -> str:
    """Return the cookie of a session that begins ``now``."""
    until = int((now + lasts).timestamp())
    person = base64.urlsafe_b64encode(token.person.encode()).decode()
    return f"{person}.{until}.{_signature(token, until)}"


def person_in(cookie: str, tokens: Tokens, *, now: datetime) -> str | None:
    """Return who is logged in by ``cookie``; None where it is forged, void or over."""
    parts = cookie.split(".")
    if len(parts) != 3 or not (parts[1].isascii() and parts[1].isdigit()):
        return None
    try:
        person = base64.urlsafe_b64decode(parts[0]).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return None
    token = tokens.of(person)
    until = int(parts[1])
    if token is None or not hmac.compare_digest(
        parts[2].encode(), _signature(token, until).encode()
    ):
        return None
    return person if datetime.fromtimestamp(until, UTC) > now else None


def _signature(token: Token, until: int) -> str:
    message = f"{token.person}\n{until}".encode()
    return hmac.new(token.key("session"), message, "sha256").hexdigest()
