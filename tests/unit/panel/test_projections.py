"""Projections: what one message of each stream means for the read model."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from remit.bus import deadletters
from remit.bus.message import Delivery, Message
from remit.domain.ids import ThreadKey
from remit.domain.messages import EventDropped
from remit.domain.report import ReportKind
from remit.domain.ticket import AskPerson, GiveReport, TakeInput
from remit.panel.live import ChangeKind
from remit.panel.readmodel.projections import projections
from remit.panel.readmodel.projections.dead_letter import project_dead_letter
from remit.panel.readmodel.projections.drop import project_drop
from remit.panel.readmodel.projections.thread import project_thread
from remit.panel.readmodel.projections.ticket import project_ticket
from remit.panel.readmodel.projections.trigger import EXCERPT, project_trigger
from remit.panel.readmodel.rows import (
    DeadLetterRow,
    DecisionRow,
    DropRow,
    MentionRow,
    MomentRow,
    Projected,
    Tally,
    ThreadRow,
    ThreadTriggerRow,
    TicketRow,
    TriggerRow,
)
from remit.panel.readmodel.times import micros, moment_of
from remit.runtime.wire import PayloadUnreadable, message_of
from support.domain import HOME, NOW, at, trigger
from support.memory_services import MemoryServices

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER = ThreadKey("github:1/pull/8")


def delivery(message: Message, sequence: int = 1, stream: str = "TRIGGER") -> Delivery:
    return Delivery(message=message, stream=stream, sequence=sequence, stored_at=at(30))


def rows_of(projected: Projected, kind: type) -> list:
    return [row for row in projected.rows if isinstance(row, kind)]


def changed(message: Message, **changes: object) -> Message:
    document = json.loads(message.data)
    document.update(changes)
    return replace(message, data=json.dumps(document).encode())


async def commits(services: MemoryServices, stream: str) -> list[Delivery]:
    return await services.stored(stream)


async def test_each_stream_is_followed_once():
    followed = [projection.stream for projection in projections()]
    assert len(set(followed)) == len(followed)
    assert {"TRIGGER", "DISPOSITION", "THREAD", "TICKET", "POLICY", "DROP"} <= set(followed)


def test_a_trigger_takes_its_place_by_time_in_each_of_its_threads():
    one = trigger(3, threads=(HOME, OTHER), text="word " * 100)
    projected = project_trigger(delivery(message_of(one, id=one.id, source="t", trace=TRACE), 9))
    (row,) = rows_of(projected, TriggerRow)
    assert (row.position, row.id, row.home) == (9, one.id, HOME)
    assert (row.occurred_at, row.stored_at) == (micros(at(3)), micros(at(30)))
    assert row.trace == "0af7651916cd43dd8448eb211c80319c"
    assert len(row.excerpt) == EXCERPT
    assert rows_of(projected, ThreadTriggerRow) == [
        ThreadTriggerRow(HOME, micros(at(3)), one.id),
        ThreadTriggerRow(OTHER, micros(at(3)), one.id),
    ]
    assert projected.tallies == (Tally("trigger", "github", at(30)),)
    assert projected.change is not None
    assert projected.change.concerns(OTHER)


def test_fields_of_a_newer_version_are_kept_and_stop_nothing():
    one = trigger(1)
    message = changed(message_of(one, id=one.id, source="t"), colour="green")
    (row,) = rows_of(project_trigger(delivery(message)), TriggerRow)
    assert json.loads(row.document)["colour"] == "green"


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"not json", b'{"id": 3}'])
@pytest.mark.parametrize("stream", [projection.stream for projection in projections()])
def test_what_cannot_be_read_is_refused_as_such(stream, data):
    (projection,) = [one for one in projections() if one.stream == stream]
    subject = projection.subject.replace("*", "x")
    message = Message(subject=subject, id="m", type="remit.x", source="/x", data=data)
    if stream == "DEADLETTER":
        from remit.bus.errors import NotAnEvent as Refusal
    else:
        Refusal = PayloadUnreadable  # noqa: N806 - a class
    with pytest.raises(Refusal):
        projection.project(delivery(message, stream=stream))


async def test_a_threads_commit_leaves_its_state_its_decision_and_what_happened(services):
    await services.publish(trigger(1))
    await services.settle()
    first, second, *_ = await commits(services, "THREAD")
    appended = project_thread(first)
    (state,) = rows_of(appended, ThreadRow)
    assert (state.key, state.position) == (HOME, first.sequence)
    assert "taken" not in json.loads(state.document)
    assert [row.event for row in rows_of(appended, MomentRow)] == [
        "trigger_appended",
        "eval_started",
    ]
    assert {row.trigger for row in rows_of(appended, MentionRow)} == {trigger(1).id}
    decided = project_thread(second)
    (decision,) = rows_of(decided, DecisionRow)
    assert json.loads(decision.document)["outcome"] == "accept"
    assert decision.ticket in json.dumps(json.loads(rows_of(decided, ThreadRow)[0].document))
    assert [tally[:2] for tally in decided.tallies] == [("decision", "accept")]


async def test_an_event_that_nobody_knows_yet_is_shown_by_its_name(services):
    await services.publish(trigger(1))
    await services.settle()
    first, *_ = await commits(services, "THREAD")
    document = json.loads(first.message.data)
    document["events"].insert(1, {"event": "thread_painted", "colour": "green"})
    newer = replace(first, message=changed(first.message, events=document["events"]))
    projected = project_thread(newer)
    assert [row.event for row in rows_of(projected, MomentRow)] == [
        "trigger_appended",
        "thread_painted",
        "eval_started",
    ]
    assert rows_of(projected, ThreadRow) == rows_of(project_thread(first), ThreadRow)


async def test_a_tickets_row_says_where_it_stands_and_what_it_asks(services):
    await services.publish(trigger(1))
    await services.settle()
    (opened, *_) = await commits(services, "TICKET")
    (row,) = rows_of(project_ticket(opened), TicketRow)
    assert (row.status, row.stage, row.asked_at) == ("open", "queued", None)
    ticket = await services.take(row.id)
    assert ticket.assignment is not None
    assignment = ticket.assignment.id
    await services.host_says(row.id, TakeInput(assignment=assignment, message=1, number=1))
    await services.host_says(row.id, AskPerson(assignment=assignment, message=2, question="Which?"))
    await services.settle()
    asked = [
        rows_of(project_ticket(commit), TicketRow)[0]
        for commit in await commits(services, "TICKET")
    ]
    assert asked[-1].stage == "awaiting_answer"
    assert asked[-1].asked_at is not None


async def test_that_a_message_was_heard_is_no_moment(services):
    await services.publish(trigger(1))
    await services.settle()
    (opened, *_) = await commits(services, "TICKET")
    (row,) = rows_of(project_ticket(opened), TicketRow)
    ticket = await services.take(row.id)
    assert ticket.assignment is not None
    report = GiveReport(
        assignment=ticket.assignment.id, message=1, kind=ReportKind.PROGRESS, text="half"
    )
    await services.host_says(row.id, report)
    await services.settle()
    *_, last = await commits(services, "TICKET")
    assert [one.event for one in rows_of(project_ticket(last), MomentRow)] == ["report_taken"]


def test_a_dropped_event_is_counted_by_source_and_reason():
    dropped = EventDropped(
        source="github", reason="own_message", event="issues", delivery="d", detail="x", at=NOW
    )
    projected = project_drop(delivery(message_of(dropped, id="d", source="s"), stream="DROP"))
    assert [row[:3] for row in rows_of(projected, DropRow)] == [(1, "github", "own_message")]
    assert projected.tallies == (Tally("drop", "own_message@github", at(30)),)
    assert projected.change is not None
    assert projected.change.kind is ChangeKind.DROP


def test_a_dead_letter_says_where_it_came_from_and_why_it_was_given_up_on():
    one = trigger(1)
    message = message_of(one, id=one.id, source="t", trace=TRACE)
    buried = deadletters.bury(delivery(message, 7), consumer="route", reason="Läuft nicht")
    projected = project_dead_letter(delivery(buried, 2, "DEADLETTER"))
    (row,) = rows_of(projected, DeadLetterRow)
    assert (row.stream, row.message, row.reason) == ("TRIGGER", one.id, "Läuft nicht")
    assert row.trace == "0af7651916cd43dd8448eb211c80319c"
    assert json.loads(row.document)["id"] == one.id


@pytest.mark.parametrize("moment", [NOW, at(0.000001), at(-1e9)])
def test_times_come_back_as_they_were(moment):
    assert moment_of(micros(moment)) == moment
    assert micros(moment.replace(tzinfo=None)) == micros(moment)
