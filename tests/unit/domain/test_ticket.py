"""Tickets: who opens one, what it takes, when it ends."""

from __future__ import annotations

import pytest

from remit.domain.assignment import AssignmentEnd, AssignmentState
from remit.domain.channel import PullRequest, Receipt, WriteKind, WriteOutcome
from remit.domain.ids import HostName, ThreadKey, TicketId, assignment_id_for, write_id_for
from remit.domain.inputs import InputKind
from remit.domain.language import Language
from remit.domain.positions import KEPT
from remit.domain.report import ReportKind
from remit.domain.subscription import Standing, SubscriptionKind
from remit.domain.ticket import (
    AskPerson,
    AssignmentEnded,
    AssignmentOffered,
    AssignmentStarted,
    AssignmentTakenOver,
    AttentionClosed,
    ConfirmStop,
    GiveReport,
    InputAdded,
    InputRefused,
    MessageTooEarly,
    ProposePullRequest,
    ReplyToPerson,
    ReportRecorded,
    ReportTaken,
    SettleWrite,
    Stage,
    StopTicket,
    TakeAssignment,
    TakeInput,
    ThreadJoined,
    Ticket,
    TicketEnded,
    TicketHistoryNeeded,
    TicketOpened,
    TicketResumed,
    TicketStatus,
    TicketUnknown,
    WriteRequested,
    decide,
    evolve,
    evolve_all,
    open_ticket,
)
from support.domain import (
    ALICE,
    CI_BOT,
    HOME,
    NOW,
    delivery,
    mandate,
    opened_ticket,
    opening,
    trigger,
)

HOST = HostName("host-a")
OTHER = HostName("host-b")


def after(ticket: Ticket, *commands: object) -> Ticket:
    for command in commands:
        ticket = evolve_all(ticket, decide(ticket, command, NOW)) or ticket
    return ticket


def assigned(ticket: Ticket | None = None, host: HostName = HOST) -> Ticket:
    ticket = ticket or opened_ticket()
    assert ticket.assignment is not None
    return after(ticket, TakeAssignment(assignment=ticket.assignment.offer, host=host))


def says(ticket: Ticket, command: type, message: int | None = None, **fields: object) -> object:
    assert ticket.assignment is not None
    number = ticket.assignment.heard + 1 if message is None else message
    return command(assignment=ticket.assignment.id, message=number, **fields)


def receipt(ticket: Ticket, number: int, outcome: WriteOutcome = WriteOutcome.ACCEPTED, **fields):
    write = write_id_for(ticket.id, number)
    return SettleWrite(receipt=Receipt(write=write, outcome=outcome, **fields))


def report(ticket: Ticket, kind: ReportKind, *, final: bool = False, text: str = "Done.") -> Ticket:
    if final and ticket.waiting:
        ticket = after(ticket, says(ticket, TakeInput, number=ticket.inputs))
    return after(ticket, says(ticket, GiveReport, kind=kind, text=text, final=final))


# -- opening --------------------------------------------------------------------------------


@pytest.mark.rule("TKT-1")
@pytest.mark.rule("TKT-2")
def test_an_accept_opens_a_ticket_with_its_mandate_its_first_input_and_an_offer():
    events = open_ticket(TicketId("t-x"), opening(trigger(1)), NOW)
    assert [type(e) for e in events] == [
        TicketOpened,
        WriteRequested,
        InputAdded,
        AssignmentOffered,
    ]
    ticket = opened_ticket()
    assert ticket.mandate == mandate(trigger(1))
    assert ticket.decision
    assert [w.trigger for w in ticket.waiting] == [trigger(1).id]
    assert ticket.home == HOME


@pytest.mark.rule("TKT-1")
@pytest.mark.parametrize(
    "event", decide(assigned(), delivery(trigger(2)), NOW), ids=lambda e: e.event
)
def test_nothing_but_an_opening_makes_a_ticket(event):
    with pytest.raises(TicketUnknown):
        evolve(None, event)


@pytest.mark.rule("TRG-3")
def test_opening_again_changes_nothing():
    assert decide(opened_ticket(), opening(trigger(1)), NOW) == []


@pytest.mark.rule("TON-2")
def test_a_request_is_confirmed_once_naming_what_will_be_done():
    [confirmation] = [
        e
        for e in open_ticket(TicketId("t-x"), opening(trigger(1)), NOW)
        if isinstance(e, WriteRequested)
    ]
    assert confirmation.write.kind is WriteKind.ACKNOWLEDGE
    assert "Fix the typo" in confirmation.write.body


@pytest.mark.rule("TON-4")
def test_people_are_answered_in_the_language_they_wrote_in():
    ticket = opened_ticket(trigger(1, text="请修复 README 里的错字"))
    assert ticket.language is Language.CHINESE
    assert opened_ticket().language is Language.ENGLISH


# -- Inputs ---------------------------------------------------------------------------------


@pytest.mark.rule("INP-1")
def test_inputs_are_numbered_in_order_and_kept_until_an_assignment_took_them():
    ticket = after(assigned(), delivery(trigger(3)), delivery(trigger(2)))
    assert [(i.number, i.trigger) for i in ticket.waiting] == [
        (1, trigger(1).id),
        (2, trigger(3).id),
        (3, trigger(2).id),
    ]
    ticket = after(ticket, says(ticket, TakeInput, number=2))
    assert [i.number for i in ticket.waiting] == [3]
    assert ticket.delivered == 2


@pytest.mark.rule("INP-1")
def test_an_input_is_added_once_however_often_its_trigger_is_delivered():
    ticket = after(opened_ticket(), delivery(trigger(2)))
    assert decide(ticket, delivery(trigger(2)), NOW) == []
    assert decide(ticket, delivery(trigger(1)), NOW) == [], "the request itself is the first Input"


def test_a_trigger_older_than_the_tickets_memory_is_looked_up_in_its_history():
    ticket = opened_ticket(trigger(1))
    ticket = after(ticket, *(delivery(trigger(n)) for n in range(3, KEPT + 5)))
    with pytest.raises(TicketHistoryNeeded):
        decide(ticket, delivery(trigger(2)), NOW)
    assert decide(ticket, delivery(trigger(2), known=True), NOW) == []
    assert decide(ticket, delivery(trigger(2), known=False), NOW)


@pytest.mark.rule("INP-1")
@pytest.mark.field("C1")
def test_inputs_that_a_lost_host_did_not_take_wait_for_the_next_one():
    ticket = after(assigned(), delivery(trigger(2)))
    ticket = assigned(ticket, OTHER)
    assert [i.number for i in ticket.waiting] == [1, 2]


# -- Assignments ----------------------------------------------------------------------------


@pytest.mark.rule("ASG-1")
@pytest.mark.rule("ASG-2")
def test_an_assignment_goes_from_pending_to_running_on_one_host():
    ticket = opened_ticket()
    assert ticket.assignment is not None
    assert ticket.assignment.state is AssignmentState.PENDING
    [started] = decide(ticket, TakeAssignment(assignment=ticket.assignment.id, host=HOST), NOW)
    assert isinstance(started, AssignmentStarted)
    ticket = evolve(ticket, started)
    assert ticket.is_assigned_to(assignment_id_for(ticket.id, 1), HOST)
    assert not ticket.is_assigned_to(assignment_id_for(ticket.id, 1), OTHER)


@pytest.mark.rule("ASG-1")
def test_the_same_host_may_ask_twice():
    ticket = assigned()
    assert ticket.assignment is not None
    assert decide(ticket, TakeAssignment(assignment=ticket.assignment.id, host=HOST), NOW) == []


@pytest.mark.rule("ASG-7")
def test_another_host_takes_over_from_a_lost_one_and_the_offer_stays_the_same():
    ticket = assigned()
    for number, host in ((2, OTHER), (3, HostName("host-c"))):
        offer = assignment_id_for(ticket.id, 1)
        ended, taken = decide(ticket, TakeAssignment(assignment=offer, host=host), NOW)
        assert isinstance(ended, AssignmentEnded)
        assert ended.end is AssignmentEnd.HOST_LOST
        assert isinstance(taken, AssignmentTakenOver)
        ticket = evolve_all(ticket, [ended, taken])
        assert ticket.is_assigned_to(assignment_id_for(ticket.id, number), host)


def test_a_stale_offer_takes_nothing_from_the_assignment_that_came_after_it():
    ticket = report(assigned(), ReportKind.READY, final=True)
    ticket = after(ticket, receipt(ticket, 1), receipt(ticket, 2), delivery(trigger(9)))
    ticket = assigned(ticket)
    stale = TakeAssignment(assignment=assignment_id_for(ticket.id, 1), host=OTHER)
    assert decide(ticket, stale, NOW) == []


@pytest.mark.rule("ASG-6")
def test_a_report_of_an_assignment_that_is_no_longer_the_tickets_changes_nothing():
    ticket = assigned()
    late = says(ticket, GiveReport, kind=ReportKind.READY, text="done", final=True)
    ticket = assigned(ticket, OTHER)
    events = decide(ticket, late, NOW)
    assert [type(e) for e in events] == [ReportRecorded]
    assert evolve_all(ticket, events) == ticket


@pytest.mark.rule("INP-1")
def test_an_executors_messages_are_taken_once_and_in_order():
    ticket = assigned()
    first = says(ticket, GiveReport, 1, kind=ReportKind.PROGRESS, text="a")
    second = says(ticket, GiveReport, 2, kind=ReportKind.PROGRESS, text="b")
    with pytest.raises(MessageTooEarly):
        decide(ticket, second, NOW)
    ticket = after(ticket, first, second)
    assert decide(ticket, first, NOW) == []
    assert ticket.report is not None
    assert ticket.report.text == "b"


# -- Reports --------------------------------------------------------------------------------


@pytest.mark.rule("ASG-3")
@pytest.mark.field("C13")
@pytest.mark.field("B10")
def test_a_ticket_ends_only_when_a_channel_took_its_final_report():
    ticket = report(assigned(), ReportKind.READY, final=True)
    assert ticket.status is TicketStatus.OPEN
    assert ticket.assignment is not None
    assert ticket.assignment.state is AssignmentState.ENDED
    ticket = after(ticket, receipt(ticket, 1))
    assert ticket.status is TicketStatus.OPEN, "that was the confirmation"
    ended = after(ticket, receipt(ticket, 2))
    assert ended.status is TicketStatus.ENDED
    assert decide(ended, receipt(ended, 2), NOW) == [], "a repeated receipt changes nothing"


@pytest.mark.rule("INP-1")
@pytest.mark.field("C1")
def test_a_message_that_comes_after_the_final_report_is_worked_on_before_the_ticket_ends():
    ticket = assigned()
    ticket = after(ticket, says(ticket, TakeInput, number=1))
    ticket = report(ticket, ReportKind.READY, final=True)
    events = decide(ticket, delivery(trigger(2)), NOW)
    assert [type(e) for e in events] == [InputAdded, AssignmentOffered]
    ticket = after(ticket, delivery(trigger(2)), receipt(ticket, 2))
    assert ticket.status is TicketStatus.OPEN
    ticket = assigned(ticket)
    ticket = after(ticket, says(ticket, TakeInput, number=2))
    ticket = report(ticket, ReportKind.READY, final=True)
    assert after(ticket, receipt(ticket, 3)).status is TicketStatus.ENDED


@pytest.mark.field("C1")
@pytest.mark.parametrize("outcome", list(WriteOutcome))
def test_an_input_that_nobody_read_before_the_final_report_is_offered_again(outcome):
    ticket = assigned()
    unread = says(ticket, GiveReport, kind=ReportKind.READY, text="Done.", final=True)
    ticket = after(ticket, unread)
    assert [i.number for i in ticket.waiting] == [1]
    ticket = after(ticket, receipt(ticket, 2, outcome))
    assert ticket.status is TicketStatus.OPEN
    assert ticket.assignment is not None
    assert ticket.assignment.state is AssignmentState.PENDING


@pytest.mark.field("C13")
def test_a_ticket_whose_final_report_was_refused_stays_open():
    ticket = report(assigned(), ReportKind.READY, final=True)
    ticket = after(ticket, receipt(ticket, 2, WriteOutcome.REFUSED, reason="locked"))
    assert ticket.status is TicketStatus.OPEN


@pytest.mark.rule("ASG-3")
@pytest.mark.parametrize("kind", list(ReportKind))
def test_no_report_that_is_not_final_ends_a_ticket(kind):
    ticket = report(assigned(), kind)
    for pending in ticket.unsettled:
        ticket = after(ticket, receipt(ticket, pending.number))
    assert ticket.status is TicketStatus.OPEN


@pytest.mark.rule("TON-2")
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (ReportKind.PROGRESS, False),
        (ReportKind.WAITING, False),
        (ReportKind.READY, True),
        (ReportKind.BLOCKED, True),
        (ReportKind.FAILED, True),
        (ReportKind.DROPPED, True),
    ],
)
def test_people_are_told_only_of_what_they_can_use(kind, told):
    before = assigned()
    assert report(before, kind).writes == before.writes + told


def test_the_same_trouble_is_told_once_until_a_person_writes():
    ticket = report(assigned(), ReportKind.FAILED)
    told = ticket.writes
    ticket = report(report(ticket, ReportKind.FAILED), ReportKind.BLOCKED)
    assert ticket.writes == told
    ticket = after(ticket, delivery(trigger(2, actor=CI_BOT)))
    assert report(ticket, ReportKind.FAILED).writes == told
    ticket = after(ticket, delivery(trigger(3, actor=ALICE)))
    assert report(ticket, ReportKind.FAILED).writes == told + 1


@pytest.mark.rule("TKT-4")
def test_an_executors_word_never_is_the_tickets_state():
    ticket = report(assigned(), ReportKind.DROPPED)
    assert ticket.status is TicketStatus.OPEN
    assert ticket.standing is Standing.LIVE


# -- Attentions -----------------------------------------------------------------------------


@pytest.mark.rule("ATT-1")
@pytest.mark.rule("ATT-2")
@pytest.mark.field("C14")
def test_an_attention_closes_when_the_assignment_has_a_persons_answer():
    ticket = assigned()
    ticket = after(ticket, says(ticket, TakeInput, number=1))
    ticket = after(ticket, says(ticket, AskPerson, question="Which?", choices=("a", "b")))
    assert ticket.stage is Stage.AWAITING_ANSWER
    ticket = after(ticket, delivery(trigger(2, actor=CI_BOT)), delivery(trigger(3)))
    assert ticket.attention is not None, "an answer that nobody has read yet answers nothing"
    ticket = after(ticket, says(ticket, TakeInput, number=2))
    assert ticket.attention is not None, "a bot does not answer"
    events = decide(ticket, says(ticket, TakeInput, number=3), NOW)
    assert any(isinstance(e, AttentionClosed) for e in events)


@pytest.mark.rule("ATT-1")
def test_there_is_one_open_question_at_a_time():
    ticket = assigned()
    ticket = after(ticket, says(ticket, AskPerson, question="First?"))
    ticket = after(ticket, says(ticket, AskPerson, question="Second?"))
    assert ticket.attention is not None
    assert ticket.attention.question == "Second?"


# -- writes ---------------------------------------------------------------------------------


@pytest.mark.rule("CHN-2")
def test_replies_and_pull_requests_are_writes_through_a_channel():
    ticket = assigned()
    ticket = after(ticket, says(ticket, ReplyToPerson, text="Here is the log."))
    proposed = PullRequest(branch="remit/t", title="Fix")
    ticket = after(ticket, says(ticket, ProposePullRequest, pull_request=proposed, body="Why"))
    assert [w.kind for w in ticket.unsettled] == [
        WriteKind.ACKNOWLEDGE,
        WriteKind.REPLY,
        WriteKind.PULL_REQUEST,
    ]


@pytest.mark.rule("CHN-1")
def test_a_ticket_follows_the_pull_request_that_its_channel_opened():
    ticket = assigned()
    proposed = PullRequest(branch="remit/t", title="Fix")
    ticket = after(ticket, says(ticket, ProposePullRequest, pull_request=proposed, body="Why"))
    pull = ThreadKey("github:1/pr/8")
    events = decide(ticket, receipt(ticket, 2, thread=pull, url="http://pr/8"), NOW)
    joined = [e for e in events if isinstance(e, ThreadJoined)]
    assert [(e.thread.key, e.thread.kind) for e in joined] == [(pull, SubscriptionKind.SOURCE)]


# -- stopping and resuming ------------------------------------------------------------------


@pytest.mark.rule("TKT-3")
@pytest.mark.rule("MAN-3")
def test_a_stopped_ticket_tells_its_executor_and_ends_when_that_confirms():
    ticket = after(assigned(), StopTicket(actor=ALICE, reason="never mind"))
    assert ticket.stopped
    assert ticket.status is TicketStatus.OPEN
    assert ticket.waiting[-1].kind is InputKind.STOP
    ticket = after(ticket, says(ticket, ConfirmStop))
    assert ticket.status is TicketStatus.ENDED
    [refused] = decide(ticket, delivery(trigger(2)), NOW)
    assert isinstance(refused, InputRefused)


@pytest.mark.rule("ASG-4")
def test_an_executor_cannot_declare_a_stop():
    ticket = assigned()
    events = decide(ticket, says(ticket, ConfirmStop), NOW)
    assert not any(isinstance(e, TicketEnded | AssignmentEnded) for e in events)


def test_a_ticket_that_nobody_hosts_is_stopped_at_once():
    ticket = after(opened_ticket(), StopTicket(actor=ALICE, reason="never mind"))
    assert ticket.status is TicketStatus.ENDED
    assert ticket.stopped
    assert ticket.assignment is not None
    stale = TakeAssignment(assignment=ticket.assignment.offer, host=HOST)
    assert decide(ticket, stale, NOW) == []


@pytest.mark.rule("SUB-5")
@pytest.mark.rule("MAN-2")
def test_a_persons_message_resumes_an_ended_ticket_under_the_same_mandate():
    ticket = report(assigned(), ReportKind.READY, final=True)
    ended = after(ticket, receipt(ticket, 2))
    events = decide(ended, delivery(trigger(2)), NOW)
    assert [type(e) for e in events] == [TicketResumed, InputAdded, AssignmentOffered]
    resumed = evolve_all(ended, events)
    assert resumed is not None
    assert resumed.mandate == ended.mandate
    assert resumed.assignment is not None
    assert resumed.assignment.number == 2


def test_somebody_who_may_not_resume_is_refused():
    ticket = report(assigned(), ReportKind.READY, final=True)
    ended = after(ticket, receipt(ticket, 2))
    [refused] = decide(ended, delivery(trigger(2), may_resume=False), NOW)
    assert isinstance(refused, InputRefused)


# -- stages ---------------------------------------------------------------------------------


@pytest.mark.rule("TKT-5")
def test_an_open_ticket_has_the_first_stage_that_matches():
    ticket = opened_ticket()
    assert ticket.stage is Stage.QUEUED
    ticket = assigned(ticket)
    assert ticket.stage is Stage.DELIVERING
    ticket = after(ticket, says(ticket, TakeInput, number=1))
    assert ticket.stage is Stage.WORKING
    assert report(ticket, ReportKind.WAITING).stage is Stage.IDLE
    assert report(ticket, ReportKind.BLOCKED).stage is Stage.STUCK
    assert report(ticket, ReportKind.FAILED).stage is Stage.STUCK
    ready = report(ticket, ReportKind.READY)
    assert ready.stage is Stage.AWAITING_REVIEW
    heard = after(ready, delivery(trigger(2)))
    assert heard.stage is Stage.DELIVERING
    assert after(heard, says(heard, TakeInput, number=2)).stage is Stage.WORKING
    final = report(ticket, ReportKind.DROPPED, final=True)
    assert final.stage is Stage.IDLE
    assert after(final, receipt(final, 2)).stage is None


def test_reports_carry_what_was_said():
    taken = [
        e
        for e in decide(
            assigned(),
            says(assigned(), GiveReport, kind=ReportKind.READY, text="All tests pass."),
            NOW,
        )
        if isinstance(e, ReportTaken)
    ]
    assert [e.report.text for e in taken] == ["All tests pass."]
