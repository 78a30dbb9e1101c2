"""Tickets: units of authorised work (TKT-1..6, ASG-1..7, ATT-1..2, INP-1).

A decider like the Thread. A Ticket keeps its own state; an Executor's never becomes it (TKT-4).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from functools import reduce
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from remit.domain.assignment import Assignment, AssignmentEnd, AssignmentState
from remit.domain.attention import Attention
from remit.domain.channel import (
    Address,
    ChannelWrite,
    PullRequest,
    Receipt,
    WriteKind,
    WriteOutcome,
)
from remit.domain.gate import Verdict
from remit.domain.ids import (
    AssignmentId,
    DecisionId,
    HostName,
    ThreadKey,
    TicketId,
    assignment_id_for,
    write_id_for,
)
from remit.domain.inputs import InputKind, InputRef
from remit.domain.language import Language, language_of
from remit.domain.mandate import Mandate
from remit.domain.model import Model
from remit.domain.phrases import acknowledgement, question
from remit.domain.positions import Positions
from remit.domain.report import STUCK, TOLD, Report, ReportKind
from remit.domain.subscription import Standing, SubscriptionKind
from remit.domain.trigger import Actor, Trigger, TriggerRef

M = TypeVar("M", bound=Model)

RECENT = 16
"""How many delivered Inputs, writes and receipts a Ticket keeps in sight."""


# -- state ----------------------------------------------------------------------------------


class TicketStatus(StrEnum):
    """open → ended, and back to open when a person resumes it (TKT-3)."""

    OPEN = "open"
    ENDED = "ended"


class Stage(StrEnum):
    """Where an open Ticket stands (TKT-5)."""

    DELIVERING = "delivering"
    AWAITING_ANSWER = "awaiting_answer"
    AWAITING_REVIEW = "awaiting_review"
    STUCK = "stuck"
    QUEUED = "queued"
    IDLE = "idle"
    WORKING = "working"


class TicketThread(Model):
    """A Thread that the Ticket is on, and how it came there."""

    key: ThreadKey
    kind: SubscriptionKind


class PendingWrite(Model):
    """A Channel write that no receipt answered yet.

    Attributes:
        write: Its number.
        kind: What it is.
        ends: The Ticket ends once a Channel took it: it carries the final report.
    """

    number: int
    kind: WriteKind
    ends: bool = False


class Settled(Model):
    """A Channel write and its receipt."""

    number: int
    kind: WriteKind
    receipt: Receipt


class Ticket(Model):
    """A Ticket as its last commit left it.

    Attributes:
        id: Its id, derived from the Trigger that asked.
        mandate: What it may do, unchanged for ever (MAN-2).
        decision: The Decision that opened it (TKT-1, TKT-2).
        title: A short name for the work.
        language: The language that people are answered in (TON-4).
        threads: Its Threads; the first is where it started.
        channels: Where it answers; the first is the closest to the request.
        status: Open or ended.
        stopped: A person stopped it: the Mandate is withdrawn, it never reopens (TKT-3).
        taken: The positions of the Triggers it took as Inputs.
        inputs: How many Inputs it ever had.
        delivered: Every Input up to this number reached the Executor (INP-1).
        waiting: The Inputs past that, in order.
        assignment: The current Assignment, or the last one.
        report: The latest Report.
        heard_person: A person wrote since the latest Report.
        attention: The open question.
        writes: How many Channel writes it ever asked for.
        unsettled: The writes that no receipt answered yet.
        settled: The last ones that were answered.
        turns: How often its standing changed; its Threads ignore older news.
        trace: The trace of the Trigger that asked; the Ticket's work goes on it.
    """

    id: TicketId
    mandate: Mandate
    decision: DecisionId
    title: str
    language: Language
    threads: tuple[TicketThread, ...]
    channels: tuple[Address, ...]
    status: TicketStatus = TicketStatus.OPEN
    stopped: bool = False
    taken: Positions = Positions()
    inputs: int = 0
    delivered: int = 0
    waiting: tuple[InputRef, ...] = ()
    assignment: Assignment | None = None
    report: Report | None = None
    heard_person: bool = False
    attention: Attention | None = None
    writes: int = 0
    unsettled: tuple[PendingWrite, ...] = ()
    settled: tuple[Settled, ...] = ()
    turns: int = 0
    trace: str | None = None

    @property
    def home(self) -> ThreadKey:
        """The Thread it started on."""
        return self.threads[0].key

    @property
    def standing(self) -> Standing:
        """What its Threads are to know of it."""
        if self.stopped:
            return Standing.STOPPED
        return Standing.LIVE if self.status is TicketStatus.OPEN else Standing.ENDED

    @property
    def stage(self) -> Stage | None:
        """The first stage that matches (TKT-5); None once the Ticket ended."""
        if self.status is TicketStatus.ENDED:
            return None
        assigned = self.assignment.state if self.assignment else AssignmentState.PENDING
        report = self.report.kind if self.report else None
        if self.waiting and assigned is AssignmentState.RUNNING:
            return Stage.DELIVERING
        if self.attention is not None:
            return Stage.AWAITING_ANSWER
        if report is ReportKind.READY and not self.heard_person:
            return Stage.AWAITING_REVIEW
        if report in STUCK and not self.heard_person:
            return Stage.STUCK
        if assigned is AssignmentState.PENDING:
            return Stage.QUEUED
        if report is ReportKind.WAITING or assigned is AssignmentState.ENDED:
            return Stage.IDLE
        return Stage.WORKING

    def is_assigned_to(self, assignment: AssignmentId, host: HostName | None = None) -> bool:
        """Say whether ``assignment`` is the current one and runs, on ``host`` if given."""
        current = self.assignment
        return (
            current is not None
            and current.id == assignment
            and current.state is AssignmentState.RUNNING
            and (host is None or current.host == host)
        )


# -- commands -------------------------------------------------------------------------------


class OpenTicket(Model):
    """An Eval accepted: open the Ticket (TKT-1). Sent by the Thread that recorded the Decision.

    Attributes:
        mandate: What it may do.
        decision: The Decision.
        title: A short name for the work.
        request: The Trigger that asked, whole: the first Input.
        ref: Its reference.
        verdict: What the gate said of it.
    """

    command: Literal["open_ticket"] = "open_ticket"
    mandate: Mandate
    decision: DecisionId
    title: str
    request: Trigger
    ref: TriggerRef
    verdict: Verdict | None = None


class DeliverTrigger(Model):
    """Take a Trigger that fanned out to this Ticket.

    Attributes:
        trigger: The Trigger, whole.
        ref: Its reference.
        verdict: What the gate says of its actor.
        may_resume: The Policy lets this actor resume an ended Ticket from there (SUB-5).
        several: Its home Thread waits for the answers of several Tickets.
        known: What the history says, where the Ticket itself no longer remembers.
    """

    command: Literal["deliver_trigger"] = "deliver_trigger"
    trigger: Trigger
    ref: TriggerRef
    verdict: Verdict
    may_resume: bool = False
    several: bool = False
    known: bool | None = None


class TakeAssignment(Model):
    """An Executor instance takes the pending Assignment, or one whose host was lost (ASG-7).

    Attributes:
        assignment: The Assignment that was offered; where another instance had taken it, that one
            counts as lost.
        host: The instance.
    """

    command: Literal["take_assignment"] = "take_assignment"
    assignment: AssignmentId
    host: HostName


class FromExecutor(Model):
    """What an Executor instance says for its Assignment.

    Attributes:
        assignment: The Assignment it speaks for.
        message: Its number, from 1 without gaps; each is taken once, in order.
    """

    assignment: AssignmentId
    message: int


class TakeInput(FromExecutor):
    """The agent has read every Input up to ``number``."""

    command: Literal["take_input"] = "take_input"
    number: int


class GiveReport(FromExecutor):
    """The agent, or its host, reports."""

    command: Literal["give_report"] = "give_report"
    kind: ReportKind
    text: str
    final: bool = False


class AskPerson(FromExecutor):
    """The agent asks a person, in a structured field (ATT-1)."""

    command: Literal["ask_person"] = "ask_person"
    question: str
    choices: tuple[str, ...] = ()


class ReplyToPerson(FromExecutor):
    """The agent writes to people while it works, because they can use it now (TON-2)."""

    command: Literal["reply_to_person"] = "reply_to_person"
    text: str


class ProposePullRequest(FromExecutor):
    """The Ticket's branch was pushed: open a pull request for it."""

    command: Literal["propose_pull_request"] = "propose_pull_request"
    pull_request: PullRequest
    body: str


class ConfirmStop(FromExecutor):
    """The agent has stopped."""

    command: Literal["confirm_stop"] = "confirm_stop"


class SettleWrite(Model):
    """A Channel answered a write."""

    command: Literal["settle_write"] = "settle_write"
    receipt: Receipt


class StopTicket(Model):
    """A person stops the Ticket: its Mandate is withdrawn at once (MAN-3).

    Attributes:
        actor: Who.
        reason: What they said.
    """

    command: Literal["stop_ticket"] = "stop_ticket"
    actor: Actor
    reason: str


ExecutorCommand = Annotated[
    TakeAssignment
    | TakeInput
    | GiveReport
    | AskPerson
    | ReplyToPerson
    | ProposePullRequest
    | ConfirmStop,
    Field(discriminator="command"),
]
"""What may arrive as a report; nothing here can create a Ticket or widen one (TKT-1)."""

TicketCommand = Annotated[
    OpenTicket
    | DeliverTrigger
    | SettleWrite
    | StopTicket
    | TakeAssignment
    | TakeInput
    | GiveReport
    | AskPerson
    | ReplyToPerson
    | ProposePullRequest
    | ConfirmStop,
    Field(discriminator="command"),
]


# -- events ---------------------------------------------------------------------------------


class TicketOpened(Model):
    """A Ticket came to be."""

    event: Literal["ticket_opened"] = "ticket_opened"
    ticket: TicketId
    mandate: Mandate
    decision: DecisionId
    title: str
    language: Language
    threads: tuple[TicketThread, ...]
    channels: tuple[Address, ...]
    trace: str | None = None


class TicketResumed(Model):
    """A person's message opened the Ticket again, under the same Mandate (SUB-5)."""

    event: Literal["ticket_resumed"] = "ticket_resumed"


class TicketStopped(Model):
    """A person withdrew the Mandate."""

    event: Literal["ticket_stopped"] = "ticket_stopped"
    actor: Actor
    reason: str


class TicketEnded(Model):
    """The Ticket is done."""

    event: Literal["ticket_ended"] = "ticket_ended"


class InputAdded(Model):
    """The Ticket took an Input.

    Attributes:
        ref: The Input, as the Ticket remembers it.
        position: The Trigger's position, for a fanned-out one.
        settles: The Trigger whose home Thread waits for this Ticket's answer.
    """

    event: Literal["input_added"] = "input_added"
    ref: InputRef
    position: int | None = None
    settles: TriggerRef | None = None


class InputRefused(Model):
    """The Ticket would not have a Trigger: it ended, or was stopped."""

    event: Literal["input_refused"] = "input_refused"
    ref: TriggerRef
    position: int
    home: ThreadKey


class InputDelivered(Model):
    """The Executor's agent has read every Input up to ``number``."""

    event: Literal["input_delivered"] = "input_delivered"
    number: int


class AssignmentOffered(Model):
    """The Ticket wants an Executor instance."""

    event: Literal["assignment_offered"] = "assignment_offered"
    assignment: AssignmentId
    number: int
    at: datetime


class AssignmentStarted(Model):
    """An Executor instance took the Assignment."""

    event: Literal["assignment_started"] = "assignment_started"
    assignment: AssignmentId
    host: HostName
    at: datetime


class AssignmentTakenOver(Model):
    """Another Executor instance goes on where a lost one was (ASG-7): one more Assignment."""

    event: Literal["assignment_taken_over"] = "assignment_taken_over"
    assignment: AssignmentId
    number: int
    offer: AssignmentId
    host: HostName
    at: datetime


class AssignmentEnded(Model):
    """The Assignment is over."""

    event: Literal["assignment_ended"] = "assignment_ended"
    assignment: AssignmentId
    end: AssignmentEnd
    at: datetime


class MessageHeard(Model):
    """A message of the Assignment was taken; a repeat of it changes nothing."""

    event: Literal["message_heard"] = "message_heard"
    message: int


class ReportTaken(Model):
    """A Report counts from now on."""

    event: Literal["report_taken"] = "report_taken"
    report: Report


class ReportRecorded(Model):
    """A message from an Assignment that is no longer the Ticket's; it changes nothing (ASG-6)."""

    event: Literal["report_recorded"] = "report_recorded"
    assignment: AssignmentId
    message: int
    command: str


class AttentionOpened(Model):
    """A question waits for a person."""

    event: Literal["attention_opened"] = "attention_opened"
    attention: Attention


class AttentionClosed(Model):
    """The Assignment has the answer (field report C14), or the question was dropped."""

    event: Literal["attention_closed"] = "attention_closed"


class WriteRequested(Model):
    """The Ticket wants something written."""

    event: Literal["write_requested"] = "write_requested"
    number: int
    write: ChannelWrite
    ends: bool = False


class WriteSettled(Model):
    """A Channel answered."""

    event: Literal["write_settled"] = "write_settled"
    number: int
    kind: WriteKind
    receipt: Receipt


class ThreadJoined(Model):
    """The Ticket is on one more Thread, such as its pull request's."""

    event: Literal["thread_joined"] = "thread_joined"
    thread: TicketThread
    channel: Address | None = None
    at: datetime


TicketEvent = Annotated[
    TicketOpened
    | TicketResumed
    | TicketStopped
    | TicketEnded
    | InputAdded
    | InputRefused
    | InputDelivered
    | AssignmentOffered
    | AssignmentStarted
    | AssignmentTakenOver
    | AssignmentEnded
    | MessageHeard
    | ReportTaken
    | ReportRecorded
    | AttentionOpened
    | AttentionClosed
    | WriteRequested
    | WriteSettled
    | ThreadJoined,
    Field(discriminator="event"),
]


# -- refusals -------------------------------------------------------------------------------


class TicketRefusal(Exception):
    """A command that a Ticket will not carry out.

    Attributes:
        ticket: The Ticket.
    """

    def __init__(self, ticket: TicketId, message: str) -> None:
        super().__init__(f"{ticket}: {message}")
        self.ticket = ticket


class TicketUnknown(TicketRefusal):
    """Only an Eval's accept creates a Ticket (TKT-1), and none created this one."""

    def __init__(self, ticket: TicketId, command: str) -> None:
        super().__init__(ticket, f"there is no such Ticket, so it cannot take {command}")


class TicketHistoryNeeded(TicketRefusal):
    """Only the Ticket's history can tell whether it took this Trigger.

    Attributes:
        ref: The Trigger.
    """

    def __init__(self, ticket: TicketId, ref: TriggerRef) -> None:
        super().__init__(ticket, f"no longer remembers whether it took {ref.id}")
        self.ref = ref


class MessageTooEarly(TicketRefusal):
    """An earlier message of the Assignment is still under way; this one waits for it.

    Attributes:
        message: Its number.
        heard: The last one that was taken.
    """

    def __init__(self, ticket: TicketId, message: int, heard: int) -> None:
        super().__init__(ticket, f"message {message} came before message {heard + 1}")
        self.message = message
        self.heard = heard


# -- decide ---------------------------------------------------------------------------------


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
    if accepted and pending.ends and ticket.status is TicketStatus.OPEN:
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


# -- evolve ---------------------------------------------------------------------------------


def evolve(ticket: Ticket | None, event: TicketEvent) -> Ticket:
    """Return ``ticket`` after ``event``; only an opening makes one out of nothing (TKT-1)."""
    if isinstance(event, TicketOpened):
        return _opened(event)
    if ticket is None:
        raise TicketUnknown(TicketId("?"), event.event)
    return _evolve(ticket, event)


def evolve_all(ticket: Ticket | None, events: Sequence[TicketEvent]) -> Ticket | None:
    """Return ``ticket`` after all of ``events``."""
    return reduce(evolve, events, ticket)


def _opened(event: TicketOpened) -> Ticket:
    return Ticket(
        id=event.ticket,
        mandate=event.mandate,
        decision=event.decision,
        title=event.title,
        language=event.language,
        threads=event.threads,
        channels=event.channels,
        trace=event.trace,
    )


def _evolve(ticket: Ticket, event: TicketEvent) -> Ticket:
    match event:
        case TicketOpened():
            return _opened(event)
        case TicketResumed():
            return _update(ticket, status=TicketStatus.OPEN, turns=ticket.turns + 1)
        case TicketStopped():
            return _update(ticket, stopped=True, attention=None, turns=ticket.turns + 1)
        case TicketEnded():
            ended_at = ticket.turns + 1
            return _update(ticket, status=TicketStatus.ENDED, attention=None, turns=ended_at)
        case InputAdded(ref=ref, position=position):
            return _update(
                ticket,
                inputs=ref.number,
                waiting=(*ticket.waiting, ref),
                taken=ticket.taken.add(position) if position is not None else ticket.taken,
                heard_person=ticket.heard_person or ref.person,
            )
        case InputRefused(position=position):
            return _update(ticket, taken=ticket.taken.add(position))
        case InputDelivered(number=number):
            waiting = tuple(ref for ref in ticket.waiting if ref.number > number)
            return _update(ticket, delivered=number, waiting=waiting)
        case AssignmentOffered():
            offered = Assignment(
                id=event.assignment, number=event.number, offer=event.assignment, since=event.at
            )
            return _update(ticket, assignment=offered)
        case AssignmentTakenOver():
            successor = Assignment(
                id=event.assignment,
                number=event.number,
                offer=event.offer,
                state=AssignmentState.RUNNING,
                host=event.host,
                since=event.at,
            )
            return _update(ticket, assignment=successor)
        case AssignmentStarted():
            running = {"state": AssignmentState.RUNNING, "host": event.host, "since": event.at}
            return _update(ticket, assignment=_changed(ticket.assignment, running))
        case AssignmentEnded():
            ended = {"state": AssignmentState.ENDED, "end": event.end, "since": event.at}
            return _update(ticket, assignment=_changed(ticket.assignment, ended))
        case MessageHeard(message=message):
            return _update(ticket, assignment=_changed(ticket.assignment, {"heard": message}))
        case ReportTaken(report=report):
            return _update(ticket, report=report, heard_person=False)
        case ReportRecorded():
            return ticket
        case AttentionOpened(attention=attention):
            return _update(ticket, attention=attention)
        case AttentionClosed():
            return _update(ticket, attention=None)
        case WriteRequested(number=number, write=write, ends=ends):
            pending = PendingWrite(number=number, kind=write.kind, ends=ends)
            return _update(ticket, writes=number, unsettled=(*ticket.unsettled, pending))
        case WriteSettled():
            settled = Settled(number=event.number, kind=event.kind, receipt=event.receipt)
            return _update(
                ticket,
                unsettled=tuple(w for w in ticket.unsettled if w.number != event.number),
                settled=(*ticket.settled, settled)[-RECENT:],
            )
        case ThreadJoined(thread=thread):
            return _update(ticket, threads=(*ticket.threads, thread))


def _changed(assignment: Assignment | None, changes: dict[str, object]) -> Assignment | None:
    return assignment.model_copy(update=changes) if assignment else None


def _update(model: M, **changes: object) -> M:
    return model.model_copy(update=changes)
