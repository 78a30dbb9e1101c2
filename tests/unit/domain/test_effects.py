"""Effects: what commits cause, each message under an id of its own."""

from __future__ import annotations

import pytest

from remit.domain.channel import ChannelWrite, Receipt, WriteOutcome
from remit.domain.decision import Outcome
from remit.domain.disposition import Disposition, DispositionKind
from remit.domain.effects import of_thread, of_ticket
from remit.domain.gate import GateReason
from remit.domain.ids import HostName, ThreadKey, TicketId, ticket_id_for, write_id_for
from remit.domain.inputs import Input, InputKind
from remit.domain.messages import EvalRequest, Offer, ToThread, ToTicket
from remit.domain.report import ReportKind
from remit.domain.subscription import Standing, Subscription, SubscriptionKind
from remit.domain.thread import (
    NoteStanding,
    RecordDecision,
    SettleDelivery,
    SubscribeTicket,
    Thread,
    decide,
    evolve_all,
)
from remit.domain.ticket import (
    DeliverTrigger,
    GiveReport,
    OpenTicket,
    SettleWrite,
    StopTicket,
    TakeAssignment,
    TakeInput,
    Ticket,
    open_ticket,
)
from remit.domain.ticket import decide as decide_ticket
from remit.domain.ticket import evolve_all as evolve_ticket
from support.domain import (
    ADMITTED,
    ALICE,
    CI_BOT,
    HOME,
    NOW,
    REFUSED,
    VERSION,
    append,
    decision,
    delivery,
    empty_thread,
    opened_ticket,
    opening,
    ref,
    trigger,
)

ONE, TWO = TicketId("t-one"), TicketId("t-two")
PULL = ThreadKey("github:1/pr/8")


def with_tickets(*tickets: TicketId) -> Thread:
    subscriptions = tuple(
        Subscription(ticket=ticket, kind=SubscriptionKind.ORIGIN, since=NOW) for ticket in tickets
    )
    return empty_thread().model_copy(update={"subscriptions": subscriptions})


def evaluating(*numbers: int) -> Thread:
    thread = empty_thread()
    for number in numbers:
        thread = evolve_all(thread, decide(thread, append(trigger(number)), NOW))
    return thread


def caused(thread: Thread, command: object) -> list:
    return of_thread(thread, command, decide(thread, command, NOW))


def caused_by_ticket(ticket: Ticket, command: object) -> list:
    events = decide_ticket(ticket, command, NOW)
    after = evolve_ticket(ticket, events)
    assert after is not None
    return of_ticket(after, command, events)


def recording(thread: Thread, outcome: Outcome, verdict=ADMITTED, **fields) -> RecordDecision:
    assert thread.running is not None
    asks = outcome in (Outcome.ACCEPT, Outcome.STOP)
    proposal = decision(thread.running.id, trigger(1), outcome=outcome, verdict=verdict, **fields)
    return RecordDecision(
        proposal=proposal,
        current=VERSION,
        request=trigger(1) if asks else None,
        ref=ref(trigger(1)) if asks else None,
    )


def test_a_trigger_that_waits_asks_for_an_eval_on_its_own_trace():
    command = append(trigger(1))
    traced = command.model_copy(
        update={"ref": command.ref.model_copy(update={"trace": "00-a-b-01"})}
    )
    [effect] = caused(empty_thread(), traced)
    assert isinstance(effect.payload, EvalRequest)
    assert [one.id for one in effect.payload.batch] == [trigger(1).id]
    assert effect.trace == "00-a-b-01"


@pytest.mark.rule("SUB-2")
def test_a_trigger_that_fans_out_is_delivered_whole_to_each_ticket():
    effects = caused(with_tickets(ONE, TWO), append(trigger(5)))
    asks = [e.payload for e in effects if isinstance(e.payload, ToTicket)]
    assert [(a.ticket, a.ask.trigger) for a in asks] == [(ONE, trigger(5)), (TWO, trigger(5))]
    assert all(isinstance(a.ask, DeliverTrigger) and a.ask.several for a in asks)


def test_a_single_ticket_need_not_answer_that_it_took_a_trigger():
    [effect] = caused(with_tickets(ONE), append(trigger(5)))
    assert isinstance(effect.payload, ToTicket)
    assert not effect.payload.ask.several


def test_a_bots_trigger_needs_no_answers_for_it_is_evaluated_anyway():
    effects = caused(with_tickets(ONE, TWO), append(trigger(5, actor=CI_BOT)))
    asks = [e.payload.ask for e in effects if isinstance(e.payload, ToTicket)]
    assert not any(ask.several for ask in asks)
    assert any(isinstance(e.payload, EvalRequest) for e in effects)


@pytest.mark.rule("TRG-4")
@pytest.mark.rule("DSP-2")
@pytest.mark.parametrize(
    ("outcome", "verdict", "kind", "reason"),
    [
        (Outcome.IGNORE, ADMITTED, DispositionKind.EVALUATED, "because"),
        (Outcome.IGNORE, REFUSED, DispositionKind.FILTERED, GateReason.NOT_ON_LIST),
        (Outcome.ACCEPT, ADMITTED, DispositionKind.EVALUATED, "because"),
    ],
)
def test_every_decided_trigger_has_a_disposition_that_says_why(outcome, verdict, kind, reason):
    thread = evaluating(1)
    effects = caused(thread, recording(thread, outcome, verdict))
    [disposition] = [e.payload for e in effects if isinstance(e.payload, Disposition)]
    assert (disposition.kind, disposition.reason) == (kind, reason)
    assert disposition.decision is not None
    assert disposition.policy_version == VERSION
    opened = (ticket_id_for(trigger(1).id),) if outcome is Outcome.ACCEPT else ()
    assert disposition.tickets == opened


@pytest.mark.rule("TKT-1")
def test_an_accept_opens_the_ticket_with_the_request_whole():
    thread = evaluating(1)
    effects = caused(thread, recording(thread, Outcome.ACCEPT))
    [ask] = [e.payload.ask for e in effects if isinstance(e.payload, ToTicket)]
    assert isinstance(ask, OpenTicket)
    assert ask.request == trigger(1)
    assert ask.verdict == ADMITTED


def test_a_stop_stops_the_tickets_it_names_in_the_name_of_who_asked():
    thread = evaluating(1).model_copy(update={"subscriptions": with_tickets(ONE).subscriptions})
    effects = caused(thread, recording(thread, Outcome.STOP, stops=(ONE,)))
    [ask] = [e.payload.ask for e in effects if isinstance(e.payload, ToTicket)]
    assert isinstance(ask, StopTicket)
    assert ask.actor == ALICE


def test_an_opening_causes_a_confirmation_the_first_input_and_an_offer():
    request = trigger(1, threads=(HOME, PULL))
    ticket = opened_ticket(request)
    events = open_ticket(ticket.id, opening(request), NOW)
    effects = of_ticket(ticket, opening(request), events)
    by_type = {type(e.payload): e.payload for e in effects}
    assert set(by_type) == {ChannelWrite, Input, Offer, ToThread}
    first = by_type[Input]
    assert (first.number, first.kind, first.trigger) == (1, InputKind.TRIGGER, request)
    assert by_type[ToThread].thread == PULL, "its home took the Subscription with the Decision"
    assert isinstance(by_type[ToThread].ask, SubscribeTicket)


@pytest.mark.rule("TRG-4")
@pytest.mark.field("A3")
def test_a_delivered_trigger_becomes_an_input_with_its_admission_and_a_disposition():
    command = delivery(trigger(2)).model_copy(update={"verdict": REFUSED})
    effects = caused_by_ticket(opened_ticket(), command)
    [taken] = [e.payload for e in effects if isinstance(e.payload, Input)]
    assert (taken.trigger, taken.verdict) == (trigger(2), REFUSED)
    [disposition] = [e.payload for e in effects if isinstance(e.payload, Disposition)]
    assert disposition.kind is DispositionKind.FANNED_OUT
    assert disposition.tickets == (opened_ticket().id,)


@pytest.mark.parametrize("several", [True, False])
def test_a_taken_delivery_is_answered_only_where_somebody_waits(several):
    effects = caused_by_ticket(opened_ticket(), delivery(trigger(2), several=several))
    settled = [e.payload.ask for e in effects if isinstance(e.payload, ToThread)]
    assert [ask.taken for ask in settled] == ([True] if several else [])


@pytest.mark.parametrize(("who", "answers"), [(ALICE, 1), (CI_BOT, 0)])
def test_a_refused_delivery_goes_back_only_for_a_person(who, answers):
    stopped = opened_ticket()
    stop = StopTicket(actor=ALICE, reason="no")
    stopped = evolve_ticket(stopped, decide_ticket(stopped, stop, NOW))
    effects = caused_by_ticket(stopped, delivery(trigger(2, actor=who)))
    settled = [e.payload.ask for e in effects if isinstance(e.payload, ToThread)]
    assert [ask.taken for ask in settled if isinstance(ask, SettleDelivery)] == [False] * answers
    assert not any(isinstance(e.payload, Disposition) for e in effects)


def test_the_end_of_a_ticket_is_told_to_all_its_threads_in_turns():
    ticket = opened_ticket(trigger(1, threads=(HOME, PULL)))
    assert ticket.assignment is not None
    take = TakeAssignment(assignment=ticket.assignment.offer, host=HostName("h"))
    ticket = evolve_ticket(ticket, decide_ticket(ticket, take, NOW))
    read = TakeInput(assignment=ticket.assignment.id, message=1, number=1)
    ticket = evolve_ticket(ticket, decide_ticket(ticket, read, NOW))
    final = GiveReport(
        assignment=ticket.assignment.id, message=2, kind=ReportKind.READY, text="done", final=True
    )
    ticket = evolve_ticket(ticket, decide_ticket(ticket, final, NOW))
    write = write_id_for(ticket.id, 2)
    end = SettleWrite(receipt=Receipt(write=write, outcome=WriteOutcome.ACCEPTED))
    told = [e.payload for e in caused_by_ticket(ticket, end) if isinstance(e.payload, ToThread)]
    assert [one.thread for one in told] == [HOME, PULL]
    assert {
        (one.ask.subscription.standing, one.ask.subscription.turn)
        for one in told
        if isinstance(one.ask, NoteStanding)
    } == {(Standing.ENDED, 1)}


def test_the_same_events_cause_messages_with_the_same_ids():
    thread = evaluating(1)
    command = recording(thread, Outcome.ACCEPT)
    first = [e.id for e in caused(thread, command)]
    assert [e.id for e in caused(thread, command)] == first
    assert len(set(first)) == len(first)
