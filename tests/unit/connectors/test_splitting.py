"""Splitting long texts: within the limit, nothing lost, nothing cut that belongs together."""

from __future__ import annotations

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from remit.connectors.splitting import Part, Unit, split


def size(text: str, unit: Unit) -> int:
    return len(text) if unit == "characters" else len(text.encode())


def bodies(parts: tuple[Part, ...]) -> list[str]:
    return [it.body for it in parts]


def texts(parts: tuple[Part, ...]) -> list[str]:
    return [it.text for it in parts]


def test_a_text_within_the_limit_is_one_part() -> None:
    assert texts(split("a\n\nb", 4)) == ["a\n\nb"]
    assert texts(split("", 1)) == [""]


def test_a_part_ends_between_paragraphs_where_it_can() -> None:
    text = "one one\ntwo\n\nthree three\n\nfour"
    assert bodies(split(text, 28)) == ["one one\ntwo\n\nthree three\n\n", "four"]


def test_a_part_ends_between_lines_where_no_paragraph_ends() -> None:
    assert bodies(split("aaa aaa\nbbb bbb\nccc ccc", 18)) == ["aaa aaa\nbbb bbb\n", "ccc ccc"]


def test_a_part_ends_before_a_heading() -> None:
    assert bodies(split("aaa\nbbb bbb\n# c\nddd ddd", 17)) == ["aaa\nbbb bbb\n", "# c\nddd ddd"]


def test_a_part_ends_between_words_where_no_line_ends() -> None:
    assert bodies(split("aaa bbb ccc ddd", 9)) == ["aaa bbb ", "ccc ddd"]


def test_a_part_ends_after_a_sentence_before_a_word() -> None:
    assert bodies(split("Aa bb. Cc dd ee", 12)) == ["Aa bb. ", "Cc dd ee"]


@pytest.mark.field("C19")
@pytest.mark.parametrize(
    ("text", "limit", "unit", "expected"),
    [
        pytest.param("你好世界", 2, "characters", ["你好", "世界"], id="Chinese by characters"),
        pytest.param("你好世界", 8, "bytes", ["你好", "世界"], id="Chinese by bytes"),
        pytest.param(
            "修好了。请看看吧", 6, "characters", ["修好了。", "请看看吧"], id="after a stop"
        ),
        pytest.param("这里，那里都好", 5, "characters", ["这里，", "那里都好"], id="after a comma"),
        pytest.param("abcé", 4, "bytes", ["abc", "é"], id="a letter of two bytes"),
        pytest.param("e\u0301e\u0301", 3, "characters", ["e\u0301", "e\u0301"], id="accents"),
        pytest.param("👍🏽👍🏽", 3, "characters", ["👍🏽", "👍🏽"], id="skin tones"),
        pytest.param("👨‍👩‍👧👨‍👩‍👧", 9, "characters", ["👨‍👩‍👧", "👨‍👩‍👧"], id="families"),
        pytest.param("🇨🇳🇩🇪🇫🇷", 5, "characters", ["🇨🇳🇩🇪", "🇫🇷"], id="flags"),
        pytest.param("🇨🇳🇩🇪", 12, "bytes", ["🇨🇳", "🇩🇪"], id="flags by bytes"),
        pytest.param("क्षिक्षि", 5, "characters", ["क्षि", "क्षि"], id="conjuncts"),
        pytest.param("한국한국", 3, "characters", ["한국한", "국"], id="Korean"),
        pytest.param("a\r\nb", 2, "characters", ["a", "\r\n", "b"], id="line ends"),
        pytest.param("a \u0301b", 2, "characters", ["a", " \u0301", "b"], id="accent on a blank"),
    ],
)
def test_a_character_as_people_see_it_is_never_cut(
    text: str, limit: int, unit: Unit, expected: list[str]
) -> None:
    assert bodies(split(text, limit, unit=unit)) == expected


@pytest.mark.field("C19")
def test_a_code_block_is_closed_and_opened_again() -> None:
    code = "".join(f"line {n}\n" for n in range(9))
    parts = split(f"Look:\n\n```python\n{code}```\n\nDone.", 60)
    assert texts(parts) == [
        "Look:\n\n```python\nline 0\nline 1\nline 2\nline 3\nline 4\n```",
        "```python\nline 5\nline 6\nline 7\nline 8\n```\n\nDone.",
    ]


@pytest.mark.field("C19")
def test_a_code_line_over_the_limit_is_cut_inside_the_block() -> None:
    parts = split("```\n" + "x" * 50 + "\n```", 40)
    assert texts(parts) == ["```\n" + "x" * 32 + "\n```", "```\n" + "x" * 18 + "\n```"]


def test_a_part_ends_before_a_code_block_rather_than_inside() -> None:
    parts = split("some words before it\n\n```\na\nb\nc\n```\n", 35)
    assert bodies(parts) == ["some words before it\n\n", "```\na\nb\nc\n```\n"]


def test_the_longer_fence_around_a_shorter_one_is_kept() -> None:
    parts = split("````md\n```\nx\n```\n" + "y\n" * 20 + "````\n", 40)
    assert all(it.opening in {"", "````md\n"} for it in parts)
    assert parts[0].closing == "````"


def test_a_quoted_code_block_stays_quoted() -> None:
    parts = split("> ```\n" + "> code\n" * 10 + "> ```\n", 50)
    assert [(it.opening, it.closing) for it in parts] == [("", "> ```"), ("> ```\n", "")]


def test_a_quoted_code_line_that_is_cut_stays_quoted() -> None:
    parts = split("> ```\n> " + "x" * 60 + "\n> ```\n", 50)
    assert parts[1].opening == "> ```\n> "


def test_a_code_block_in_a_list_is_closed_inside_the_list() -> None:
    parts = split("- ```\n" + "  code\n" * 10 + "  ```\n", 50)
    assert [(it.opening, it.closing) for it in parts] == [("", "  ```"), ("  ```\n", "")]


def test_a_code_block_deep_in_lists_goes_on_as_indented_code() -> None:
    text = "- a\n  - b\n    - ```\n" + "      code\n" * 10 + "      ```\n"
    parts = split(text, 80)
    assert parts[0].closing == "      ```"
    assert {it.opening for it in parts} == {""}
    assert [it.type for it in MarkdownIt().parse(parts[1].text)] == ["code_block"]


def test_a_fence_too_long_for_the_limit_is_cut_as_plain_text() -> None:
    parts = split("`" * 30 + "\ncode\n" + "`" * 30, 40)
    assert {(it.opening, it.closing) for it in parts} == {("", "")}


def test_a_cluster_over_the_limit_is_the_one_thing_that_is_cut() -> None:
    heap = "e" + "\u0301" * 30
    assert all(len(it.body) <= 10 for it in split(heap, 10))


@pytest.mark.parametrize(("limit", "unit"), [(0, "characters"), (3, "bytes"), (-1, "bytes")])
def test_a_limit_that_cannot_hold_every_character_is_refused(limit: int, unit: Unit) -> None:
    with pytest.raises(ValueError, match="limit"):
        split("x", limit, unit=unit)


UNITS: st.SearchStrategy[Unit] = st.sampled_from(("characters", "bytes"))
PIECES = st.sampled_from(
    [
        "word ",
        "another. ",
        "\n",
        "\n\n",
        "\r\n",
        "```\n",
        "```py\n",
        "~~~\n",
        "````\n",
        "> ",
        "- ",
        "  ",
        "# ",
        "`",
        "代码",
        "修好了。",
        "👨‍👩‍👧",
        "🇨🇳",
        "e\u0301",
        "क्षि",
        "x" * 30,
    ]
)
MARKDOWN = st.lists(PIECES, max_size=60).map("".join)


@pytest.mark.field("C19")
@given(MARKDOWN | st.text(), st.integers(4, 200), UNITS)
def test_nothing_is_lost_and_every_part_is_within_the_limit(
    text: str, limit: int, unit: Unit
) -> None:
    parts = split(text, limit, unit=unit)
    assert "".join(bodies(parts)) == text
    assert all(size(it, unit) <= limit for it in texts(parts))
    assert all(it.body for it in parts) or text == ""


@pytest.mark.field("C19")
@given(MARKDOWN | st.text(), st.integers(40, 200), UNITS)
def test_no_part_ends_inside_a_grapheme_cluster(text: str, limit: int, unit: Unit) -> None:
    clusters = regex.findall(r"\X", text)
    assume(all(size(it, unit) <= limit // 4 for it in clusters))
    ends, at = {0}, 0
    for cluster in clusters:
        at += len(cluster)
        ends.add(at)
    at = 0
    for body in bodies(split(text, limit, unit=unit)):
        at += len(body)
        assert at in ends


def code_of(text: str) -> str:
    return "".join(it.content for it in MarkdownIt().parse(text) if it.type == "fence")


@pytest.mark.field("C19")
@given(
    st.lists(st.tuples(st.sampled_from(["prose", "```", "~~~", "`````"]), st.integers(1, 30))),
    st.integers(60, 150),
)
def test_code_stays_code_and_prose_stays_prose_in_every_part(
    blocks: list[tuple[str, int]], limit: int
) -> None:
    text = ""
    for number, (kind, lines) in enumerate(blocks):
        content = "".join(f"{number}-{line} ok\n" for line in range(lines))
        text += f"{content}\n" if kind == "prose" else f"{kind}py\n{content}{kind}\n\n"
    parts = texts(split(text, limit))
    assert "".join(code_of(it) for it in parts) == code_of(text)
    for part in parts:
        fences = [it for it in MarkdownIt().parse(part) if it.type == "fence"]
        for fence in fences:
            assert fence.map is not None
            last = part.splitlines()[fence.map[1] - 1]
            assert last.strip() == fence.markup
