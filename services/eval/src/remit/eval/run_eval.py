"""Run Evals: the gate, then, on what it admits, the assessment (EVL-1, EVL-2).

Stateless: everything is read again from the bus, so an Eval that was killed and runs again comes to
the same (EVL-4). What it proposes counts only if the Thread still waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta

from remit.bus.clock import Clock
from remit.bus.commits import CommitLog
from remit.bus.message import Delivery
from remit.bus.ports import Bus, Done, Later, Never, Outcome
from remit.coordination import LeaseHeld, Leases
from remit.domain.assessment import (
    AssessmentUnusable,
    Assessor,
    Candidate,
    Case,
    decision_from,
    refusal,
)
from remit.domain.decision import Decision, GateRecord
from remit.domain.gate import judge
from remit.domain.ids import ThreadKey
from remit.domain.messages import EvalFailure, EvalProposal, EvalRequest
from remit.domain.policy import Policy
from remit.domain.thread import Thread, ThreadEvent
from remit.domain.trigger import Trigger, TriggerRef
from remit.runtime.policy_watch import PolicyWatch
from remit.runtime.wire import PayloadUnreadable, message_of, read
from remit.telemetry import metrics, names, tracing

SOURCE = "eval"
BUSY_AGAIN = timedelta(seconds=1)
"""How long an Eval waits whose Thread another replica is assessing."""


class RunEval:
    """Handles Eval requests.

    Args:
        bus: Where Triggers are read and results published.
        threads: The Threads' commits, read only.
        policy: The Policy in force.
        assessor: Judges what the gate admits.
        leases: Keep two replicas from assessing one Thread together; they only save work.
        limit: How long an assessment may take.
        clock: The time of the Decisions.
    """

    def __init__(
        self,
        bus: Bus,
        threads: CommitLog[Thread, ThreadEvent],
        policy: PolicyWatch,
        assessor: Assessor,
        leases: Leases,
        *,
        limit: timedelta,
        clock: Clock,
    ) -> None:
        self._bus = bus
        self._threads = threads
        self._policy = policy
        self._assessor = assessor
        self._leases = leases
        self._limit = limit
        self._clock = clock

    async def __call__(self, delivery: Delivery) -> Outcome:
        """Run one Eval and publish what it comes to."""
        try:
            request = read(delivery, EvalRequest)
        except PayloadUnreadable as error:
            return Never(str(error))
        started = self._clock.now()
        links = [ref.trace for ref in request.batch] if len(request.batch) > 1 else []
        facts = {names.EVAL_ID: request.eval_id, names.THREAD: request.thread}
        with tracing.span(names.SPAN_EVAL, links=links, attributes=facts):
            try:
                result = await self._run(request)
            except LeaseHeld as busy:
                return Later(str(busy), BUSY_AGAIN)
            if result is None:
                return Done()
            await self._bus.publish(
                message_of(result, id=f"{request.eval_id}/result", source=SOURCE)
            )
        seconds = (self._clock.now() - started).total_seconds()
        metrics.histogram(names.METRIC_EVAL_DURATION).record(seconds)
        return Done()

    async def _run(self, request: EvalRequest) -> EvalProposal | EvalFailure | None:
        thread = await self._thread_that_waits(request)
        if thread is None:
            return None
        triggers = await self._triggers(request.batch)
        policy = self._policy.policy
        if len(triggers) < len(request.batch):
            return self._failure(request, "a Trigger of the batch is no longer in the stream")
        admitted, refused = gate(triggers, policy)
        if not admitted:
            decision = refusal(
                thread.key,
                refused,
                eval_id=request.eval_id,
                policy=policy,
                now=self._clock.now(),
            )
            return EvalProposal(thread=thread.key, proposal=decision)
        case = Case(
            candidates=admitted,
            thread=thread,
            correlated=await self._correlated(thread),
            policy=policy,
        )
        try:
            decision = await self._assess(case, request, refused)
        except AssessmentUnusable as error:
            return self._failure(request, error.reason)
        except TimeoutError:
            seconds = self._limit.total_seconds()
            return self._failure(request, f"no judgement within {seconds:g} s")
        return EvalProposal(thread=thread.key, proposal=decision)

    async def _assess(
        self, case: Case, request: EvalRequest, refused: Sequence[GateRecord]
    ) -> Decision:
        if not self._assessor.takes_long:
            return await self._judge(case, request, refused)
        async with self._leases.hold(f"eval:{request.thread}", ttl=self._limit):
            async with asyncio.timeout(self._limit.total_seconds()):
                return await self._judge(case, request, refused)

    async def _judge(
        self, case: Case, request: EvalRequest, refused: Sequence[GateRecord]
    ) -> Decision:
        with tracing.span(names.SPAN_ASSESS):
            judgement = await self._assessor.assess(case)
        return decision_from(
            judgement,
            case,
            eval_id=request.eval_id,
            decided_by=self._assessor.decided_by,
            refused=refused,
            now=self._clock.now(),
        )

    async def _thread_that_waits(self, request: EvalRequest) -> Thread | None:
        """The Thread, if this is the Eval it waits for; else the request was overtaken."""
        for leader in (False, True):
            thread = (await self._threads.load(request.thread, leader=leader)).state
            if thread and thread.running and thread.running.id == request.eval_id:
                return thread
        return None

    async def _triggers(self, batch: Sequence[TriggerRef]) -> list[Trigger]:
        found = await asyncio.gather(*(self._bus.at("TRIGGER", ref.position) for ref in batch))
        return [read(delivery, Trigger) for delivery in found if delivery is not None]

    async def _correlated(self, thread: Thread) -> tuple[Thread, ...]:
        """Threads that share a Trigger with this one, for context only (COR-1)."""
        loaded = await asyncio.gather(*(self._load(key) for key in thread.correlated))
        return tuple(one for one in loaded if one is not None)

    async def _load(self, key: ThreadKey) -> Thread | None:
        return (await self._threads.load(key)).state

    @staticmethod
    def _failure(request: EvalRequest, reason: str) -> EvalFailure:
        return EvalFailure(thread=request.thread, eval_id=request.eval_id, reason=reason)


def gate(
    triggers: Sequence[Trigger], policy: Policy
) -> tuple[tuple[Candidate, ...], tuple[GateRecord, ...]]:
    """Return what the gate admits of a batch, and its records of what it refuses."""
    with tracing.span(names.SPAN_GATE):
        judged = [(trigger, judge(trigger, policy)) for trigger in triggers]
    admitted = tuple(
        Candidate(trigger=trigger, verdict=verdict)
        for trigger, verdict in judged
        if verdict.admitted
    )
    refused = tuple(
        GateRecord(trigger=trigger.id, verdict=verdict)
        for trigger, verdict in judged
        if not verdict.admitted
    )
    return admitted, refused
