"""Take what Evals propose: the Thread records it only if it still holds (THR-2, POL-5)."""

from __future__ import annotations

from pydantic import TypeAdapter

from remit.bus.errors import Contended
from remit.bus.message import Delivery
from remit.bus.ports import Done, Later, Never, Outcome, Reader
from remit.domain.decision import Decision
from remit.domain.messages import EvalFailure, EvalProposal, EvalResult
from remit.domain.thread import EndEval, RecordDecision, Thread
from remit.domain.trigger import Trigger, TriggerRef
from remit.runtime.policy_watch import PolicyWatch
from remit.runtime.wire import PayloadUnreadable, read
from remit.telemetry import metrics, names, tracing
from remit.ticket.threads import Threads

_RESULT: TypeAdapter[EvalProposal | EvalFailure] = TypeAdapter(EvalResult)


class TakeEvalResults:
    """Handles the results of Evals.

    Args:
        threads: The Threads.
        bus: Where the Trigger that asks is read again, whole.
        policy: The Policy in force.
        tries: How often an Eval may come to nothing before it ends unavailable (EVL-5).
    """

    def __init__(self, threads: Threads, bus: Reader, policy: PolicyWatch, *, tries: int) -> None:
        self._threads = threads
        self._bus = bus
        self._policy = policy
        self._tries = tries

    async def __call__(self, delivery: Delivery) -> Outcome:
        """Take one result."""
        try:
            result = read(delivery, _RESULT)
        except PayloadUnreadable as error:
            return Never(str(error))
        tracing.annotate({names.THREAD: result.thread})
        command = (
            await self._record(result.proposal)
            if isinstance(result, EvalProposal)
            else self._end(result)
        )
        try:
            await self._threads.ask(result.thread, [command], commit_id=delivery.message.id)
        except Contended as error:
            return Later(str(error))
        if isinstance(command, RecordDecision):
            outcome = command.proposal.outcome
            metrics.counter(names.METRIC_DECISIONS).add(1, {names.DECISION_OUTCOME: outcome})
        return Done()

    async def _record(self, proposal: Decision) -> RecordDecision | EndEval:
        current = self._policy.policy.version
        tracing.annotate({names.DECISION_OUTCOME: proposal.outcome})
        if proposal.request is None:
            return RecordDecision(proposal=proposal, current=current)
        thread = await self._threads.load(proposal.thread)
        ref = _asking(thread, proposal)
        delivery = await self._bus.at("TRIGGER", ref.position) if ref else None
        if ref is None or delivery is None:
            # Overtaken, or kept no longer than the stream's horizon: nothing to rest on.
            reason = "the Trigger that asks is no longer there"
            return EndEval(
                eval_id=proposal.eval_id, tries=self._tries, current=current, reason=reason
            )
        return RecordDecision(
            proposal=proposal, current=current, request=read(delivery, Trigger), ref=ref
        )

    def _end(self, failure: EvalFailure) -> EndEval:
        return EndEval(
            eval_id=failure.eval_id,
            tries=self._tries,
            current=self._policy.policy.version,
            reason=failure.reason,
        )


def _asking(thread: Thread, proposal: Decision) -> TriggerRef | None:
    batch = thread.running.batch if thread.running else ()
    return next((one.ref for one in batch if one.ref.id == proposal.request), None)
