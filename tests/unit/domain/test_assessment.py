"""Assessment: what an assessor may say, and what becomes of it."""

from __future__ import annotations

import asyncio

import pytest

from remit.domain.assessment import (
    AssessmentUnusable,
    Candidate,
    Case,
    Judgement,
    decision_from,
    refusal,
)
from remit.domain.decision import DecidedBy, Decision, GateRecord, Outcome
from remit.domain.gate import GateReason, Verdict
from remit.domain.ids import EvalId, RuleId, TicketId, TriggerId
from remit.domain.mandate import Strength
from remit.domain.policy import AcceptMode
from remit.domain.rules_assessor import RulesAssessor, judge_by_rules, title_of
from remit.domain.subscription import Subscription, SubscriptionKind
from remit.domain.thread import Thread
from support.domain import ADMITTED, HOME, NOW, REFUSED, policy, rule, trigger

EVAL = EvalId("e/1")
INFERRED = Verdict(admitted=True, reason=GateReason.LISTED_BOT, strength=Strength.INFERRED)
LIVE = Subscription(ticket=TicketId("t-live"), kind=SubscriptionKind.ORIGIN, since=NOW)


def case(
    *verdicts: Verdict, subscriptions: tuple[Subscription, ...] = (), **fields: object
) -> Case:
    return Case(
        candidates=tuple(
            Candidate(trigger=trigger(n), verdict=verdict)
            for n, verdict in enumerate(verdicts or (ADMITTED,), 1)
        ),
        thread=Thread(key=HOME, subscriptions=subscriptions),
        policy=policy(**fields),
    )


def accept(**fields: object) -> Judgement:
    values = {
        "outcome": Outcome.ACCEPT,
        "triggers": (trigger(1).id,),
        "request": trigger(1).id,
        "rules": ("small-fixes",),
        "title": "Fix",
        "reason": "asked for",
        **fields,
    }
    return Judgement.model_validate(values)


def decide(judgement: Judgement, on: Case, refused: tuple[GateRecord, ...] = ()) -> Decision:
    return decision_from(
        judgement, on, eval_id=EVAL, decided_by=DecidedBy.MODEL, refused=refused, now=NOW
    )


@pytest.mark.rule("MAN-1")
def test_an_accept_becomes_a_mandate_that_says_what_it_relied_on():
    on = case()
    decision = decide(accept(), on)
    mandate = decision.mandate
    assert mandate is not None
    asked = trigger(1)
    assert (mandate.policy_version, mandate.strength, mandate.rules, mandate.scope) == (
        on.policy.version,
        Strength.EXPLICIT,
        ("small-fixes",),
        "small fixes in the repository",
    )
    assert (mandate.actor, mandate.source, mandate.received_by, mandate.trigger) == (
        asked.actor,
        asked.source,
        asked.received_by,
        asked.id,
    )


@pytest.mark.rule("MAN-2")
def test_a_mandate_cannot_be_changed():
    mandate = decide(accept(), case()).mandate
    assert mandate is not None
    with pytest.raises(ValueError, match="frozen"):
        mandate.scope = "everything"


@pytest.mark.rule("EVL-8")
@pytest.mark.parametrize(
    ("sentence", "judgement", "on"),
    [
        ("an unknown Trigger", accept(triggers=("x",), request="x"), case()),
        ("no Trigger at all", accept(triggers=()), case()),
        ("an unknown rule", accept(rules=("made-up",)), case()),
        ("no rule", accept(rules=()), case()),
        ("nobody who asks", accept(request=None), case()),
        (
            "somebody who asks outside what is decided",
            accept(request=trigger(2).id),
            case(ADMITTED, ADMITTED),
        ),
        ("an inferred candidate under a rule for explicit ones", accept(), case(INFERRED)),
        ("no reason", accept(reason=" "), case()),
        ("unavailable", accept(outcome=Outcome.UNAVAILABLE), case()),
        ("a stop without Tickets", accept(outcome=Outcome.STOP), case()),
        ("a stop of a Ticket elsewhere", accept(outcome=Outcome.STOP, stops=("t-x",)), case()),
        ("an accept that also stops", accept(stops=("t-live",)), case(subscriptions=(LIVE,))),
    ],
)
def test_no_decision_comes_of(sentence, judgement, on):
    with pytest.raises(AssessmentUnusable):
        decide(judgement, on)


@pytest.mark.rule("EVL-3")
def test_a_stop_names_tickets_of_its_thread():
    stop = accept(outcome=Outcome.STOP, stops=("t-live",), rules=())
    assert decide(stop, case(subscriptions=(LIVE,))).stops == ("t-live",)


@pytest.mark.rule("EVL-3")
@pytest.mark.parametrize(
    ("outcome", "fields"),
    [
        (Outcome.ACCEPT, {}),
        (Outcome.IGNORE, {"mandate": decide(accept(), case()).mandate}),
        (Outcome.STOP, {}),
        (Outcome.IGNORE, {"stops": ("t-live",)}),
    ],
)
def test_only_an_accept_grants_and_only_a_stop_stops(outcome, fields):
    values = decide(accept(outcome=Outcome.IGNORE), case()).model_dump()
    with pytest.raises(ValueError, match="EVL-3"):
        Decision.model_validate({**values, "outcome": outcome, **fields})


@pytest.mark.rule("POL-6")
@pytest.mark.parametrize(
    ("mode", "observed"), [(AcceptMode.OFF, False), (AcceptMode.OBSERVE, True)]
)
def test_nothing_is_accepted_unless_the_mode_says_so(mode, observed):
    decision = decide(accept(), case(accept=mode))
    assert decision.outcome is Outcome.IGNORE
    assert decision.mandate is None
    assert decision.observed is observed
    assert "would have accepted" in decision.reason


@pytest.mark.rule("EVL-10")
def test_triggers_that_a_judgement_does_not_name_are_not_decided():
    decision = decide(accept(), case(ADMITTED, ADMITTED))
    assert decision.triggers == (trigger(1).id,)


def test_what_the_gate_refused_is_decided_with_the_rest():
    refused = GateRecord(trigger=TriggerId("x"), verdict=REFUSED)
    decision = decide(accept(), case(), (refused,))
    assert decision.triggers == ("x", trigger(1).id)
    assert refused in decision.gate


@pytest.mark.field("A2")
def test_a_batch_that_the_gate_refuses_is_ignored_with_the_reasons():
    records = (GateRecord(trigger=TriggerId("x"), verdict=REFUSED),)
    decision = refusal(HOME, records, eval_id=EVAL, policy=policy(), now=NOW)
    assert decision.outcome is Outcome.IGNORE
    assert decision.decided_by is DecidedBy.GATE
    assert "not_on_list" in decision.reason


# -- the rules assessor ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "on", "outcome", "rules"),
    [
        ("a rule without words covers every request", case(), Outcome.ACCEPT, ("small-fixes",)),
        ("no rule, no accept", case(rules=()), Outcome.IGNORE, ()),
        (
            "a rule's words must be in the request",
            case(rules=(rule(words=("deploy",)),)),
            Outcome.IGNORE,
            (),
        ),
        (
            "words match whatever their case",
            case(rules=(rule(words=("FIX",)),)),
            Outcome.ACCEPT,
            ("small-fixes",),
        ),
        (
            "the first rule that covers it counts",
            case(rules=(rule("one", words=("deploy",)), rule("two"), rule("three"))),
            Outcome.ACCEPT,
            ("two",),
        ),
        (
            "a rule may speak of some kinds only",
            case(rules=(rule(kinds=("issues",)),)),
            Outcome.IGNORE,
            (),
        ),
        ("an inferred candidate needs a rule for it", case(INFERRED), Outcome.IGNORE, ()),
        (
            "an inferred candidate is taken under such a rule",
            case(INFERRED, rules=(rule(inferred=True),)),
            Outcome.ACCEPT,
            ("small-fixes",),
        ),
    ],
)
def test_the_rules_say(sentence, on, outcome, rules):
    judgement = judge_by_rules(on)
    assert (judgement.outcome, judgement.rules) == (outcome, rules), sentence
    assert decide(judgement, on).outcome is outcome


@pytest.mark.rule("EVL-7")
def test_a_candidate_that_a_live_ticket_has_already_is_ignored():
    on = case(INFERRED, rules=(rule(inferred=True),), subscriptions=(LIVE,))
    assert judge_by_rules(on).outcome is Outcome.IGNORE


@pytest.mark.rule("EVL-4")
def test_the_same_case_always_comes_to_the_same():
    on = case(ADMITTED, ADMITTED)
    first = asyncio.run(RulesAssessor().assess(on))
    assert asyncio.run(RulesAssessor().assess(on)) == first
    assert first.rules == (RuleId("small-fixes"),)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("fix it\nplease", "fix it"),
        ("\n\n  fix it  ", "fix it"),
        ("@remit-bot please fix it", "please fix it"),
        ("@remit-bot, @ann: fix it", "fix it"),
        ("@remit-bot\nfix it", "fix it"),
        ("mail ann@example.com", "mail ann@example.com"),
        ("@remit-bot，请修复", "请修复"),
        ("@remit-bot", "A typo"),
        ("", "A typo"),
        ("x" * 100, "x" * 79 + "…"),
    ],
)
@pytest.mark.field("B6")
def test_a_ticket_is_named_after_the_first_line(text, title):
    assert title_of(trigger(1, text=text)) == title
