"""What the demo promises, checked against what is really there. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from remit.cli.demo import story
from remit.cli.demo.github import Comment, PullRequest
from remit.cli.traces import Span
from remit.domain.decision import Outcome
from remit.domain.disposition import Disposition, DispositionKind, FilterReason
from remit.domain.gate import GateReason
from remit.domain.ids import TriggerId
from remit.domain.ticket import Stage, Ticket
from remit.domain.trigger import Trigger

SERVICES_ON_THE_WAY = ("source", "ticket", "eval", "executor", "channel")
"""Each of them does a part of the request's way, so each is on its trace."""

_MARKER = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that was found.

    Attributes:
        triggers: What entered the domain, the oldest first.
        dispositions: What became of each.
        tickets: Every Ticket.
        commits: The subjects of the commits in the Ticket's directory that are not in the
            repository's default branch, the oldest first.
        pull_requests: The pull requests on the provider.
        comments: The comments on the issue.
        tests_pass: The repository's tests pass on the pull request's branch; None where there is
            no such branch.
        trace_id: The request's trace.
        trace: The spans of that trace.
        fate_trace_id: The trace that the request's Disposition was recorded on.
        killed: Services that were killed on purpose: what a process has not yet told of its work
            goes with it, so the trace may lack their spans.
        panel_answers: The panel lets a person in and shows the Ticket.
    """

    triggers: tuple[Trigger, ...] = ()
    dispositions: Mapping[TriggerId, tuple[Disposition, ...]] = field(default_factory=dict)
    tickets: tuple[Ticket, ...] = ()
    commits: tuple[str, ...] = ()
    pull_requests: tuple[PullRequest, ...] = ()
    comments: tuple[Comment, ...] = ()
    tests_pass: bool | None = None
    trace_id: str | None = None
    trace: tuple[Span, ...] = ()
    fate_trace_id: str | None = None
    killed: frozenset[str] = frozenset()
    panel_answers: bool = False

    @property
    def ticket(self) -> Ticket | None:
        """The one Ticket there should be."""
        return self.tickets[0] if len(self.tickets) == 1 else None

    def trigger_saying(self, text: str) -> Trigger | None:
        """Return the Trigger of the message that says ``text``."""
        return next((one for one in self.triggers if text in one.text), None)

    def fate_of(self, text: str) -> tuple[Disposition, ...]:
        """Return what became of the message that says ``text``."""
        trigger = self.trigger_saying(text)
        return self.dispositions.get(trigger.id, ()) if trigger else ()

    @property
    def replies(self) -> list[str]:
        """What the agent's account wrote on the issue, without marks that nobody sees."""
        own = (one.body for one in self.comments if one.author == story.AGENT)
        return [_MARKER.sub("", body).strip() for body in own]


@dataclass(frozen=True, slots=True)
class Check:
    """One promise.

    Attributes:
        promise: What should be true.
        missing: What is not as it should be; empty where the promise holds.
    """

    promise: str
    missing: str

    @property
    def holds(self) -> bool:
        """Whether it is true."""
        return not self.missing


def checks(evidence: Evidence) -> list[Check]:
    """Return every promise, and what is missing from it."""
    return [Check(promise, look(evidence)) for promise, look in _PROMISES.items()]


def settled(evidence: Evidence) -> bool:
    """Say whether every promise holds."""
    return all(check.holds for check in checks(evidence))


def first_result_is_there(evidence: Evidence) -> bool:
    """Say whether the first request was answered, so that the second message can follow."""
    return bool(evidence.pull_requests) and len(evidence.replies) >= _ANSWERS_AFTER_FIRST


_ANSWERS_AFTER_FIRST = 2
"""A confirmation and a result."""
_ANSWERS = 3
"""And the result of the second message."""
_COMMITS = 2


def _request_was_accepted(evidence: Evidence) -> str:
    fate = evidence.fate_of(story.REQUEST)
    if not fate:
        return "it has no Disposition"
    accepted = [one for one in fate if one.outcome is Outcome.ACCEPT and one.tickets]
    if len(fate) != 1 or len(accepted) != 1:
        return f"its Dispositions are {_told(fate)}"
    return "" if accepted[0].rules else "its Disposition names no rule"


def _strangers_request_started_nothing(evidence: Evidence) -> str:
    fate = evidence.fate_of(story.STRANGERS_REQUEST)
    if not fate:
        return "it has no Disposition"
    refused = all(not one.tickets and one.outcome is not Outcome.ACCEPT for one in fate)
    if not refused:
        return f"its Dispositions are {_told(fate)}"
    reasons = {str(one.reason) for one in fate}
    known = {GateReason.NOT_ON_LIST.value, FilterReason.NOT_LISTENED_TO.value}
    return "" if reasons <= known else f"the reason is {', '.join(sorted(reasons))}"


def _there_is_one_ticket(evidence: Evidence) -> str:
    count = len(evidence.tickets)
    return "" if count == 1 else f"there are {count}"


def _the_ticket_waits_for_a_review(evidence: Evidence) -> str:
    ticket = evidence.ticket
    if ticket is None:
        return "there is not one Ticket"
    if ticket.waiting:
        return f"{len(ticket.waiting)} Input(s) have not reached the agent"
    if ticket.unsettled:
        return f"{len(ticket.unsettled)} Channel write(s) have no receipt"
    return "" if ticket.stage is Stage.AWAITING_REVIEW else f"its stage is {ticket.stage}"


def _the_commits_are_in_the_directory(evidence: Evidence) -> str:
    if len(evidence.commits) != _COMMITS:
        return f"there are {len(evidence.commits)}: {', '.join(evidence.commits) or 'none'}"
    return ""


def _the_pull_request_is_there(evidence: Evidence) -> str:
    if len(evidence.pull_requests) != 1:
        return f"there are {len(evidence.pull_requests)}"
    found = evidence.pull_requests[0]
    if found.author != story.AGENT:
        return f"{found.author} opened it"
    if found.commits != evidence.commits:
        return f"it has the commits {', '.join(found.commits) or 'none'}"
    return ""


def _the_tests_pass(evidence: Evidence) -> str:
    match evidence.tests_pass:
        case True:
            return ""
        case False:
            return "they fail"
        case None:
            return "there is no branch to run them on"


def _each_reply_is_there_once(evidence: Evidence) -> str:
    replies = evidence.replies
    if len(replies) != _ANSWERS:
        return f"there are {len(replies)} instead of {_ANSWERS}"
    twice = [text for text, count in Counter(replies).items() if count > 1]
    if twice:
        return f"this is there twice: {twice[0]}"
    url = evidence.pull_requests[0].url if evidence.pull_requests else ""
    if not url or not any(url in text for text in replies):
        return "none names the pull request"
    return ""


def _second_message_reached_the_ticket(evidence: Evidence) -> str:
    fate = evidence.fate_of(story.FOLLOW_UP)
    if not fate:
        return "it has no Disposition"
    ticket = evidence.ticket
    for one in fate:
        if one.kind is not DispositionKind.FANNED_OUT or one.decision is not None:
            return f"its Dispositions are {_told(fate)}"
        if ticket is None or one.tickets != (ticket.id,):
            return f"it reached {', '.join(one.tickets) or 'no Ticket'}"
    return ""


def _every_trigger_has_a_disposition(evidence: Evidence) -> str:
    without = [one.id for one in evidence.triggers if not evidence.dispositions.get(one.id)]
    if not evidence.triggers:
        return "there is no Trigger"
    return f"these have none: {', '.join(without)}" if without else ""


def _one_trace_leads_through(evidence: Evidence) -> str:
    if not evidence.trace:
        return "it has no spans"
    on_it = {span.service.removeprefix("remit-") for span in evidence.trace}
    # What is sent while the panel is away is let go of after a while, whoever sent it.
    excused = set(SERVICES_ON_THE_WAY) if "panel" in evidence.killed else evidence.killed
    absent = [name for name in SERVICES_ON_THE_WAY if name not in on_it | excused]
    # A panel that is killed takes with it what it had just been told.
    if absent and "panel" not in evidence.killed:
        return f"nothing on it is from {', '.join(absent)}"
    # The record says it, not a span of it: a process that is killed takes its last spans with it.
    return "" if evidence.fate_trace_id == evidence.trace_id else "its Disposition is on another"


def _the_panel_answers(evidence: Evidence) -> str:
    return "" if evidence.panel_answers else "it does not show the Ticket"


_PROMISES: Mapping[str, Callable[[Evidence], str]] = {
    "the request was accepted by a written rule": _request_was_accepted,
    "a stranger's request started nothing": _strangers_request_started_nothing,
    "the second message reached the same Ticket, without an Eval": (
        _second_message_reached_the_ticket
    ),
    "there is one Ticket": _there_is_one_ticket,
    "its result waits for a review, and nothing else is open": _the_ticket_waits_for_a_review,
    "both commits are in the Ticket's directory": _the_commits_are_in_the_directory,
    "they are in one pull request, from the agent's account": _the_pull_request_is_there,
    "the repository's tests pass on its branch": _the_tests_pass,
    "each reply is on the issue, once": _each_reply_is_there_once,
    "every Trigger has its Disposition": _every_trigger_has_a_disposition,
    "one trace leads from the request through every service to its Disposition": (
        _one_trace_leads_through
    ),
    "the panel shows the Ticket": _the_panel_answers,
}


def _told(fate: tuple[Disposition, ...]) -> str:
    return "; ".join(_words(fate))


def _words(fate: tuple[Disposition, ...]) -> Iterator[str]:
    for one in fate:
        tickets = f" → {', '.join(one.tickets)}" if one.tickets else ""
        yield f"{one.kind} ({one.reason}){tickets}"
