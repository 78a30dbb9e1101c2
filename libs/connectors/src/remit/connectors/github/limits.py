"""What GitHub's answers say about its limits.

See https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from http import HTTPStatus

WITHOUT_A_HINT = timedelta(seconds=60)
"""What GitHub asks for where it gives no time."""

_PHRASES = ("rate limit", "abuse detection")
_TOO_QUICK = "submitted too quickly"
_MOST_DIGITS = 10
"""Seconds with more digits lie outside of what a calendar knows."""


def is_limit(status: int, headers: Mapping[str, str], message: str) -> bool:
    """Say whether an answer means that a primary or secondary limit was reached."""
    match status:
        case HTTPStatus.TOO_MANY_REQUESTS:
            return True
        case HTTPStatus.FORBIDDEN:
            told = headers.get("x-ratelimit-remaining") == "0" or "retry-after" in headers
            return told or any(phrase in message.casefold() for phrase in _PHRASES)
        case HTTPStatus.UNPROCESSABLE_ENTITY:
            return _TOO_QUICK in message.casefold()
        case _:
            return False


def wait_after(headers: Mapping[str, str], now: datetime, *, longest: timedelta) -> timedelta:
    """Return how long GitHub is to be left alone: as it says, never longer than ``longest``."""
    wait = _retry_after(headers.get("retry-after"), now)
    if wait is None and headers.get("x-ratelimit-remaining") == "0":
        wait = _until(headers.get("x-ratelimit-reset"), now)
    if wait is None:
        wait = WITHOUT_A_HINT
    return min(max(wait, timedelta(0)), longest)


def _retry_after(value: str | None, now: datetime) -> timedelta | None:
    """Read the header in both forms of RFC 9110, section 10.2.3."""
    if value is None:
        return None
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now


def _until(value: str | None, now: datetime) -> timedelta | None:
    seconds = _seconds(value or "")
    return None if seconds is None else datetime.fromtimestamp(0, UTC) + seconds - now


def _seconds(value: str) -> timedelta | None:
    if not (value.isascii() and value.isdecimal() and len(value) <= _MOST_DIGITS):
        return None
    return timedelta(seconds=int(value))
