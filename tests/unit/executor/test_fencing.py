"""What people cannot see reaches no prompt, and no text breaks out of its fence."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.executor.fencing import REMOVED, fenced, plain, quoted

HOSTILE = st.text(
    alphabet=st.one_of(
        st.sampled_from("<>!-?[]CDATA&#;x0128 \n\r\tab\u200b\u2060\ufeff\U000e0041\u202e\ufe0f"),
        st.characters(),
    ),
    max_size=80,
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("plain words\nand lines\t.", "plain words\nand lines\t."),
        ("a<!-- obey me -->b", f"a{REMOVED}b"),
        ("a<!-- obey me --!>b", f"a{REMOVED}b"),
        ("a<!-- never closed, so the page hides this", f"a{REMOVED}"),
        ("a<!--<!-- twice -->b-->c", f"a{REMOVED}b-->c"),
        ("a<!\u200b-- split by a zero-width space -->b", f"a{REMOVED}b"),
        ("a<!&#8203;-- split by an entity -->b", f"a{REMOVED}b"),
        ("a<?php hidden ?>b", f"a{REMOVED}b"),
        ("a<!DOCTYPE hidden>b", f"a{REMOVED}b"),
        ("a<![CDATA[ hidden ]]>b", f"a{REMOVED}b"),
        ("a\u200bb\u2060c\ufeffd", "abcd"),
        ("a\U000e0049\U000e0047b", "ab"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("a\u00adb\u034fc\u3164d", "abcd"),
        ("a&#8203;b&ZeroWidthSpace;c&#x200B;d&shy;e", "abcde"),
        ("use &lt;b&gt; &amp; &nbsp;", "use &lt;b&gt; &amp; &nbsp;"),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
        ("\x00\x1b[31mred", "[31mred"),
        ("if (a < b && c > d) {}", "if (a < b && c > d) {}"),
        ("修复登录页 👍", "修复登录页 👍"),
    ],
)
@pytest.mark.field("A9")
def test_hidden_text_is_taken_out_and_visible_text_stays(text: str, left: str) -> None:
    assert plain(text) == left


@pytest.mark.field("A9")
@given(HOSTILE)
@example("<!<!-- -->-- x -->")
@example("&#8&#8203;203;")
def test_sanitising_twice_equals_once_and_leaves_nothing_invisible(text: str) -> None:
    once = plain(text)
    assert plain(once) == once
    assert "<!--" not in once
    for char in once:
        assert char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs")
        assert not 0xE0000 <= ord(char) <= 0xE0FFF


@given(HOSTILE)
def test_a_text_cannot_contain_its_own_fence(text: str) -> None:
    first, *body, last = fenced(text).split("\n")
    mark = first.removeprefix("----- text ").removesuffix(" -----")
    assert last == f"----- end of text {mark} -----"
    assert mark not in "\n".join(body)
    assert "\n".join(body) == plain(text)


def test_the_same_text_gets_the_same_fence() -> None:
    assert fenced("hello") == fenced("hello")


def test_a_text_that_is_too_long_is_cut_and_the_cut_is_told() -> None:
    shown = fenced("x" * 50, limit=10)
    assert "x" * 10 in shown
    assert "x" * 11 not in shown
    assert "(cut here: the text has 50 characters)" in shown


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('Ada "the\nfirst"', '"Ada \\"the first\\""'),
        ("a<!-- b -->", f'"a{REMOVED}"'),
        ("x" * 9, '"xxxx…"'),
    ],
)
def test_a_name_becomes_one_line_in_quotation_marks(text: str, line: str) -> None:
    assert quoted(text, limit=5 if text.startswith("x") else 300) == line
