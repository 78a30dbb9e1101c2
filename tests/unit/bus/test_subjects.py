from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.bus import subjects
from remit.bus.tokens import decode


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (subjects.inbox("gh"), "inbox.gh"),
        (subjects.trigger("gh", "c:1", "a/b#2"), "trigger.gh.c=3A1.a=2Fb=232"),
        (subjects.trigger_scope("gh", "c:1"), "trigger.gh.c=3A1.>"),
        (subjects.triggers_of("gh"), "trigger.gh.>"),
        (subjects.thread("a/b#2"), "thread.a=2Fb=232"),
        (subjects.ticket("t1"), "ticket.t1"),
        (subjects.eval_request("th"), "eval.request.th"),
        (subjects.eval_result("th"), "eval.result.th"),
        (subjects.assignment("coder", "t1"), "assignment.coder.t1"),
        (subjects.assignments_of("coder"), "assignment.coder.*"),
        (subjects.input_("t1"), "input.t1"),
        (subjects.report("t1"), "report.t1"),
        (subjects.channel("gh", "th"), "channel.gh.th"),
        (subjects.channels_of("gh"), "channel.gh.*"),
        (subjects.disposition("tr"), "disposition.tr"),
        (subjects.policy("rules"), "policy.rules"),
        (subjects.deadletter("INBOX"), "deadletter.INBOX"),
        (subjects.command_thread("th"), "command.thread.th"),
        (subjects.command_ticket("t1"), "command.ticket.t1"),
        (subjects.timer("thread", "a/b", "limit:1"), "timer.thread.a=2Fb.limit=3A1"),
        (subjects.console("talk"), "console.talk"),
    ],
)
def test_each_subject_is_built_from_plain_values(subject: str, expected: str) -> None:
    assert subject == expected


@given(st.text(max_size=16), st.text(max_size=16), st.text(max_size=16))
def test_no_value_can_break_out_of_its_token(source: str, trigger: str, home: str) -> None:
    subject = subjects.trigger(source, trigger, home)
    assert [decode(token) for token in subject.split(".")[1:]] == [source, trigger, home]
    assert subjects.matches(subjects.trigger_scope(source, trigger), subject)


def test_a_thread_has_the_same_token_everywhere() -> None:
    key = "octo/hello#1"
    built = [
        subjects.thread(key),
        subjects.eval_request(key),
        subjects.channel("gh", key),
        subjects.command_thread(key),
        subjects.trigger("gh", "x", key),
    ]
    assert len({subject.rsplit(".", 1)[1] for subject in built}) == 1


def test_a_timer_is_held_where_its_target_and_its_id_say() -> None:
    target = subjects.command_thread("a/b")
    assert subjects.timer_of(target, "limit:1") == subjects.timer("thread", "a/b", "limit:1")


def test_only_commands_take_timers() -> None:
    with pytest.raises(ValueError, match="takes no timers"):
        subjects.timer_of("channel.gh.th", "x")


@pytest.mark.parametrize(
    ("pattern", "subject", "falls_under"),
    [
        ("thread.*", "thread.a", True),
        ("thread.*", "thread", False),
        ("thread.*", "thread.a.b", False),
        ("thread.>", "thread.a.b", True),
        ("thread.>", "thread", False),
        (">", "thread", True),
        ("a.*.c", "a.b.c", True),
        ("a.*.c", "a.b.d", False),
        ("a.b", "a.b", True),
        ("a.b", "a", False),
    ],
)
def test_patterns_match_as_the_server_does(pattern: str, subject: str, falls_under: bool) -> None:
    assert subjects.matches(pattern, subject) is falls_under


@pytest.mark.parametrize(
    ("subject", "template"),
    [
        (subjects.eval_request("th"), "eval.request.{thread}"),
        (subjects.command_ticket("t1"), "command.ticket.{ticket}"),
        (subjects.trigger("gh", "1", "th"), "trigger.{source}.{trigger}.{thread}"),
        ("elsewhere.x.y", "elsewhere"),
    ],
)
def test_a_template_names_what_varies(subject: str, template: str) -> None:
    assert subjects.template(subject) == template
