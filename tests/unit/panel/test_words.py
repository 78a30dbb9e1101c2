"""The panel's words: complete in both languages, none too many, named after the vocabulary."""

from __future__ import annotations

import re
import string
import typing
from collections.abc import Iterable
from importlib.resources import files

import pytest

from remit.connectors.contract import DropReason
from remit.domain.assignment import AssignmentEnd, AssignmentState
from remit.domain.channel import WriteKind, WriteOutcome
from remit.domain.decision import DecidedBy, Outcome
from remit.domain.disposition import DispositionKind, FilterReason
from remit.domain.gate import GateReason
from remit.domain.inputs import InputKind
from remit.domain.mandate import Strength
from remit.domain.policy import AcceptMode
from remit.domain.report import ReportKind
from remit.domain.subscription import Standing, SubscriptionKind
from remit.domain.thread import ThreadEvent
from remit.domain.ticket import MessageHeard, Stage, TicketEvent, TicketStatus
from remit.domain.trigger import ActorClass, Addressing, Reception
from remit.panel.web.pages import NAVIGATION
from remit.panel.web.words import Tongue, read_words, wanted_by

WORDS = read_words()
EN, ZH = WORDS.texts[Tongue.ENGLISH], WORDS.texts[Tongue.CHINESE]


def events() -> Iterable[str]:
    for union in (ThreadEvent, TicketEvent):
        for event in typing.get_args(typing.get_args(union)[0]):
            if event is not MessageHeard:
                yield event.model_fields["event"].default


LISTS: dict[str, Iterable[str]] = {
    "disposition": DispositionKind,
    "outcome": Outcome,
    "decided_by": DecidedBy,
    "gate": GateReason,
    "filter": FilterReason,
    "stage": Stage,
    "status": TicketStatus,
    "standing": Standing,
    "subscription": SubscriptionKind,
    "strength": Strength,
    "assignment": AssignmentState,
    "assignment_end": AssignmentEnd,
    "report": ReportKind,
    "input": InputKind,
    "write": WriteKind,
    "addressing": Addressing,
    "reception": Reception,
    "actor": ActorClass,
    "accept": AcceptMode,
    "drop": DropReason,
    "moment": ("trigger_arrived", "disposition_recorded", *events()),
}
"""Families of words that name the members of a closed list."""

BUILT = {
    "nav": NAVIGATION,
    "overview": ("questions", "stuck", "reviews"),
    "ticket": tuple(WriteOutcome),
    "trace": ("to_here", "from_here"),
}
"""Keys that templates put together from a family and a value."""


def test_both_languages_have_the_same_keys():
    assert {family: set(words) for family, words in EN.items()} == {
        family: set(words) for family, words in ZH.items()
    }


def test_no_text_is_empty_or_has_a_place_that_the_other_language_lacks():
    for family, words in EN.items():
        for key, text in words.items():
            other = ZH[family][key]
            assert text.strip(), f"{family}.{key}"
            assert other.strip(), f"{family}.{key}"
            assert places(text) == places(other), f"{family}.{key}"


def places(text: str) -> set[str | None]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("family", LISTS)
def test_every_member_of_a_closed_list_has_a_word_and_no_word_is_left_over(family):
    assert set(EN[family]) == {str(member) for member in LISTS[family]}


def sources() -> str:
    package = files("remit.panel.web")
    templates = [one for one in (package / "templates").iterdir() if one.name.endswith(".html")]
    code = [one for one in package.iterdir() if one.name.endswith(".py")]
    return "\n".join(one.read_text(encoding="utf-8") for one in (*templates, *code))


def test_every_text_that_a_page_names_exists_and_every_text_is_named_by_a_page():
    text = sources()
    named = set(re.findall(r"""\bt\(\s*'([a-z_]+\.[a-z_]+)'""", text))
    named |= set(re.findall(r"""\bsay\(request, ["']([a-z_]+\.[a-z_]+)["']\)""", text))
    assert set(re.findall(r"""\bt\('([a-z_]+)\.' ~""", text)) == set(BUILT)
    named |= {f"{family}.{member}" for family, members in BUILT.items() for member in members}
    families = set(re.findall(r"""\bword\('([a-z_]+)',""", text))
    assert families <= set(LISTS)
    have = {f"{family}.{key}" for family in EN if family not in LISTS for key in EN[family]}
    assert named - have - {f"{f}.{m}" for f, ms in LISTS.items() for m in ms} == set()
    assert have - named == set()


def test_an_unknown_member_of_a_list_is_shown_as_it_is():
    assert (
        WORDS.word(Tongue.CHINESE, "drop", "a_connectors_own_reason") == "a_connectors_own_reason"
    )


def test_a_text_that_the_catalogue_lacks_is_an_error_and_not_a_gap():
    with pytest.raises(KeyError):
        WORDS.text(Tongue.ENGLISH, "overview.nonsense")


GLOSSARY = (
    "Agent 智能体, Main Session 主 Session, Executor Session 执行器 Session, Source 来源, "
    "Trigger 触发, Thread 线程, Correlation 关联, Channel 渠道, Policy 策略, "
    "Policy version 策略版本, Eval 评估, Gate 准入, Assessment 研判, Decision 决定, Mandate 授权, "
    "Ticket 工单, Assignment 派工, Subscription 订阅, Fan-out 扇出, Executor 执行器, "
    "Execution environment 执行环境, Report 报告, Attention 待人工决定, Disposition 去向, "
    "Input 输入, Scope 范围, Strength 强度"
)


def test_the_glossary_has_every_term_of_the_vocabulary_in_both_languages():
    assert {f"{term.en} {term.zh}" for term in WORDS.glossary} == set(GLOSSARY.split(", "))
    for term in WORDS.glossary:
        assert term.en_meaning.endswith(".")
        assert term.zh_meaning.endswith("。")


@pytest.mark.parametrize(
    ("family", "names"),
    [
        ("outcome", "accept 接单 stop 停止 ignore 忽略 unavailable 未完成"),
        ("strength", "explicit 明确 inferred 推断"),
        ("assignment", "pending 待启动 running 执行中 ended 已结束"),
        (
            "report",
            "progress 进展 waiting 等待 ready 就绪 blocked 受阻 failed 失败 dropped 无需处理",
        ),
    ],
)
def test_values_have_the_names_of_the_vocabulary(family, names):
    words = names.split()
    wanted = dict(zip(words[::2], words[1::2], strict=True))
    assert ZH[family] == wanted
    assert EN[family] == {name: name for name in wanted}


@pytest.mark.parametrize(
    ("header", "tongue"),
    [
        ("", "en"),
        ("zh", "zh"),
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("en-GB,en;q=0.9,zh;q=0.8", "en"),
        ("fr,zh;q=0.5", "zh"),
        ("fr", "en"),
        ("en;q=0.1, ZH-TW;q=0.2", "zh"),
        ("zh;q=nonsense", "en"),
        ("zh;q=0", "en"),
        (";;;,,", "en"),
    ],
)
def test_a_browser_gets_the_language_that_it_asks_for_most(header, tongue):
    assert wanted_by(header) == tongue
