"""What a commit causes: the messages that follow from the events of an aggregate.

Pure like the rest. Each effect has an id that derives from the fact that caused it, so that a
relay that starts again repeats it and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from remit.domain.channel import ChannelWrite
from remit.domain.decision import Decision
from remit.domain.disposition import Disposition, DispositionKind
from remit.domain.gate import Verdict
from remit.domain.ids import ThreadKey, TicketId, TriggerId
from remit.domain.inputs import Input
from remit.domain.messages import EvalRequest, Offer, ToThread, ToTicket
from remit.domain.model import Model
from remit.domain.subscription import Subscription
from remit.domain.thread import (
    AppendTrigger,
    DecisionRecorded,
    EvalStarted,
    NoteStanding,
    RecordDecision,
    SettleDelivery,
    SubscribeTicket,
    Thread,
    ThreadEvent,
    TriggerAppended,
)
from remit.domain.ticket import (
    AssignmentOffered,
    DeliverTrigger,
    InputAdded,
    InputRefused,
    OpenTicket,
    StopTicket,
    ThreadJoined,
    Ticket,
    TicketEnded,
    TicketEvent,
    TicketOpened,
    TicketResumed,
    TicketStopped,
    TicketThread,
    WriteRequested,
)
from remit.domain.trigger import Trigger, TriggerRef

Payload = EvalRequest | Offer | ToThread | ToTicket | Input | ChannelWrite | Disposition


class Effect(Model):
    """One message that a commit causes.

    Attributes:
        id: The same over all tries.
        payload: What it says.
        trace: The trace it goes on; None takes that of whoever commits.
    """

    id: str
    payload: Payload
    trace: str | None = None


# -- Threads --------------------------------------------------------------------------------


def of_thread(before: Thread, command: Model, events: Sequence[ThreadEvent]) -> list[Effect]:
    """Return what the events of a Thread cause.

    Args:
        before: The Thread before them.
        command: What led to them; it holds what the Thread's own history does not repeat.
        events: What happened.
    """
    return [effect for event in events for effect in _of_thread_event(before, command, event)]


def _of_thread_event(before: Thread, command: Model, event: ThreadEvent) -> Iterator[Effect]:
    match event:
        case TriggerAppended() if isinstance(command, AppendTrigger):
            yield from _deliveries(command, event)
        case EvalStarted():
            refs = tuple(pending.ref for pending in event.batch)
            yield Effect(
                id=f"{event.eval_id}/request",
                payload=EvalRequest(thread=before.key, eval_id=event.eval_id, batch=refs),
                trace=refs[0].trace if len(refs) == 1 else None,
            )
        case DecisionRecorded():
            yield from _of_decision(before, command, event)
        case _:
            return


def _deliveries(command: AppendTrigger, event: TriggerAppended) -> Iterator[Effect]:
    for ticket in event.reached:
        yield Effect(
            id=f"{event.ref.id}/deliver/{ticket}",
            payload=ToTicket(
                ticket=ticket,
                ask=DeliverTrigger(
                    trigger=command.trigger,
                    ref=command.ref,
                    verdict=command.verdict,
                    may_resume=command.may_resume,
                    several=event.ref.person and len(event.reached) > 1,
                ),
            ),
            trace=event.ref.trace,
        )


def _of_decision(before: Thread, command: Model, event: DecisionRecorded) -> Iterator[Effect]:
    decision = event.decision
    batch = before.running.batch if before.running else ()
    refs = {pending.ref.id: pending.ref for pending in batch}
    for trigger in decision.triggers:
        ref = refs.get(trigger)
        yield _disposition_of(decision, trigger, ref, event.ticket)
    if (
        event.ticket is not None
        and isinstance(command, RecordDecision)
        and command.request is not None
        and command.ref is not None
        and decision.mandate is not None
    ):
        yield Effect(
            id=f"{event.ticket}/open",
            payload=ToTicket(
                ticket=event.ticket,
                ask=OpenTicket(
                    mandate=decision.mandate,
                    decision=decision.id,
                    title=decision.title or decision.mandate.scope,
                    request=command.request,
                    ref=command.ref,
                    verdict=next(
                        (g.verdict for g in decision.gate if g.trigger == command.request.id), None
                    ),
                ),
            ),
            trace=command.ref.trace,
        )
    for ticket in decision.stops:
        asked_by = command.request if isinstance(command, RecordDecision) else None
        if asked_by is not None:
            yield Effect(
                id=f"{decision.id}/stop/{ticket}",
                payload=ToTicket(
                    ticket=ticket, ask=StopTicket(actor=asked_by.actor, reason=decision.reason)
                ),
                trace=refs[asked_by.id].trace if asked_by.id in refs else None,
            )


def _disposition_of(
    decision: Decision, trigger: TriggerId, ref: TriggerRef | None, ticket: TicketId | None
) -> Effect:
    verdict = next((g.verdict for g in decision.gate if g.trigger == trigger), None)
    refused = verdict is not None and not verdict.admitted
    kind = DispositionKind.FILTERED if refused else DispositionKind.EVALUATED
    opened = ticket if decision.mandate and decision.mandate.trigger == trigger else None
    return Effect(
        id=f"{trigger}/{kind}/{decision.id}",
        payload=Disposition(
            trigger=trigger,
            thread=decision.thread,
            kind=kind,
            reason=verdict.reason if verdict and refused else decision.reason,
            decision=decision.id,
            outcome=decision.outcome,
            rules=decision.rules,
            policy_version=decision.policy_version,
            tickets=(opened,) if opened else decision.stops,
            at=decision.decided_at,
        ),
        trace=ref.trace if ref else None,
    )


# -- Tickets --------------------------------------------------------------------------------


def of_ticket(after: Ticket, command: Model, events: Sequence[TicketEvent]) -> list[Effect]:
    """Return what the events of a Ticket cause.

    Args:
        after: The Ticket after them.
        command: What led to them; it holds what the Ticket's own history does not repeat.
        events: What happened.
    """
    effects = [effect for event in events for effect in _of_ticket_event(after, command, event)]
    if any(isinstance(event, TicketResumed | TicketStopped | TicketEnded) for event in events):
        effects.extend(_standing_of(after, thread) for thread in after.threads)
    return effects


def _of_ticket_event(after: Ticket, command: Model, event: TicketEvent) -> Iterator[Effect]:
    match event:
        case TicketOpened(threads=threads):
            # The home Thread took its Subscription with the Decision.
            yield from (_subscription_of(after, thread) for thread in threads[1:])
        case ThreadJoined(thread=thread):
            yield _subscription_of(after, thread)
        case InputAdded():
            yield from _of_input(after, command, event)
        case InputRefused(ref=ref, home=home) if ref.person:
            yield _settled(after.id, home, ref, taken=False)
        case AssignmentOffered():
            yield Effect(
                id=f"{event.assignment}/offer",
                payload=Offer(ticket=after.id, assignment=event.assignment, title=after.title),
                trace=after.trace,
            )
        case WriteRequested(write=write):
            yield Effect(id=write.id, payload=write, trace=_trace(after, command))
        case _:
            return


def _of_input(after: Ticket, command: Model, event: InputAdded) -> Iterator[Effect]:
    trigger: Trigger | None = None
    verdict: Verdict | None = None
    text = ""
    match command:
        case OpenTicket():
            trigger, verdict = command.request, command.verdict
        case DeliverTrigger():
            trigger, verdict = command.trigger, command.verdict
        case StopTicket(reason=reason):
            text = reason
        case _:
            pass
    yield Effect(
        id=f"{after.id}/input/{event.ref.number}",
        payload=Input(
            ticket=after.id,
            number=event.ref.number,
            kind=event.ref.kind,
            trigger=trigger,
            verdict=verdict,
            text=text,
            at=event.ref.at,
        ),
        trace=_trace(after, command),
    )
    if isinstance(command, DeliverTrigger):
        yield Effect(
            id=f"{command.trigger.id}/{DispositionKind.FANNED_OUT}/{after.id}",
            payload=Disposition(
                trigger=command.trigger.id,
                thread=command.trigger.home,
                kind=DispositionKind.FANNED_OUT,
                reason=f"reached {after.id}",
                tickets=(after.id,),
                at=event.ref.at,
            ),
            trace=command.ref.trace,
        )
        if event.settles is not None:
            yield _settled(after.id, command.trigger.home, event.settles, taken=True)


def _trace(ticket: Ticket, command: Model) -> str | None:
    """The trace to go on: that of the Trigger in hand, else the one the Ticket started on."""
    return command.ref.trace if isinstance(command, DeliverTrigger | OpenTicket) else ticket.trace


def _settled(ticket: TicketId, home: ThreadKey, ref: TriggerRef, *, taken: bool) -> Effect:
    return Effect(
        id=f"{ref.id}/settle/{ticket}",
        payload=ToThread(thread=home, ask=SettleDelivery(ref=ref, ticket=ticket, taken=taken)),
        trace=ref.trace,
    )


def _standing_of(ticket: Ticket, thread: TicketThread) -> Effect:
    return Effect(
        id=f"{ticket.id}/standing/{ticket.turns}/{thread.key}",
        payload=ToThread(
            thread=thread.key, ask=NoteStanding(subscription=_subscription(ticket, thread))
        ),
        trace=ticket.trace,
    )


def _subscription_of(ticket: Ticket, thread: TicketThread) -> Effect:
    return Effect(
        id=f"{ticket.id}/subscribe/{thread.key}",
        payload=ToThread(
            thread=thread.key, ask=SubscribeTicket(subscription=_subscription(ticket, thread))
        ),
        trace=ticket.trace,
    )


def _subscription(ticket: Ticket, thread: TicketThread) -> Subscription:
    return Subscription(
        ticket=ticket.id,
        kind=thread.kind,
        standing=ticket.standing,
        turn=ticket.turns,
        title=ticket.title,
        scope=ticket.mandate.scope,
        since=ticket.mandate.granted_at,
    )
