"""Threads: order, one Eval at a time, routing, Decisions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.domain.decision import Outcome
from remit.domain.ids import ThreadKey, TicketId, ticket_id_for
from remit.domain.positions import KEPT
from remit.domain.subscription import Standing, Subscription, SubscriptionKind
from remit.domain.thread import (
    DecisionRecorded,
    DeliverySettled,
    DiscardEval,
    DropSubscriptions,
    EndEval,
    EvalDiscarded,
    EvalStarted,
    HistoryNeeded,
    NoteStanding,
    RecordDecision,
    RequestMissing,
    SettleDelivery,
    SubscribeTicket,
    SubscriptionKept,
    Thread,
    TriggerAppended,
    TriggerReturned,
    decide,
    decide_all,
    evolve_all,
)
from support.domain import (
    ALICE,
    CI_BOT,
    HOME,
    MALLORY,
    NOW,
    VERSION,
    append,
    decision,
    empty_thread,
    ref,
    trigger,
)

ELSEWHERE = ThreadKey("github:1/pr/9")
ONE = TicketId("t-one")
TWO = TicketId("t-two")


def after(thread: Thread, *commands: object) -> Thread:
    for command in commands:
        thread = evolve_all(thread, decide(thread, command, NOW))
    return thread


def subscribed(ticket: TicketId, **fields: object) -> SubscribeTicket:
    values = {"ticket": ticket, "kind": SubscriptionKind.ORIGIN, "since": NOW, **fields}
    return SubscribeTicket(subscription=Subscription.model_validate(values))


def news(ticket: TicketId, standing: Standing, *, turn: int) -> NoteStanding:
    command = subscribed(ticket, standing=standing, turn=turn)
    return NoteStanding(subscription=command.subscription)


def record(thread: Thread, *triggers: object, outcome: Outcome = Outcome.IGNORE, **fields: object):
    assert thread.running is not None
    proposal = decision(thread.running.id, *triggers, outcome=outcome, **fields)
    asks = outcome in (Outcome.ACCEPT, Outcome.STOP)
    return RecordDecision(
        proposal=proposal,
        current=VERSION,
        request=triggers[0] if asks else None,
        ref=ref(triggers[0]) if asks else None,
    )


# -- Triggers -------------------------------------------------------------------------------


@pytest.mark.rule("TRG-3")
@pytest.mark.field("B1")
def test_a_trigger_that_comes_twice_is_taken_once():
    thread = after(empty_thread(), append(trigger(1)))
    assert decide(thread, append(trigger(1)), NOW) == []


@pytest.mark.rule("TRG-3")
def test_a_trigger_older_than_the_threads_memory_is_looked_up_in_its_history():
    thread = after(empty_thread(), *(append(trigger(n)) for n in range(2, KEPT + 4)))
    with pytest.raises(HistoryNeeded) as unsure:
        decide(thread, append(trigger(1)), NOW)
    assert unsure.value.ref.id == trigger(1).id
    assert decide(thread, append(trigger(1), known=True), NOW) == []
    assert decide(thread, append(trigger(1), known=False), NOW)


@pytest.mark.rule("THR-1")
@given(st.permutations(range(1, 9)))
def test_triggers_stand_in_time_order_however_they_arrive(arrivals):
    thread = after(empty_thread(), *(append(trigger(n, minutes=n // 2)) for n in arrivals))
    ordered = sorted(
        (trigger(n, minutes=n // 2) for n in range(1, 9)), key=lambda t: (t.occurred_at, t.id)
    )
    assert [one.id for one in thread.recent] == [one.id for one in ordered]


@pytest.mark.rule("TRG-2")
@pytest.mark.rule("COR-2")
def test_only_the_home_thread_evaluates_and_the_others_are_correlated():
    both = trigger(1, threads=(HOME, ELSEWHERE))
    [elsewhere] = decide(empty_thread(ELSEWHERE), append(both), NOW)
    assert isinstance(elsewhere, TriggerAppended)
    assert not elsewhere.evaluates
    assert elsewhere.correlated == (HOME,)
    home = after(empty_thread(), append(both))
    assert home.running is not None
    assert home.correlated == (ELSEWHERE,)


# -- Evals ----------------------------------------------------------------------------------


@pytest.mark.rule("THR-2")
@pytest.mark.rule("THR-3")
def test_triggers_that_arrive_while_an_eval_runs_form_the_next_batch_together():
    thread = after(empty_thread(), append(trigger(1)), append(trigger(3)), append(trigger(2)))
    assert thread.running is not None
    assert [p.ref.id for p in thread.running.batch] == [trigger(1).id]
    assert [p.ref.id for p in thread.pending] == [trigger(2).id, trigger(3).id]
    thread = after(thread, record(thread, trigger(1)))
    assert thread.running is not None
    assert [p.ref.id for p in thread.running.batch] == [trigger(2).id, trigger(3).id]
    assert thread.pending == ()


@pytest.mark.rule("THR-3")
def test_triggers_that_wait_together_go_into_one_commit_and_one_eval():
    taken = decide_all(empty_thread(), [append(trigger(n)) for n in (2, 1, 3)], NOW)
    started = [e for one in taken for e in one.events if isinstance(e, EvalStarted)]
    assert [[p.ref.id for p in e.batch] for e in started] == [
        [trigger(1).id, trigger(2).id, trigger(3).id]
    ]


@pytest.mark.rule("THR-2")
@pytest.mark.field("D3")
def test_the_result_of_an_eval_that_no_longer_runs_changes_nothing():
    thread = after(empty_thread(), append(trigger(1)))
    late = record(thread, trigger(1), outcome=Outcome.ACCEPT)
    thread = after(thread, record(thread, trigger(1)))
    assert decide(thread, late, NOW) == []


@pytest.mark.rule("POL-5")
def test_a_decision_made_under_an_older_policy_is_discarded_and_asked_again():
    thread = after(empty_thread(), append(trigger(1)))
    stale = record(thread, trigger(1), outcome=Outcome.ACCEPT, version="p-0")
    discarded, started = decide(thread, stale, NOW)
    assert isinstance(discarded, EvalDiscarded)
    assert isinstance(started, EvalStarted)
    assert started.batch[0].tries == 0
    assert started.eval_id != discarded.eval_id


@pytest.mark.rule("POL-5")
def test_a_policy_change_discards_the_running_eval_only():
    thread = after(empty_thread(), append(trigger(1)))
    assert thread.running is not None
    discard = DiscardEval(eval_id=thread.running.id)
    again = after(thread, discard)
    assert again.running is not None
    assert again.running.id != thread.running.id
    assert decide(again, discard, NOW) == []


@pytest.mark.rule("EVL-5")
def test_an_eval_that_runs_out_of_time_is_asked_again_and_ends_unavailable():
    thread = after(empty_thread(), append(trigger(1)))
    for _ in range(2):
        assert thread.running is not None
        end = EndEval(eval_id=thread.running.id, tries=3, current=VERSION, reason="slow")
        thread = after(thread, end)
        assert thread.decisions == ()
    assert thread.running is not None
    end = EndEval(eval_id=thread.running.id, tries=3, current=VERSION, reason="slow")
    [recorded] = decide(thread, end, NOW)
    assert isinstance(recorded, DecisionRecorded)
    assert recorded.decision.outcome is Outcome.UNAVAILABLE
    assert recorded.decision.triggers == (trigger(1).id,)
    assert after(thread, end).running is None


@pytest.mark.rule("EVL-5")
def test_a_trigger_that_joined_a_late_try_keeps_its_own_tries():
    thread = after(empty_thread(), append(trigger(1)))
    assert thread.running is not None
    thread = after(
        thread,
        append(trigger(2)),
        EndEval(eval_id=thread.running.id, tries=2, current=VERSION, reason="slow"),
    )
    assert thread.running is not None
    thread = after(
        thread, EndEval(eval_id=thread.running.id, tries=2, current=VERSION, reason="slow")
    )
    assert thread.decisions[-1].triggers == (trigger(1).id,)
    assert thread.running is not None
    assert [(p.ref.id, p.tries) for p in thread.running.batch] == [(trigger(2).id, 1)]


def test_a_timer_of_an_earlier_eval_changes_nothing():
    thread = after(empty_thread(), append(trigger(1)))
    assert thread.running is not None
    old = thread.running.id
    thread = after(thread, DiscardEval(eval_id=old))
    assert decide(thread, EndEval(eval_id=old, tries=1, current=VERSION, reason="late"), NOW) == []


@pytest.mark.rule("EVL-10")
def test_what_a_decision_does_not_name_stays_for_the_next_eval():
    taken = decide_all(empty_thread(), [append(trigger(n)) for n in (1, 2)], NOW)
    thread = evolve_all(empty_thread(), [e for one in taken for e in one.events])
    thread = after(thread, record(thread, trigger(1), outcome=Outcome.ACCEPT))
    assert thread.running is not None
    assert [p.ref.id for p in thread.running.batch] == [trigger(2).id]


# -- Tickets --------------------------------------------------------------------------------


@pytest.mark.rule("THR-5")
@pytest.mark.rule("TRG-3")
def test_an_accept_subscribes_the_one_ticket_that_derives_from_the_trigger():
    thread = after(empty_thread(), append(trigger(1)))
    thread = after(thread, record(thread, trigger(1), outcome=Outcome.ACCEPT))
    [subscription] = thread.subscriptions
    assert subscription.ticket == ticket_id_for(trigger(1).id)
    assert subscription.kind is SubscriptionKind.ORIGIN
    assert thread.decisions[-1].ticket == subscription.ticket
    assert thread.running is None


def test_an_accept_without_the_trigger_that_asks_is_refused():
    thread = after(empty_thread(), append(trigger(1)))
    bare = record(thread, trigger(1), outcome=Outcome.ACCEPT).model_copy(update={"request": None})
    with pytest.raises(RequestMissing):
        decide(thread, bare, NOW)


@pytest.mark.rule("THR-4")
@pytest.mark.rule("SUB-1")
@pytest.mark.rule("SUB-2")
@pytest.mark.parametrize("who", [ALICE, MALLORY, CI_BOT])
def test_a_trigger_fans_out_to_every_live_ticket_whoever_sent_it(who):
    thread = after(empty_thread(), subscribed(ONE), subscribed(TWO))
    [appended, *_] = decide(thread, append(trigger(5, actor=who)), NOW)
    assert isinstance(appended, TriggerAppended)
    assert appended.reached == (ONE, TWO)


@pytest.mark.rule("SUB-3")
def test_a_persons_message_that_reached_a_ticket_takes_no_eval():
    thread = after(empty_thread(), subscribed(ONE), append(trigger(5)))
    assert thread.running is None
    assert thread.pending == ()


@pytest.mark.rule("SUB-3")
def test_a_bots_message_is_fanned_out_and_evaluated():
    thread = after(empty_thread(), subscribed(ONE), append(trigger(5, actor=CI_BOT)))
    assert thread.running is not None


@pytest.mark.rule("SUB-3")
@pytest.mark.rule("SUB-5")
def test_what_a_person_did_without_a_word_is_no_message():
    merged = trigger(5, is_message=False)
    live = after(empty_thread(), subscribed(ONE), append(merged))
    assert live.running is not None, "it is fanned out and evaluated"
    ended = after(empty_thread(), subscribed(ONE, standing=Standing.ENDED))
    [appended, *_] = decide(ended, append(merged), NOW)
    assert appended.reached == (), "it resumes nothing"


def test_a_ticket_on_two_threads_of_a_trigger_is_reached_once():
    both = trigger(5, threads=(HOME, ELSEWHERE))
    thread = after(empty_thread(), subscribed(ONE))
    [appended, *_] = decide(thread, append(both, reach=(ONE, TWO)), NOW)
    assert appended.reached == (ONE, TWO)


@pytest.mark.rule("SUB-5")
@pytest.mark.rule("SUB-6")
@pytest.mark.parametrize(
    ("standing", "kind", "who", "reached"),
    [
        (Standing.ENDED, SubscriptionKind.ORIGIN, ALICE, True),
        (Standing.ENDED, SubscriptionKind.SOURCE, ALICE, True),
        (Standing.ENDED, SubscriptionKind.CONTEXT, ALICE, False),
        (Standing.ENDED, SubscriptionKind.ORIGIN, CI_BOT, False),
        (Standing.STOPPED, SubscriptionKind.ORIGIN, ALICE, False),
        (Standing.STOPPED, SubscriptionKind.ORIGIN, CI_BOT, False),
        (Standing.LIVE, SubscriptionKind.CONTEXT, CI_BOT, True),
    ],
)
def test_who_reaches_a_ticket_that_is_not_live(standing, kind, who, reached):
    thread = after(empty_thread(), subscribed(ONE, kind=kind, standing=standing))
    [appended, *_] = decide(thread, append(trigger(5, actor=who)), NOW)
    assert (appended.reached == (ONE,)) is reached


@pytest.mark.rule("SUB-3")
def test_a_message_that_its_only_ticket_refuses_goes_back_to_an_eval():
    thread = after(empty_thread(), subscribed(ONE), append(trigger(5)))
    refused = SettleDelivery(ref=ref(trigger(5)), ticket=ONE, taken=False)
    returned, started = decide(thread, refused, NOW)
    assert isinstance(returned, TriggerReturned)
    assert isinstance(started, EvalStarted)
    assert started.batch[0].returned
    assert decide(after(thread, refused), refused, NOW) == [], "a repeat changes nothing"


@pytest.mark.parametrize("answers", [(True, False), (False, True), (True, True)])
def test_a_message_that_one_of_several_tickets_took_takes_no_eval(answers):
    thread = after(empty_thread(), subscribed(ONE), subscribed(TWO), append(trigger(5)))
    for ticket, taken in zip((ONE, TWO), answers, strict=True):
        thread = after(thread, SettleDelivery(ref=ref(trigger(5)), ticket=ticket, taken=taken))
    assert thread.running is None
    assert thread.fan_outs == ()


def test_a_message_that_every_ticket_refuses_takes_one_eval():
    thread = after(empty_thread(), subscribed(ONE), subscribed(TWO), append(trigger(5)))
    first = SettleDelivery(ref=ref(trigger(5)), ticket=ONE, taken=False)
    thread = after(thread, first, first)
    assert thread.running is None
    events = decide(thread, first.model_copy(update={"ticket": TWO}), NOW)
    assert [type(e) for e in events] == [DeliverySettled, TriggerReturned, EvalStarted]


def test_older_news_of_a_ticket_is_ignored():
    thread = after(
        empty_thread(),
        subscribed(ONE),
        news(ONE, Standing.LIVE, turn=2),
        news(ONE, Standing.ENDED, turn=1),
        subscribed(ONE),
    )
    assert thread.subscriptions[0].standing is Standing.LIVE


@pytest.mark.rule("SUB-6")
def test_news_that_overtakes_a_subscription_is_not_lost():
    thread = after(empty_thread(), news(ONE, Standing.STOPPED, turn=1), subscribed(ONE))
    assert [sub.standing for sub in thread.subscriptions] == [Standing.STOPPED]


@pytest.mark.rule("SUB-8")
def test_news_of_a_ticket_that_was_taken_off_the_thread_does_not_bring_it_back():
    thread = after(
        empty_thread(), subscribed(ONE), DropSubscriptions(), news(ONE, Standing.ENDED, turn=1)
    )
    assert thread.subscriptions == ()


@pytest.mark.rule("SUB-8")
def test_a_person_drops_every_subscription():
    thread = after(empty_thread(), subscribed(ONE), subscribed(TWO), DropSubscriptions())
    assert thread.subscriptions == ()


@pytest.mark.rule("SUB-8")
@pytest.mark.parametrize("kind", [SubscriptionKind.ORIGIN, SubscriptionKind.SOURCE])
def test_an_executor_cannot_leave_where_its_ticket_started_or_was_made_to_follow(kind):
    thread = after(empty_thread(), subscribed(ONE, kind=kind))
    with pytest.raises(SubscriptionKept):
        decide(thread, DropSubscriptions(executor_of=ONE), NOW)


@pytest.mark.rule("SUB-8")
def test_an_executor_drops_its_own_subscription_only():
    thread = after(
        empty_thread(),
        subscribed(ONE, kind=SubscriptionKind.CONTEXT),
        subscribed(TWO),
        DropSubscriptions(executor_of=ONE),
    )
    assert [sub.ticket for sub in thread.subscriptions] == [TWO]


def test_a_long_thread_stays_small():
    thread = empty_thread()
    for n in range(1, 400):
        thread = after(thread, append(trigger(n)))
        if thread.running is not None:
            batch = [trigger(int(p.ref.id.rpartition("/")[2])) for p in thread.running.batch]
            thread = after(thread, record(thread, *batch))
    assert len(thread.model_dump_json()) < 16_000
    assert thread.evals == 399


def test_time_is_the_callers():
    later = NOW + timedelta(hours=1)
    started = decide(empty_thread(), append(trigger(1)), later)[-1]
    assert isinstance(started, EvalStarted)
    assert started.at == later
