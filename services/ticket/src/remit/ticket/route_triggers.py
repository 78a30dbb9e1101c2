"""Route Triggers: append each to its Threads, and let its home Thread send it on.

The Triggers of one Thread that wait together go into one commit, and so before one Eval (THR-3).
"""

from __future__ import annotations

from collections.abc import Sequence

from remit.bus.errors import Contended
from remit.bus.message import Delivery
from remit.bus.ports import Done, Later, Never, Outcome, Publisher
from remit.domain.disposition import Disposition, DispositionKind, FilterReason
from remit.domain.gate import judge, may_resume
from remit.domain.ids import TicketId
from remit.domain.routing import filtered, reached_by
from remit.domain.thread import AppendTrigger
from remit.domain.trigger import Trigger, TriggerRef
from remit.runtime.policy_watch import PolicyWatch
from remit.runtime.wire import PayloadUnreadable, message_of, read, trace_of
from remit.telemetry import names, tracing
from remit.ticket.dispositions import Dispositions
from remit.ticket.threads import SOURCE, Threads


def by_last_token(delivery: Delivery) -> str:
    """Key the work by what it is about: a Thread or a Ticket is the last token of a subject."""
    return delivery.message.subject.rpartition(".")[2]


class RouteTriggers:
    """Handles the Trigger stream.

    Args:
        threads: The Threads.
        bus: Where the Dispositions of what enters no Thread go.
        dispositions: Told of them too.
        policy: Who may do what.
    """

    def __init__(
        self,
        threads: Threads,
        bus: Publisher,
        dispositions: Dispositions,
        policy: PolicyWatch,
    ) -> None:
        self._threads = threads
        self._bus = bus
        self._dispositions = dispositions
        self._policy = policy

    async def __call__(self, deliveries: Sequence[Delivery], /) -> Sequence[Outcome]:
        """Route Triggers that have one home Thread."""
        outcomes: list[Outcome | None] = []
        appends: list[AppendTrigger] = []
        for delivery in deliveries:
            try:
                trigger = read(delivery, Trigger)
            except PayloadUnreadable as error:
                outcomes.append(Never(str(error)))
                continue
            if reason := filtered(trigger, self._policy.policy):
                await self._filter(trigger, reason, trace_of(delivery))
                outcomes.append(Done())
                continue
            appends.append(self._append(trigger, delivery))
            outcomes.append(None)
        if appends:
            settled = await self._take(appends)
            outcomes = [settled if outcome is None else outcome for outcome in outcomes]
        return [outcome or Done() for outcome in outcomes]

    def _append(self, trigger: Trigger, delivery: Delivery) -> AppendTrigger:
        tracing.annotate({names.TRIGGER_ID: trigger.id, names.THREAD: trigger.home})
        policy = self._policy.policy
        return AppendTrigger(
            trigger=trigger,
            ref=TriggerRef.of(trigger, position=delivery.sequence, trace=trace_of(delivery)),
            verdict=judge(trigger, policy),
            may_resume=may_resume(trigger, policy),
        )

    async def _take(self, appends: Sequence[AppendTrigger]) -> Outcome:
        """Append to the other Threads first: what they reach, the home Thread sends on."""
        home = appends[0].trigger.home
        last = appends[-1].ref.position
        try:
            complete = [
                append.model_copy(update={"reach": await self._reach_elsewhere(append)})
                if len(append.trigger.threads) > 1
                else append
                for append in appends
            ]
            await self._threads.ask(home, complete, commit_id=f"route/{last}/{len(appends)}")
        except Contended as error:
            return Later(str(error))
        return Done()

    async def _reach_elsewhere(self, append: AppendTrigger) -> tuple[TicketId, ...]:
        reached: list[TicketId] = []
        for key in append.trigger.threads[1:]:
            thread = await self._threads.ask(
                key, [append], commit_id=f"route/{append.ref.position}/elsewhere"
            )
            reached.extend(reached_by(append.trigger, thread.subscriptions))
        return tuple(dict.fromkeys(reached))

    async def _filter(self, trigger: Trigger, reason: FilterReason, trace: str | None) -> None:
        disposition = Disposition(
            trigger=trigger.id,
            thread=trigger.home,
            kind=DispositionKind.FILTERED,
            reason=reason,
            policy_version=self._policy.policy.version,
            at=trigger.received_at,
        )
        await self._bus.publish(
            message_of(
                disposition,
                id=f"{trigger.id}/{DispositionKind.FILTERED}",
                source=SOURCE,
                trace=trace,
            )
        )
        self._dispositions.settled([(disposition, trace)])
