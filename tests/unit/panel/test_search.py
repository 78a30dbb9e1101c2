"""Finding text in English and Chinese with SQLite's full-text search."""

from __future__ import annotations

import sqlite3

import pytest

from remit.panel.readmodel.search import match_for, searchable

TEXT = "Please fix the broken link; the price is 12.50, see issue-77. 请把价格页面翻译成中文 thanks"


def finds(wanted: str, text: str = TEXT) -> bool:
    match = match_for(wanted)
    if match is None:
        return False
    db = sqlite3.connect(":memory:")
    try:
        db.execute("CREATE VIRTUAL TABLE found USING fts5 (text)")
        db.execute("INSERT INTO found VALUES (?)", (searchable(text),))
        return (
            db.execute("SELECT 1 FROM found WHERE found MATCH ?", (match,)).fetchone() is not None
        )
    finally:
        db.close()


@pytest.mark.parametrize(
    "wanted",
    [
        "broken",
        "BROKEN link",
        "link broken",
        "brok",
        "价格",
        "价格页面",
        "翻",
        "price 价格",
        "中文 thanks",
        "issue-77",
        'broken "link"',
        "fix*",
    ],
)
def test_a_text_is_found_by_its_words(wanted):
    assert finds(wanted)


@pytest.mark.parametrize(
    "wanted", ["missing", "broken missing", "格价", "页中", "", "  ", "?!", "link NOT broken zebra"]
)
def test_a_text_is_not_found_by_what_is_not_in_it(wanted):
    assert not finds(wanted)


@pytest.mark.parametrize("wanted", ['"', "a OR b", "NEAR(a b)", "text:x", "(", "a AND", "^x", "-y"])
def test_nothing_that_is_looked_for_is_read_as_an_operator(wanted):
    assert not finds(wanted, "nothing of it")


def test_the_search_looks_for_a_bounded_number_of_words():
    match = match_for("word " * 1000)
    assert match is not None
    assert match.count('"') == 64
