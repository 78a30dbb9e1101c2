"""Each promise of the demo is broken once, and the demo says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from remit.cli.demo import story
from remit.cli.demo.github import Comment, PullRequest
from remit.cli.demo.verify import (
    SERVICES_ON_THE_WAY,
    Evidence,
    checks,
    first_result_is_there,
    settled,
)
from remit.cli.traces import Span
from remit.domain.decision import Outcome
from remit.domain.disposition import Disposition, DispositionKind, FilterReason
from remit.domain.gate import GateReason
from remit.domain.ids import AssignmentId, DecisionId, RuleId, TriggerId
from remit.domain.report import Report, ReportKind
from remit.domain.ticket import Ticket
from remit.domain.trigger import Actor, Trigger
from support.domain import ALICE, MALLORY, NOW, at, opened_ticket, trigger

URL = "http://127.0.0.1:1/acme/basket/pull/2"
COMMITS = ("Take the discount off the total", "Say in the README how a discount is given")


def saying(number: int, text: str, actor: Actor = ALICE) -> Trigger:
    return trigger(number, text=text, actor=actor)


REQUEST = saying(1, story.REQUEST)
FOLLOW_UP = saying(2, story.FOLLOW_UP)
STRANGERS = saying(3, story.STRANGERS_REQUEST, actor=MALLORY)


def reported(ticket: Ticket) -> Ticket:
    report = Report(
        assignment=AssignmentId("a"), kind=ReportKind.READY, text="Have a look", at=at(1)
    )
    settled = {"waiting": (), "unsettled": (), "heard_person": False}
    return ticket.model_copy(update={"report": report, **settled})


TICKET = reported(opened_ticket(REQUEST))


def fate(of: Trigger, kind: DispositionKind, reason: str, **more: Any) -> Disposition:
    return Disposition(trigger=of.id, thread=of.home, kind=kind, reason=reason, at=NOW, **more)


ACCEPTED = fate(
    REQUEST,
    DispositionKind.EVALUATED,
    "rule change-on-request covers it",
    outcome=Outcome.ACCEPT,
    decision=DecisionId("d"),
    rules=(RuleId("change-on-request"),),
    tickets=(TICKET.id,),
)
REACHED = fate(FOLLOW_UP, DispositionKind.FANNED_OUT, "reached it", tickets=(TICKET.id,))
FILTERED = fate(STRANGERS, DispositionKind.FILTERED, FilterReason.NOT_LISTENED_TO)
PULL = PullRequest(2, story.AGENT, "Take it off", "open", "remit/t", "abc", URL, COMMITS)
COMMENTS = tuple(
    Comment(number, author, body)
    for number, (author, body) in enumerate(
        [
            (story.PERSON, story.REQUEST),
            (story.AGENT, "On it. <!-- remit:t-w1/1 -->"),
            (story.AGENT, f"Done, see {URL}. <!-- remit:t-w3/1 -->"),
            (story.PERSON, story.FOLLOW_UP),
            (story.AGENT, f"Also in {URL}. <!-- remit:t-w4/1 -->"),
        ]
    )
)


def span(service: str) -> Span:
    name = f"remit-{service}"
    return Span(id=service, parent="", name="process x", service=name, start_ns=0, end_ns=1)


WHOLE = Evidence(
    triggers=(STRANGERS, REQUEST, FOLLOW_UP),
    dispositions={STRANGERS.id: (FILTERED,), REQUEST.id: (ACCEPTED,), FOLLOW_UP.id: (REACHED,)},
    tickets=(TICKET,),
    commits=COMMITS,
    pull_requests=(PULL,),
    comments=COMMENTS,
    tests_pass=True,
    trace_id="0" * 32,
    trace=tuple(map(span, SERVICES_ON_THE_WAY)),
    fate_trace_id="0" * 32,
    panel_answers=True,
)


def fates(**changed: tuple[Disposition, ...]) -> dict[TriggerId, tuple[Disposition, ...]]:
    names = {"request": REQUEST.id, "follow_up": FOLLOW_UP.id, "strangers": STRANGERS.id}
    return {**WHOLE.dispositions, **{names[name]: fate for name, fate in changed.items()}}


def test_when_everything_is_there_every_promise_holds() -> None:
    assert [check.missing for check in checks(WHOLE) if not check.holds] == []
    assert settled(WHOLE)


@pytest.mark.parametrize(
    ("broken", "missing"),
    [
        (replace(WHOLE, dispositions=fates(request=())), "it has no Disposition"),
        (
            replace(WHOLE, dispositions=fates(request=(ACCEPTED, ACCEPTED))),
            "its Dispositions are",
        ),
        (
            replace(
                WHOLE,
                dispositions=fates(request=(ACCEPTED.model_copy(update={"rules": ()}),)),
            ),
            "names no rule",
        ),
        (
            replace(
                WHOLE,
                dispositions=fates(
                    strangers=(FILTERED.model_copy(update={"tickets": (TICKET.id,)}),)
                ),
            ),
            "its Dispositions are",
        ),
        (
            replace(
                WHOLE,
                dispositions=fates(
                    strangers=(FILTERED.model_copy(update={"reason": GateReason.LOOK_UP_FAILED}),)
                ),
            ),
            "the reason is look_up_failed",
        ),
        (
            replace(
                WHOLE,
                dispositions=fates(
                    follow_up=(ACCEPTED.model_copy(update={"trigger": FOLLOW_UP.id}),)
                ),
            ),
            "its Dispositions are evaluated",
        ),
        (
            replace(
                WHOLE,
                dispositions=fates(follow_up=(REACHED.model_copy(update={"tickets": ("t-x",)}),)),
            ),
            "it reached t-x",
        ),
        (replace(WHOLE, tickets=(TICKET, TICKET)), "there are 2"),
        (replace(WHOLE, tickets=(opened_ticket(REQUEST),)), "have not reached the agent"),
        (
            replace(WHOLE, tickets=(TICKET.model_copy(update={"report": None}),)),
            "its stage is",
        ),
        (replace(WHOLE, commits=COMMITS[:1]), "there are 1"),
        (replace(WHOLE, pull_requests=()), "there are 0"),
        (replace(WHOLE, pull_requests=(PULL, PULL)), "there are 2"),
        (replace(WHOLE, pull_requests=(replace(PULL, author="dana"),)), "dana opened it"),
        (replace(WHOLE, pull_requests=(replace(PULL, commits=()),)), "it has the commits none"),
        (replace(WHOLE, tests_pass=False), "they fail"),
        (replace(WHOLE, tests_pass=None), "no branch"),
        (replace(WHOLE, comments=COMMENTS[:-1]), "there are 2 instead of 3"),
        (replace(WHOLE, comments=(*COMMENTS, COMMENTS[2])), "there are 4 instead of 3"),
        (
            replace(WHOLE, comments=(*COMMENTS[:3], COMMENTS[2])),
            "this is there twice",
        ),
        (
            replace(
                WHOLE,
                comments=tuple(replace(one, body=one.body.replace(URL, "it")) for one in COMMENTS),
            ),
            "none names the pull request",
        ),
        (
            replace(WHOLE, triggers=(*WHOLE.triggers, saying(4, "lost"))),
            "these have none: github:issue_comment/4",
        ),
        (replace(WHOLE, trace=()), "it has no spans"),
        (replace(WHOLE, trace=WHOLE.trace[1:]), "nothing on it is from source"),
        (replace(WHOLE, fate_trace_id=None), "its Disposition is on another"),
        (replace(WHOLE, fate_trace_id="1" * 32), "its Disposition is on another"),
        (replace(WHOLE, panel_answers=False), "it does not show the Ticket"),
    ],
)
def test_what_is_missing_is_told(broken: Evidence, missing: str) -> None:
    assert any(missing in check.missing for check in checks(broken))
    assert not settled(broken)


def test_replies_that_differ_only_in_marks_are_the_same_reply() -> None:
    twice = replace(COMMENTS[2], body=f"Done, see {URL}. <!-- remit:t-w9/1 -->")
    broken = replace(WHOLE, comments=(*COMMENTS[:3], twice))
    assert any("this is there twice" in check.missing for check in checks(broken))


def test_the_second_message_waits_for_the_first_result() -> None:
    assert not first_result_is_there(Evidence())
    assert not first_result_is_there(replace(WHOLE, comments=COMMENTS[:2]))
    assert first_result_is_there(replace(WHOLE, comments=COMMENTS[:3]))


def test_a_service_that_was_killed_may_have_taken_its_last_spans_with_it() -> None:
    without_eval = tuple(one for one in WHOLE.trace if one.service != "remit-eval")
    assert not settled(replace(WHOLE, trace=without_eval))
    assert settled(replace(WHOLE, trace=without_eval, killed=frozenset({"eval"})))


def test_a_panel_that_was_killed_may_lack_spans_of_any_service_but_not_all() -> None:
    killed = frozenset({"panel"})
    assert settled(replace(WHOLE, trace=WHOLE.trace[-1:], killed=killed))
    assert not settled(replace(WHOLE, trace=(), killed=killed))
    assert not settled(replace(WHOLE, fate_trace_id=None, killed=killed))
