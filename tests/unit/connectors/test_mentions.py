"""The mention parser: where a text addresses the agent, and where it only seems to."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.connectors.mentions import Mention, find_mentions, is_addressed, strip

LOGIN = "remit-bot"


def places(text: str, *logins: str) -> list[str]:
    """Return the pieces of a text that address the agent."""
    return [text[it.start : it.end] for it in find_mentions(text, logins or (LOGIN,))]


ADDRESSED = {
    "alone": "@remit-bot",
    "at the start": "@remit-bot please fix this",
    "in the middle": "could you, @remit-bot, look?",
    "at the end": "over to @remit-bot",
    "before a full stop": "Ask @remit-bot.",
    "before an ellipsis": "Well, @remit-bot...",
    "before a colon": "@remit-bot: fix",
    "before a colon without a space": "@remit-bot:fix",
    "in another case": "@Remit-BOT fix",
    "in brackets": "(@remit-bot)",
    "after a full stop without a space": "Done.@remit-bot next",
    "possessive": "@remit-bot's turn",
    "beside another name": "@alice/@remit-bot please",
    "run together with another name": "@remit-bot@alice please",
    "in bold": "**@remit-bot** fix",
    "in underscored emphasis": "_@remit-bot_ fix",
    "in a heading": "# @remit-bot fix",
    "in a list": "- one\n- @remit-bot two",
    "in a nested list": "1. a\n   - b @remit-bot",
    "in a table": "| who |\n| --- |\n| @remit-bot |",
    "on a later line of a paragraph": "first\n  second @remit-bot",
    "after a fence": "```\ncode\n```\n@remit-bot fix",
    "after a quotation": "> old\n\n@remit-bot fix",
    "after inline code": "`x` @remit-bot",
    "after an escaped at sign": r"\@alice @remit-bot",
    "after a backtick that opens nothing": "`@remit-bot fix",
    "after an HTML comment": "<!-- note --> @remit-bot fix",
    "in an HTML element": "<details>\n<summary>@remit-bot fix</summary>\n</details>",
    "in an inline HTML element": "please <b>@remit-bot</b>",
    "in Chinese text": "请@remit-bot看看",
    "in Chinese text with marks": "你好，@remit-bot，请修一下。",
    "at the end of Chinese text": "麻烦@remit-bot",
    "in Japanese text": "これを@remit-botお願いします",
    "in Korean text": "이것@remit-bot부탁해요",
    "beside an emoji": "👍@remit-bot🙏",
    "after two hyphens that are no signature": "--\n@remit-bot fix",
    "after a quoted message and its attribution": (
        "On Mon, 2 Mar 2026 at 10:00, Bob <bob@example.com> wrote:\n> old\n\n@remit-bot fix"
    ),
    "after prose that only sounds like an attribution": "On this Bob wrote:\n\n@remit-bot fix",
    "with Windows line ends": "first\r\n\r\n@remit-bot fix\r\n",
    "before a reply's tail": (
        "@remit-bot fix\n\nOn Mon, 2 Mar 2026 at 10:00, Bob <bob@example.com> wrote:\n> old"
    ),
}

NOT_ADDRESSED = {
    "nothing": "",
    "the name without the sign": "remit-bot fix",
    "a fence": "```\n@remit-bot fix\n```",
    "a fence with tildes": "~~~py\n@remit-bot\n~~~",
    "a fence that never ends": "```\n@remit-bot fix",
    "a fence in a list": "- a\n  ```\n  @remit-bot\n  ```",
    "indented code": "text\n\n    @remit-bot fix",
    "inline code": "the `@remit-bot` account",
    "inline code with two backticks": "``a ` @remit-bot``",
    "a quotation": "> @remit-bot fix",
    "a quotation in a list": "- > @remit-bot fix",
    "a list in a quotation": "> - @remit-bot fix",
    "a line that goes on a quotation": "> please\n@remit-bot fix",
    "an HTML comment": "<!-- @remit-bot fix -->",
    "an HTML comment in a line": "hello <!-- @remit-bot --> there",
    "an HTML comment over lines": "<!--\n@remit-bot\n\nfix\n-->",
    "an HTML comment that never ends": "<!-- x\n@remit-bot fix",
    "an HTML comment with another end": "<div><!-- @remit-bot --!></div>",
    "HTML code": "please <code>@remit-bot</code>",
    "an HTML quotation": "<blockquote>\n\n@remit-bot fix\n\n</blockquote>",
    "an HTML quotation in one block": "<blockquote>@remit-bot fix</blockquote>",
    "an HTML attribute": '<img alt="@remit-bot">',
    "a link's text": "[@remit-bot](https://example.com)",
    "a link's address": "[x](https://example.com/@remit-bot)",
    "a picture's text": "![@remit-bot](x.png)",
    "a bare address": "see https://example.com/@remit-bot",
    "a bare address's query": "https://example.com/?q=@remit-bot",
    "an address without a scheme": "example.com/@remit-bot",
    "an e-mail address": "write to me@remit-bot.example",
    "an e-mail address with an accent": "café@remit-bot",
    "an e-mail address with a tag": "me+@remit-bot",
    "a host": "@remit-bot.example.com",
    "an account on another host": "@remit-bot@social.example",
    "a longer name with a digit": "@remit-bot2 fix",
    "a longer name with a letter": "@remit-botx fix",
    "a longer name with a hyphen": "@remit-bot-two fix",
    "a name with a hyphen at its end": "@remit-bot- fix",
    "a longer name with an underscore": "@remit-bot_two fix",
    "a name with an underscore at its end": "@remit-bot_ fix",
    "a longer name with an accent": "@remit-boté fix",
    "a longer name in front": "@xremit-bot fix",
    "an app of that name": "@remit-bot[bot] fix",
    "a team of that name": "@acme/remit-bot fix",
    "a team of an organisation of that name": "@remit-bot/core fix",
    "an escaped sign": r"\@remit-bot fix",
    "a sign and a space": "@ remit-bot fix",
    "an invisible character inside": "@\u200bremit-bot fix",
    "a look-alike letter": "@remit-b\u03bft fix",
    "a signature": "thanks\n\n-- \nBob, @remit-bot's friend",
    "a reply's quoted tail": (
        "thanks\n\nOn Mon, 2 Mar 2026 at 10:00, Bob <bob@example.com> wrote:\n> @remit-bot fix"
    ),
    "a reply's tail without quotation marks": (
        "thanks\n\nOn Mon, 2 Mar 2026 at 10:00, Bob <bob@example.com> wrote:\n\n@remit-bot fix"
    ),
    "a reply's tail with a wrapped attribution": (
        "thanks\n\nOn Mon, 2 Mar 2026 at 10:00, Bob Longname\n<bob@example.com> wrote:\n\n@remit-bot"
    ),
    "an attribution that names the agent": "On Monday @remit-bot wrote:\n> done",
    "a Chinese reply's tail": "谢谢\n\n张三 <z@example.com> 于2026年3月2日周一 写道：\n\n@remit-bot 看看",
    "another Chinese reply's tail": "好\n\n在 2026年3月2日 10:00，李四写道：\n> @remit-bot 看看",
    "an Outlook reply's tail": "ok\n\n-----Original Message-----\nFrom: Bob\n\n@remit-bot fix",
    "a Chinese mail program's tail": "好的\n\n------------------ 原始邮件 ------------------\n@remit-bot",
    "the headers of an older message": "ok\n\nFrom: Bob\nSent: Monday\nTo: Al\n\n@remit-bot fix",
    "the Chinese headers of an older message": "好\n\n发件人：李四\n发送时间：周一\n\n@remit-bot 看看",
}


@pytest.mark.field("C9")
@pytest.mark.parametrize("text", ADDRESSED.values(), ids=ADDRESSED.keys())
def test_a_mention_where_a_person_speaks_addresses_the_agent(text: str) -> None:
    assert [it.lower() for it in places(text)] == ["@remit-bot"]
    assert is_addressed(text, logins=[LOGIN])


@pytest.mark.field("C9")
@pytest.mark.parametrize("text", NOT_ADDRESSED.values(), ids=NOT_ADDRESSED.keys())
def test_what_only_looks_like_a_mention_does_not_address_the_agent(text: str) -> None:
    assert places(text) == []
    assert not is_addressed(text, logins=[LOGIN])


@pytest.mark.field("C9")
def test_a_tail_inside_a_fence_is_code_and_ends_nothing() -> None:
    text = "```\n-- \nOn 2026-03-02 Bob <b@example.com> wrote:\n```\n@remit-bot fix"
    assert places(text) == ["@remit-bot"]


def test_every_mention_is_found_in_order() -> None:
    text = "@remit-bot a\n\n> @remit-bot\n\n- b @REMIT-BOT\n- `@remit-bot`\n\n## c @remit-bot"
    assert places(text) == ["@remit-bot", "@REMIT-BOT", "@remit-bot"]


def test_the_agent_may_have_several_logins_and_the_longest_counts() -> None:
    logins = ("remit", "@remit.bot")
    assert places("@remit @remit.bot", *logins) == ["@remit", "@remit.bot"]
    assert find_mentions("hi @remit.bot", logins) == (Mention(3, 13, "remit.bot"),)


def test_a_login_outside_ascii_is_found() -> None:
    assert places("@小助手 看看", "小助手") == ["@小助手"]


def test_a_look_alike_that_folds_to_the_login_is_another_name() -> None:
    assert places("@\u212aim fix", "kim") == []


def test_an_empty_login_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        find_mentions("@x", ["@"])


@pytest.mark.field("C10")
@pytest.mark.parametrize(
    ("text", "mentioned", "addressed"),
    [
        pytest.param("@_user_1 fix", ["ou_agent"], True, id="its own id"),
        pytest.param("fix", ["ou_agent"], True, id="its own id, text without a marker"),
        pytest.param("@_user_1 fix", ["ou_other", "ou_agent"], True, id="its own id among others"),
        pytest.param("@_user_1 fix", ["ou_other"], False, id="somebody else"),
        pytest.param("@_all fix", ["all"], False, id="everybody"),
        pytest.param("@_all fix", [], False, id="everybody, without a list"),
        pytest.param("fix", [], False, id="nobody"),
        pytest.param("@remit-bot fix", [], False, id="its name in the text alone"),
    ],
)
def test_where_the_platform_says_whom_a_message_mentions_only_the_own_id_counts(
    text: str, mentioned: list[str], addressed: bool
) -> None:
    found = is_addressed(text, logins=[LOGIN], own_ids=["ou_agent"], mentioned_ids=mentioned)
    assert found is addressed


STRIPPED = {
    "the mention at the start": ("@remit-bot fix it", "fix it"),
    "its colon": ("@remit-bot: fix it", "fix it"),
    "its comma": ("@Remit-Bot, fix it", "fix it"),
    "a Chinese comma": ("@remit-bot，修一下", "修一下"),
    "nothing between": ("@remit-bot修一下", "修一下"),
    "the same mention twice": ("@remit-bot @remit-bot fix", "fix"),
    "the lines around": ("\n@remit-bot\n\n- a\n- b\n", "- a\n- b"),
    "not the indent of the next line": ("@remit-bot\n\n    code\n", "    code"),
    "everything": ("@remit-bot", ""),
    "not a mention in the middle": ("hi @remit-bot, fix", "hi @remit-bot, fix"),
    "not another name": ("@alice fix", "@alice fix"),
    "not a quoted mention": ("> @remit-bot fix\n\nno", "> @remit-bot fix\n\nno"),
}


@pytest.mark.parametrize(("text", "request_text"), STRIPPED.values(), ids=STRIPPED.keys())
def test_the_request_is_the_text_without_the_mention_it_starts_with(
    text: str, request_text: str
) -> None:
    assert strip(text, [LOGIN]) == request_text


PIECES = st.sampled_from(
    [
        "@remit-bot",
        "@Remit-Bot",
        "remit-bot",
        "@remit-bot2",
        "@",
        "@alice",
        "请",
        "看看",
        " ",
        "\n",
        "\r\n",
        "\n\n",
        "\t",
        "`",
        "```\n",
        "~~~\n",
        "> ",
        "- ",
        "1. ",
        "    ",
        "# ",
        "*",
        "_",
        "\\",
        "<!--",
        "-->",
        "<b>",
        "</b>",
        "<blockquote>",
        "<div>\n",
        "[",
        "](x)",
        "|",
        "-- \n",
        "&#64;",
        "word",
        "é",
        "🙏",
        "\u200b",
        "\x00",
    ]
)


@pytest.mark.field("C9")
@given(st.text(st.characters(exclude_categories=["Cs"])) | st.lists(PIECES).map("".join))
@example("@\u212aemit-bot")
def test_a_text_without_the_login_never_addresses_the_agent(text: str) -> None:
    text = text.replace("remit-bot", "nobody").replace("Remit-Bot", "Nobody")
    if "@remit-bot" not in text.casefold():
        assert find_mentions(text, [LOGIN]) == ()


@given(st.lists(PIECES, max_size=30).map("".join))
def test_a_mention_is_where_the_parser_says(text: str) -> None:
    for found in find_mentions(text, [LOGIN]):
        assert text[found.start : found.end].lower() == "@remit-bot"


@given(st.lists(PIECES, max_size=30).map("".join))
def test_a_whole_text_put_into_a_fence_addresses_nobody(text: str) -> None:
    fence = "`" * 40
    assert find_mentions(f"{fence}\n{text}\n{fence}", [LOGIN]) == ()
