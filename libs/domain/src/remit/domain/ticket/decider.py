"""What a command to a Ticket leads to."""

from __future__ import annotations

from datetime import datetime

from remit.domain.assignment import AssignmentEnd, AssignmentState
from remit.domain.attention import Attention
from remit.domain.channel import (
    ChannelWrite,
    PullRequest,
    Receipt,
    WriteKind,
    WriteOutcome,
)
from remit.domain.ids import (
    TicketId,
    assignment_id_for,
    write_id_for,
)
from remit.domain.inputs import InputKind, InputRef
from remit.domain.language import language_of
from remit.domain.phrases import acknowledgement, question
from remit.domain.report import STUCK, TOLD, Report
from remit.domain.subscription import SubscriptionKind
from remit.domain.ticket.commands import (
    AskPerson,
    ConfirmStop,
    DeliverTrigger,
    GiveReport,
    OpenTicket,
    ProposePullRequest,
    ReplyToPerson,
    SettleWrite,
    StopTicket,
    TakeAssignment,
    TakeInput,
    TicketCommand,
)
from remit.domain.ticket.events import (
    AssignmentEnded,
    AssignmentOffered,
    AssignmentStarted,
    AssignmentTakenOver,
    AttentionClosed,
    AttentionOpened,
    InputAdded,
    InputDelivered,
    InputRefused,
    MessageHeard,
    ReportRecorded,
    ReportTaken,
    ThreadJoined,
    TicketEnded,
    TicketEvent,
    TicketOpened,
    TicketResumed,
    TicketStopped,
    WriteRequested,
    WriteSettled,
)
from remit.domain.ticket.evolution import _opened
from remit.domain.ticket.refusals import MessageTooEarly, TicketHistoryNeeded
from remit.domain.ticket.state import Ticket, TicketStatus, TicketThread
from remit.domain.trigger import Trigger, TriggerRef


def open_ticket(ticket: TicketId, command: OpenTicket, now: datetime) -> list[TicketEvent]:
    """Return what opening a Ticket leads to."""
    request = command.request
    threads = tuple(
        TicketThread(
            key=key,
            kind=SubscriptionKind.ORIGIN if index == 0 else SubscriptionKind.SOURCE,
        )
        for index, key in enumerate(request.threads)
    )
    opened = TicketOpened(
        ticket=ticket,
        mandate=command.mandate,
        decision=command.decision,
        title=command.title,
        language=language_of(request.text or request.title or ""),
        threads=threads,
        channels=request.channels,
        trace=command.ref.trace,
    )
    state = _opened(opened)
    events: list[TicketEvent] = [opened]
    if state.channels:
        body = acknowledgement(state.title, state.language)
        events.append(_write(state, WriteKind.ACKNOWLEDGE, body, now))
    events.append(
        _input(
            state,
            InputKind.TRIGGER,
            now,
            trigger=request,
            position=command.ref.position,
        )
    )
    events.append(_offer(state, now))
    return events


def decide(ticket: Ticket, command: TicketCommand, now: datetime) -> list[TicketEvent]:
    """Return what ``command`` leads to; nothing where it changes nothing.

    Raises:
        TicketHistoryNeeded: The Ticket cannot tell whether it has a Trigger already.
        MessageTooEarly: An Executor's earlier message has not come yet.
    """
    match command:
        case OpenTicket():
            return []
        case DeliverTrigger():
            return _deliver(ticket, command, now)
        case TakeAssignment():
            return _take_assignment(ticket, command, now)
        case SettleWrite():
            return _settle_write(ticket, command.receipt, now)
        case StopTicket():
            return _stop(ticket, command, now)
        case _:
            return _hear(ticket, command, now)


def _deliver(ticket: Ticket, command: DeliverTrigger, now: datetime) -> list[TicketEvent]:
    held = ticket.taken.holds(command.ref.position)
    if held is None:
        held = command.known
    if held is None:
        raise TicketHistoryNeeded(ticket.id, command.ref)
    if held:
        return []
    trigger = command.trigger
    resumes = ticket.status is TicketStatus.ENDED
    if ticket.stopped or (resumes and not command.may_resume):
        return [InputRefused(ref=command.ref, position=command.ref.position, home=trigger.home)]
    added = _input(
        ticket,
        InputKind.TRIGGER,
        now,
        trigger=trigger,
        position=command.ref.position,
        settles=command.ref if command.several else None,
    )
    if resumes:
        return [TicketResumed(), added, _offer(ticket, now)]
    if ticket.assignment is not None and ticket.assignment.state is AssignmentState.ENDED:
        # It came after the final report: the work goes on, whatever becomes of that report.
        return [added, _offer(ticket, now)]
    return [added]


def _take_assignment(ticket: Ticket, command: TakeAssignment, now: datetime) -> list[TicketEvent]:
    current = ticket.assignment
    if current is None or current.offer != command.assignment:
        return []
    if ticket.status is TicketStatus.ENDED or ticket.stopped:
        return []
    match current.state:
        case AssignmentState.PENDING:
            return [AssignmentStarted(assignment=current.id, host=command.host, at=now)]
        case AssignmentState.RUNNING if current.host != command.host:
            # The offer came up again, so its host fell silent; the newcomer goes on (ASG-7).
            number = current.number + 1
            return [
                AssignmentEnded(assignment=current.id, end=AssignmentEnd.HOST_LOST, at=now),
                AssignmentTakenOver(
                    assignment=assignment_id_for(ticket.id, number),
                    number=number,
                    offer=current.offer,
                    host=command.host,
                    at=now,
                ),
            ]
        case _:
            return []


def _hear(
    ticket: Ticket,
    command: TakeInput | GiveReport | AskPerson | ReplyToPerson | ProposePullRequest | ConfirmStop,
    now: datetime,
) -> list[TicketEvent]:
    if not ticket.is_assigned_to(command.assignment) or ticket.assignment is None:
        return [
            ReportRecorded(
                assignment=command.assignment, message=command.message, command=command.command
            )
        ]
    heard = ticket.assignment.heard
    if command.message <= heard:
        return []
    if command.message > heard + 1:
        raise MessageTooEarly(ticket.id, command.message, heard)
    return [MessageHeard(message=command.message), *_heard(ticket, command, now)]


def _heard(
    ticket: Ticket,
    command: TakeInput | GiveReport | AskPerson | ReplyToPerson | ProposePullRequest | ConfirmStop,
    now: datetime,
) -> list[TicketEvent]:
    match command:
        case TakeInput(number=number):
            return _delivered(ticket, min(number, ticket.inputs))
        case GiveReport():
            return _report(ticket, command, now)
        case AskPerson():
            return _ask(ticket, command, now)
        case ReplyToPerson(text=text):
            return [_write(ticket, WriteKind.REPLY, text, now)] if ticket.channels else []
        case ProposePullRequest():
            write = _write(
                ticket,
                WriteKind.PULL_REQUEST,
                command.body,
                now,
                pull_request=command.pull_request,
            )
            return [write] if ticket.channels else []
        case ConfirmStop(assignment=assignment):
            ended = AssignmentEnded(assignment=assignment, end=AssignmentEnd.STOPPED, at=now)
            return [ended, TicketEnded()] if ticket.stopped else []


def _delivered(ticket: Ticket, number: int) -> list[TicketEvent]:
    if number <= ticket.delivered:
        return []
    events: list[TicketEvent] = [InputDelivered(number=number)]
    attention = ticket.attention
    if attention is not None and any(
        ref.person and attention.after < ref.number <= number for ref in ticket.waiting
    ):
        events.append(AttentionClosed())
    return events


def _report(ticket: Ticket, command: GiveReport, now: datetime) -> list[TicketEvent]:
    report = Report(
        assignment=command.assignment,
        kind=command.kind,
        text=command.text,
        final=command.final,
        at=now,
    )
    events: list[TicketEvent] = [ReportTaken(report=report)]
    if ticket.channels and (command.kind in TOLD or command.final) and not _told(ticket, command):
        events.append(_write(ticket, WriteKind.REPLY, command.text, now, ends=command.final))
    if command.final:
        events.append(
            AssignmentEnded(assignment=command.assignment, end=AssignmentEnd.REPORTED, at=now)
        )
    return events


def _told(ticket: Ticket, command: GiveReport) -> bool:
    """Whether a person already knows: the same trouble is told once, until they write again."""
    latest = ticket.report
    return (
        latest is not None
        and not command.final
        and not ticket.heard_person
        and command.kind in STUCK
        and latest.kind in STUCK
    )


def _ask(ticket: Ticket, command: AskPerson, now: datetime) -> list[TicketEvent]:
    """One open question at a time: a second one replaces the first (ATT-1)."""
    attention = Attention(
        question=command.question,
        choices=command.choices,
        after=ticket.inputs,
        asked_at=now,
    )
    events: list[TicketEvent] = []
    if ticket.attention is not None:
        events.append(AttentionClosed())
    events.append(AttentionOpened(attention=attention))
    if ticket.channels:
        text = question(command.question, command.choices, ticket.language)
        events.append(_write(ticket, WriteKind.REPLY, text, now))
    return events


def _settle_write(ticket: Ticket, receipt: Receipt, now: datetime) -> list[TicketEvent]:
    pending = next(
        (
            write
            for write in ticket.unsettled
            if write_id_for(ticket.id, write.number) == receipt.write
        ),
        None,
    )
    if pending is None:
        return []
    events: list[TicketEvent] = [
        WriteSettled(number=pending.number, kind=pending.kind, receipt=receipt)
    ]
    accepted = receipt.outcome is WriteOutcome.ACCEPTED
    joined = {thread.key for thread in ticket.threads}
    if accepted and receipt.thread is not None and receipt.thread not in joined:
        thread = TicketThread(key=receipt.thread, kind=SubscriptionKind.SOURCE)
        events.append(ThreadJoined(thread=thread, at=now))
    assignment = ticket.assignment
    over = assignment is not None and assignment.state is AssignmentState.ENDED
    if pending.ends and over and ticket.status is TicketStatus.OPEN:
        if ticket.waiting:
            # Nobody read these before the final report; the work goes on.
            events.append(_offer(ticket, now))
        elif accepted:
            events.append(TicketEnded())
    return events


def _stop(ticket: Ticket, command: StopTicket, now: datetime) -> list[TicketEvent]:
    if ticket.stopped:
        return []
    events: list[TicketEvent] = [TicketStopped(actor=command.actor, reason=command.reason)]
    current = ticket.assignment
    running = current is not None and current.state is AssignmentState.RUNNING
    if running:
        events.append(_input(ticket, InputKind.STOP, now))
    elif ticket.status is TicketStatus.OPEN:
        if current is not None and current.state is AssignmentState.PENDING:
            events.append(AssignmentEnded(assignment=current.id, end=AssignmentEnd.STOPPED, at=now))
        events.append(TicketEnded())
    return events


def _input(
    ticket: Ticket,
    kind: InputKind,
    now: datetime,
    *,
    trigger: Trigger | None = None,
    position: int | None = None,
    settles: TriggerRef | None = None,
) -> InputAdded:
    number = ticket.inputs + 1
    return InputAdded(
        ref=InputRef(
            number=number,
            kind=kind,
            person=trigger is not None and trigger.from_person,
            trigger=trigger.id if trigger else None,
            at=now,
        ),
        position=position,
        settles=settles,
    )


def _offer(ticket: Ticket, now: datetime) -> AssignmentOffered:
    number = ticket.assignment.number + 1 if ticket.assignment else 1
    return AssignmentOffered(assignment=assignment_id_for(ticket.id, number), number=number, at=now)


def _write(
    ticket: Ticket,
    kind: WriteKind,
    body: str,
    now: datetime,
    *,
    ends: bool = False,
    pull_request: PullRequest | None = None,
) -> WriteRequested:
    number = ticket.writes + 1
    return WriteRequested(
        number=number,
        ends=ends,
        write=ChannelWrite(
            id=write_id_for(ticket.id, number),
            ticket=ticket.id,
            address=ticket.channels[0],
            kind=kind,
            body=body,
            requested_at=now,
            pull_request=pull_request,
        ),
    )
