"""Evals that come to nothing, are overtaken, or answer badly."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from remit.bus.clock import SystemClock
from remit.bus.ports import Done, Later
from remit.coordination import MemoryLeases, MemoryStore
from remit.domain.assessment import AssessmentUnusable, Case, Judgement
from remit.domain.decision import DecidedBy, Outcome
from remit.domain.disposition import DispositionKind
from remit.domain.messages import EvalRequest
from remit.domain.rules_assessor import judge_by_rules
from remit.domain.trigger import Trigger
from remit.eval.run_eval import RunEval
from remit.runtime.wire import message_of
from support.domain import HOME, MALLORY, policy, trigger
from support.driving import work_off
from support.memory_services import MemoryServices


class Model:
    """An assessor that takes long, and answers or fails as it is told."""

    decided_by = DecidedBy.MODEL
    takes_long = True

    def __init__(self, *answers: Judgement | Exception | float) -> None:
        self.answers = list(answers)
        self.cases: list[Case] = []

    async def assess(self, case: Case) -> Judgement:
        self.cases.append(case)
        answer = self.answers.pop(0) if self.answers else judge_by_rules(case)
        if isinstance(answer, float):
            await asyncio.sleep(answer)
            return judge_by_rules(case)
        if isinstance(answer, Exception):
            raise answer
        return answer


def said(outcome: Outcome = Outcome.IGNORE, **fields: object) -> Judgement:
    values = {"outcome": outcome, "triggers": (trigger(1).id,), "reason": "so", **fields}
    return Judgement.model_validate(values)


async def services_with(model: Model) -> MemoryServices:
    services = MemoryServices(model)
    await services.apply()
    return services


@pytest.mark.rule("EVL-1")
@pytest.mark.rule("EVL-2")
async def test_assessment_sees_only_what_the_gate_admits():
    model = Model()
    services = await services_with(model)
    await services.publish(trigger(1, actor=MALLORY), trigger(2))
    await services.settle()
    [case] = model.cases
    assert [c.trigger for c in case.candidates] == [trigger(2)]
    assert case.policy == policy()
    assert case.thread.key == HOME


@pytest.mark.field("A2")
async def test_no_model_is_asked_about_what_the_gate_refuses():
    model = Model()
    services = await services_with(model)
    await services.publish(trigger(1, actor=MALLORY))
    await services.settle()
    assert model.cases == []


@pytest.mark.rule("EVL-8")
@pytest.mark.rule("EVL-5")
@pytest.mark.parametrize(
    "bad",
    [
        AssessmentUnusable("not JSON"),
        said(Outcome.ACCEPT, request=trigger(1).id, rules=("made-up",)),
        said(triggers=("somebody/else",)),
    ],
)
async def test_an_unusable_answer_is_a_failed_try_and_after_three_it_ends_unavailable(bad):
    services = await services_with(Model(bad, bad, bad))
    await services.publish(trigger(1))
    await services.settle()
    [disposition] = await services.dispositions()
    assert disposition.outcome is Outcome.UNAVAILABLE
    assert disposition.kind is DispositionKind.EVALUATED
    assert await services.stored("TICKET") == []


@pytest.mark.rule("EVL-5")
async def test_a_second_try_may_succeed():
    services = await services_with(Model(AssessmentUnusable("empty")))
    await services.publish(trigger(1))
    await services.settle()
    [disposition] = await services.dispositions()
    assert disposition.outcome is Outcome.ACCEPT


class Single:
    """One eval replica, called by hand."""

    def __init__(self, services: MemoryServices, model: Model, store: MemoryStore) -> None:
        self.run = RunEval(
            services.bus,
            services.threads,
            services.policy,
            model,
            MemoryLeases(store),
            limit=timedelta(milliseconds=20),
            clock=SystemClock(),
        )


async def waiting_request(services: MemoryServices, request: Trigger) -> EvalRequest:
    """Let the ticket service ask for an Eval that nobody answers yet."""
    await services.publish(request)
    parts = await services.parts()
    await _work_without_eval(services, parts)
    [asked] = [
        EvalRequest.model_validate_json(d.message.data)
        for d in await services.stored("EVAL")
        if d.message.type == "remit.eval.request"
    ]
    return asked


async def _work_without_eval(services: MemoryServices, parts: list) -> None:
    await work_off(services.bus, *(part for part in parts if part.name != "eval-run"))


async def test_an_assessment_that_takes_too_long_is_a_failed_try():
    model = Model(5.0)
    services = await services_with(model)
    asked = await waiting_request(services, trigger(1))
    replica = Single(services, model, MemoryStore())
    delivery = (await services.stored("EVAL"))[0]
    assert await replica.run(delivery) == Done()
    result = (await services.stored("EVAL"))[-1]
    assert b"no judgement within" in result.message.data
    assert asked.eval_id.encode() in result.message.data


@pytest.mark.rule("THR-2")
async def test_a_thread_that_another_replica_is_assessing_is_left_for_later():
    model = Model()
    services = await services_with(model)
    asked = await waiting_request(services, trigger(1))
    store = MemoryStore()
    replica = Single(services, model, store)
    delivery = (await services.stored("EVAL"))[0]
    async with MemoryLeases(store).hold(f"eval:{asked.thread}", ttl=timedelta(seconds=5)):
        assert isinstance(await replica.run(delivery), Later)
    assert model.cases == []


@pytest.mark.rule("EVL-4")
async def test_an_eval_that_is_run_twice_proposes_the_same_once():
    model = Model()
    services = await services_with(model)
    await waiting_request(services, trigger(1))
    replica = Single(services, model, MemoryStore())
    delivery = (await services.stored("EVAL"))[0]
    assert await replica.run(delivery) == await replica.run(delivery) == Done()
    results = [d for d in await services.stored("EVAL") if d.message.type == "remit.eval.result"]
    assert len(results) == 1


async def test_a_request_that_was_overtaken_is_let_go():
    model = Model()
    services = await services_with(model)
    await services.publish(trigger(1))
    await services.settle()
    stale = EvalRequest(thread=HOME, eval_id=f"{HOME}/eval/1", batch=())
    await services.bus.publish(message_of(stale, id="again", source="test"))
    model.cases.clear()
    await services.settle()
    assert model.cases == []
    assert len(await services.dispositions()) == 1
