"""How values look on a page."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from remit.panel.web import showing


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (0, "0 ms"),
        (0.2, "0.20 ms"),
        (4.25, "4.2 ms"),
        (86.4, "86 ms"),
        (1200, "1.2 s"),
        (59_940, "59.9 s"),
        (61_000, "1 min 1 s"),
        (7_500_000, "2 h 5 min"),
    ],
)
def test_a_duration_has_the_unit_that_suits_it(milliseconds, shown):
    assert showing.took(milliseconds) == shown


def test_times_are_shown_in_utc():
    at = datetime(2026, 3, 1, 1, 2, 3, 456789, timezone(timedelta(hours=8)))
    assert showing.moment(at) == "2026-02-28 17:02:03"
    assert showing.instant(at) == "2026-02-28 17:02:03.456"
    assert (
        showing.between(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 1, 0, 1, tzinfo=UTC))
        == "1 min 0 s"
    )


@pytest.mark.parametrize(
    ("id", "path"),
    [
        ("github:1/issue/7", "/threads/github:1%2Fissue%2F7"),
        ("a?b#c&d", "/threads/a%3Fb%23c%26d"),
        ("../../x", "/threads/..%2F..%2Fx"),
        ('"><script>', "/threads/%22%3E%3Cscript%3E"),
    ],
)
def test_an_id_is_one_segment_of_a_path_whatever_it_holds(id, path):
    assert showing.path_to("threads", id) == path


@pytest.mark.parametrize("url", ["https://example.org/x?y=1", "http://example.org"])
def test_pages_link_to_the_web(url):
    assert showing.web_address(url) == url


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//evil", "ftp://x", "", "http://[", None]
)
def test_pages_link_to_nothing_else(url):
    assert showing.web_address(url) is None


@pytest.mark.parametrize("given", ["//evil.example", "/\\evil.example", "https://evil.example", ""])
def test_after_a_login_nobody_is_sent_elsewhere(given):
    assert showing.local_path(given) == "/"


def test_after_a_login_people_go_on_where_they_wanted():
    assert showing.local_path("/tickets/t-1?x=1") == "/tickets/t-1?x=1"


@pytest.mark.parametrize(
    ("offset", "duration", "whole", "bar"),
    [
        (0, 10, 10, ("0.0", "1000.0")),
        (5, 2.5, 10, ("500.0", "250.0")),
        (0, 0, 0, ("0", "1000")),
        (10, 0, 10, ("996.0", "4.0")),
        (9, 5, 10, ("900.0", "100.0")),
    ],
)
def test_a_bar_stays_within_the_waterfall_and_can_always_be_seen(offset, duration, whole, bar):
    assert showing.bar(offset, duration, whole) == bar
