"""The hidden marker: made, found, and taken out again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.connectors.markers import find, make, strip, with_marker

KEYS = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._/:+=~@]{0,20}(-[A-Za-z0-9._/:+=~@]{1,8}){0,3}\Z")


def test_a_marker_is_an_html_comment() -> None:
    assert make("t-42/1") == "<!-- remit:t-42/1 -->"


@pytest.mark.parametrize(
    "key",
    ["", "a b", "a--b", "a-", "-a", "a>b", "a\nb", "é", "a<!--", "--!>", ".a"],
)
def test_a_key_that_could_end_the_comment_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="marker"):
        make(key)


@given(KEYS, st.text())
def test_what_was_made_is_found_and_the_text_is_got_back(key: str, text: str) -> None:
    text = strip(text).rstrip()
    marked = with_marker(text, key)
    assert find(marked)[-1] == key
    assert strip(marked) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("no marker", ()),
        ("done\n\n<!-- remit:a/1 -->", ("a/1",)),
        ("> done\n>\n> <!-- remit:a/1 -->\n\nsays who?", ("a/1",)),
        ("<!-- remit:a -->x<!-- remit:b -->", ("a", "b")),
        ("<!-- remit: a -->", ()),
        ("<!-- other:a -->", ()),
        ("<!-- remit:a--b -->", ()),
    ],
)
def test_markers_are_found_in_order_quoted_ones_too(text: str, found: tuple[str, ...]) -> None:
    assert find(text) == found


def test_text_around_a_marker_stays() -> None:
    assert strip("a\n\n<!-- remit:k -->\n\nb") == "a\n\nb"
