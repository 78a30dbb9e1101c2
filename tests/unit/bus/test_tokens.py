from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.bus.errors import TokenError
from remit.bus.tokens import MAX_LENGTH, decode, encode

SAFE_TOKEN = re.compile(r"[A-Za-z0-9_=~-]+")

HARD = [
    "",
    ".",
    "*",
    ">",
    " ",
    "\r\n",
    "\x00",
    "=",
    "==",
    "=2E",
    "%2E",
    "a.b.>",
    "人",
    "👩‍👩‍👧",
    "é",
]


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("octocat", "octocat"),
        ("octocat/hello-world#12", "octocat=2Fhello-world=2312"),
        ("", "="),
        ("=", "=3D"),
        ("a.b", "a=2Eb"),
        (">", "=3E"),
        ("人", "=E4=BA=BA"),
    ],
)
def test_a_text_has_one_readable_token(text: str, token: str) -> None:
    assert encode(text) == token
    assert decode(token) == text


@given(st.text(max_size=16))
@example("=~" + "0" * 64)
def test_any_text_becomes_one_safe_token_and_comes_back(text: str) -> None:
    token = encode(text)
    assert SAFE_TOKEN.fullmatch(token)
    assert decode(token) == text


@given(st.one_of(st.sampled_from(HARD), st.text()), st.one_of(st.sampled_from(HARD), st.text()))
def test_different_texts_have_different_tokens(one: str, other: str) -> None:
    assert (encode(one) == encode(other)) == (one == other)


@given(st.integers(0, 300), st.text(min_size=1, max_size=3))
def test_a_token_is_never_longer_than_the_bound(length: int, end: str) -> None:
    assert len(encode("x" * length + end)) <= MAX_LENGTH


@pytest.mark.parametrize("filler", ["x", "人", "/"])
def test_a_very_long_text_keeps_a_readable_beginning_and_stays_unique(filler: str) -> None:
    one, other = filler * 5000 + "1", filler * 5000 + "2"
    assert SAFE_TOKEN.fullmatch(encode(one))
    assert encode(one) == encode(one)
    assert encode(one) != encode(other)
    assert encode(one).startswith(encode(filler * 10))


def test_a_very_long_text_cannot_be_read_back() -> None:
    with pytest.raises(TokenError, match="too long"):
        decode(encode("x" * 500))


def test_the_longest_text_that_fits_is_kept_whole() -> None:
    assert decode(encode("x" * MAX_LENGTH)) == "x" * MAX_LENGTH
    assert decode(encode("/" + "x" * (MAX_LENGTH - 3))) == "/" + "x" * (MAX_LENGTH - 3)


def test_a_lone_surrogate_is_refused_with_its_place() -> None:
    with pytest.raises(TokenError, match="lone surrogate at position 2") as raised:
        encode("ab\ud800")
    assert raised.value.text == "ab\ud800"


@pytest.mark.parametrize(
    "token", ["", "a.b", "=2e", "=4", "=41", "=FF", "a b", "人", "==", "=\ud800", "x" * 201]
)
def test_only_what_encode_makes_is_a_token(token: str) -> None:
    with pytest.raises(TokenError):
        decode(token)


@given(st.text(alphabet="=ABCDEF0123456789abcf~.人", max_size=8))
def test_decoding_is_exact_or_refused(token: str) -> None:
    try:
        text = decode(token)
    except TokenError:
        return
    assert encode(text) == token
