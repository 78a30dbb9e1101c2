from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.cli.policy_file import PolicyFileInvalid, parse_policy, read_policy
from remit.domain.policy import AcceptMode, Admission, Policy

PATH = Path("policy.yaml")

WHOLE = """\
accept: auto
rules:
  - id: change-on-request
    text: Somebody who may asks for a change.
    scope: A change on a branch.
    words: [fix, "change"]
sources:
  github:
    allowed:
      - 583231
      - "007"
    bots: [49699333]
    admission:
      - scopes: [acme/*]
        others_addressed: candidate
  console:
    allowed: [local]
"""


def problems(text: str) -> list[tuple[int, str, str]]:
    with pytest.raises(PolicyFileInvalid) as caught:
        parse_policy(text, PATH)
    return [(one.line, one.place, one.reason) for one in caught.value.problems]


def test_a_whole_document_is_read() -> None:
    policy = parse_policy(WHOLE, PATH)
    assert policy.accept is AcceptMode.AUTO
    assert [rule.words for rule in policy.rules] == [("fix", "change")]
    github, console = policy.sources.values()
    assert github.admission[0].others_addressed is Admission.CANDIDATE
    assert console.allowed == frozenset({"local"})


def test_an_id_stays_exactly_what_was_written() -> None:
    github = next(iter(parse_policy(WHOLE, PATH).sources.values()))
    assert github.allowed == frozenset({"583231", "007"})
    assert github.bots == frozenset({"49699333"})


@pytest.mark.parametrize("mode", ["off", "observe", "auto"])
def test_every_accept_mode_can_be_written_plainly(mode: str) -> None:
    """``off`` is no truth value here, as YAML 1.1 would have it."""
    assert parse_policy(f"accept: {mode}\n", PATH).accept == mode


def test_a_list_that_is_null_is_no_list() -> None:
    policy = parse_policy("sources: {github: {allowed: null}}", PATH)
    assert next(iter(policy.sources.values())).allowed is None


def test_the_same_document_gives_the_same_version_whatever_its_comments() -> None:
    assert parse_policy(WHOLE, PATH).version == parse_policy("# hello\n" + WHOLE, PATH).version


@pytest.mark.rule("POL-7")
@pytest.mark.parametrize(
    ("text", "line", "place", "reason"),
    [
        ("", 1, "", "is empty"),
        ("# only a comment\n", 1, "", "is empty"),
        ("- a list\n", 1, "", "needs settings by name"),
        ("accept: auto\nrules: [\n", 3, "", "is not YAML"),
        ("accept: auto\n\trules: []\n", 2, "", "is not YAML"),
        ("accept: auto\naccept: off\n", 2, "accept", "is on line 1 already"),
        ("accept: perhaps\n", 1, "accept", "should be 'off', 'observe' or 'auto'"),
        ("accept: auto\nrulez: []\n", 2, "rulez", "is no setting here; there are accept, rules"),
        ("rules:\n  - id: a\n    text: t\n", 2, "rules.0.scope", "is missing"),
        (
            "rules:\n  - {id: a, text: t, scope: s}\n  - {id: B, text: t, scope: s}\n",
            3,
            "rules.1.id",
            "should match pattern",
        ),
        (
            "accept: auto\nrules:\n  - {id: a, text: t, scope: s}\n  - {id: a, text: u, scope: s}\n",
            2,
            "rules",
            "two rules have the id 'a'",
        ),
        (
            "sources:\n  github:\n    alowed: []\n",
            3,
            "sources.github.alowed",
            "is no setting here; there are allowed, bots, admission",
        ),
        (
            "sources:\n  github:\n    admission:\n      - scopes: ['*']\n        everyone: yes\n",
            5,
            "sources.github.admission.0.everyone",
            "is no setting here; there are scopes",
        ),
        (
            "sources:\n  github:\n    allowed:\n      - {id: 1}\n",
            4,
            "sources.github.allowed.0",
            "should be a valid string",
        ),
        ("sources:\n  github: everyone\n", 2, "sources.github", "should be"),
        ("? [a, b]\n: c\n", 1, "", "a setting's name must be a word"),
        ("rules: &all []\nsources: *all\n", 2, "", "write it out"),
        ("accept: auto\n---\naccept: off\n", 2, "", "is not YAML"),
        ("accept: !!python/name:os.system x\n", 1, "accept", "should be"),
        ("accept: auto\nrules: \x07\n", 2, "", "is not YAML"),
    ],
)
def test_a_broken_document_is_refused_with_its_line_and_reason(
    text: str, line: int, place: str, reason: str
) -> None:
    (found_line, found_place, found_reason), *_ = problems(text)
    assert (found_line, found_place) == (line, place)
    assert reason in found_reason


@pytest.mark.rule("POL-7")
def test_every_problem_of_a_document_is_told_at_once() -> None:
    found = problems("accept: maybe\nrules:\n  - id: a\n")
    assert [(line, place) for line, place, _ in found] == [
        (1, "accept"),
        (3, "rules.0.text"),
        (3, "rules.0.scope"),
    ]


@pytest.mark.rule("POL-7")
def test_an_error_names_the_file_so_that_an_editor_can_go_there() -> None:
    with pytest.raises(PolicyFileInvalid, match=r"^policy\.yaml:2: rulez: is no setting"):
        parse_policy("accept: auto\nrulez: []\n", PATH)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyFileInvalid, match="cannot be read: No such file"):
        read_policy(tmp_path / "policy.yaml")


def test_a_file_that_is_not_text_is_refused_with_the_line(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_bytes(b"accept: auto\nrules: \xff\n")
    with pytest.raises(PolicyFileInvalid, match=r"policy\.yaml:2: is not UTF-8"):
        read_policy(path)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_bytes(b"#" * (1024 * 1024 + 1))
    with pytest.raises(PolicyFileInvalid, match="larger than"):
        read_policy(path)


def test_a_file_is_kept_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(WHOLE)
    assert read_policy(path).text == WHOLE


@given(st.text())
def test_any_text_is_either_a_policy_or_refused(text: str) -> None:
    assert isinstance(outcome(text), Policy) or outcome(text)


def outcome(text: str) -> Policy | list[int]:
    """Return what a text says, or the lines that it is refused for."""
    try:
        return parse_policy(text, PATH)
    except PolicyFileInvalid as refused:
        return [one.line for one in refused.problems if one.line >= 1]
