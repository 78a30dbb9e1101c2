"""What GitHub's answers say about its limits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from remit.connectors.github.limits import is_limit, wait_after

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
LONGEST = timedelta(minutes=15)
RESET = str(int(NOW.timestamp()) + 300)
FAR = str(int(NOW.timestamp()) + 3600)
PAST = str(int(NOW.timestamp()) - 10)


@pytest.mark.field("C21")
@pytest.mark.parametrize(
    ("status", "headers", "message", "expected"),
    [
        (429, {}, "", True),
        (403, {"x-ratelimit-remaining": "0"}, "API rate limit exceeded", True),
        (403, {"retry-after": "30"}, "Slow down", True),
        (403, {}, "You have exceeded a secondary rate limit.", True),
        (403, {}, "You have triggered an abuse detection mechanism.", True),
        (422, {}, "Validation Failed; was submitted too quickly after a previous comment", True),
        (403, {"x-ratelimit-remaining": "4000"}, "Resource not accessible by integration", False),
        (403, {}, "Unable to create comment because issue is locked.", False),
        (404, {"x-ratelimit-remaining": "0"}, "Not Found", False),
        (422, {}, "Validation Failed", False),
    ],
)
def test_a_limit_is_told_from_a_refusal(
    status: int, headers: dict[str, str], message: str, expected: bool
) -> None:
    assert is_limit(status, headers, message) is expected


@pytest.mark.field("C21")
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "30"}, 30),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:45 GMT"}, 45),
        ({"retry-after": "0"}, 0),
        ({"retry-after": "30", "x-ratelimit-remaining": "0", "x-ratelimit-reset": RESET}, 30),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": RESET}, 300),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": PAST}, 0),
        ({"x-ratelimit-remaining": "7", "x-ratelimit-reset": RESET}, 60),
        ({"x-ratelimit-remaining": "0"}, 60),
        ({}, 60),
        ({"retry-after": "soon"}, 60),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": FAR}, 15 * 60),
        ({"retry-after": "86400"}, 15 * 60),
        ({"retry-after": "9" * 30}, 60),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "9" * 30}, 60),
    ],
)
def test_the_wait_is_what_github_says_and_never_too_long(
    headers: dict[str, str], seconds: int
) -> None:
    assert wait_after(headers, NOW, longest=LONGEST) == timedelta(seconds=seconds)
