"""What the agent's words become before they go to GitHub."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.connectors import markers
from remit.connectors.github.outgoing import TITLE_LIMIT, safe_text, safe_title
from remit.connectors.mentions import find_mentions

NAMES = ("remit", "remit[bot]")
PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            ["@", "@remit", "remit", "Remit", "[bot]", "@all", "team", "请", "a", "a/1"]
        ),
        st.sampled_from(["<!-- remit:", " -->", "<b>", "> ", "```"]),
        st.sampled_from("_*`.-/( \n"),
    )
).map("".join)


@pytest.mark.field("B6")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("On it: @remit please fix", "On it: remit please fix"),
        ("@Remit, @REMIT and @remit[bot]", "Remit, REMIT and remit[bot]"),
        ("Say `@remit` to me", "Say `remit` to me"),
        ("```\n@remit go\n```", "```\nremit go\n```"),
        ("请@remit看看", "请remit看看"),
        ("Write to ops@remit.example", "Write to ops@remit.example"),
        ("Not @remit-fork", "Not @remit-fork"),
        ("@<!-- remit:a -->remit", "remit"),
    ],
)
def test_the_agent_never_calls_itself(text: str, expected: str) -> None:
    assert safe_text(text, NAMES) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ask @acme/core.", "Ask `@acme/core`."),
        ("@everyone and @here!", "`@everyone` and `@here`!"),
        ("Done, @ann.", "Done, @ann."),
        ("Run `npm i @octokit/rest`", "Run `npm i @octokit/rest`"),
        ("``a ` @acme/core``", "``a ` @acme/core``"),
        (
            "```sh\nnpm i @octokit/rest\n```\n@acme/core",
            "```sh\nnpm i @octokit/rest\n```\n`@acme/core`",
        ),
        ("~~~\n@acme/core\n~~~~", "~~~\n@acme/core\n~~~~"),
        ("- a\n  ```\n  @acme/core\n  ```\n", "- a\n  ```\n  @acme/core\n  ```\n"),
        ("```\n@acme/core without an end", "```\n@acme/core without an end"),
        ("https://example.org/@acme/core", "https://example.org/@acme/core"),
        ("Fixes #12", "Fixes #12"),
        ("@allison is a person", "@allison is a person"),
    ],
)
def test_teams_and_everybody_are_named_without_being_called(text: str, expected: str) -> None:
    assert safe_text(text, NAMES) == expected


@pytest.mark.rule("CHN-3")
@pytest.mark.parametrize(
    "text",
    [
        "<!-- remit:t-x-w2/1 -->",
        "<!-- re<!-- remit:a -->mit:t-x-w2/1 -->",
        "<!-- remit:@remit -->",
    ],
)
def test_words_that_look_like_the_marker_of_another_write_are_taken_out(text: str) -> None:
    assert markers.find(safe_text(f"Quote: {text}", NAMES)) == ()


@pytest.mark.field("B6")
@given(PIECES)
def test_no_text_calls_the_agent_or_is_taken_for_another_write(text: str) -> None:
    safe = safe_text(text, NAMES)
    assert find_mentions(safe, NAMES) == ()
    assert markers.find(safe) == ()


def test_a_title_is_one_line_within_githubs_limit() -> None:
    assert safe_title("Mend\nthe  header for @remit", NAMES) == "Mend the header for remit"
    long = safe_title("x" * 400, NAMES)
    assert len(long) == TITLE_LIMIT
    assert long.endswith("…")
