"""The whole domain in memory, with a network that repeats and reorders: for random histories."""

from __future__ import annotations

from collections import defaultdict

from remit.domain import effects
from remit.domain.assessment import Candidate, Case, decision_from, refusal
from remit.domain.channel import ChannelWrite, Receipt, WriteOutcome
from remit.domain.decision import DecidedBy, Decision, GateRecord
from remit.domain.disposition import Disposition
from remit.domain.effects import Effect
from remit.domain.gate import judge, may_resume
from remit.domain.ids import AssignmentId, HostName, ThreadKey, TicketId, TriggerId
from remit.domain.inputs import Input
from remit.domain.messages import EvalRequest, Offer, ToThread, ToTicket
from remit.domain.policy import Policy
from remit.domain.routing import reached_by
from remit.domain.rules_assessor import judge_by_rules
from remit.domain.thread import (
    AppendTrigger,
    EndEval,
    RecordDecision,
    Thread,
    ThreadCommand,
    decide_all,
    evolve_all,
)
from remit.domain.ticket import (
    MessageTooEarly,
    OpenTicket,
    SettleWrite,
    TakeAssignment,
    Ticket,
    TicketCommand,
    TicketUnknown,
    open_ticket,
)
from remit.domain.ticket import decide as decide_ticket
from remit.domain.ticket import evolve_all as evolve_ticket
from remit.domain.trigger import Trigger, TriggerRef
from support.domain import NOW


class World:
    """Threads and Tickets, and the messages between them that are still under way.

    Attributes:
        policy: The Policy in force.
        under_way: What was caused and not yet carried out; any of it may come next, or twice.
        dispositions: What became of each Trigger.
        inputs: What was published for each Ticket's Executor.
        offers: Assignments that were offered, by Ticket.
        written: Writes that a provider took, each once.
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.threads: dict[ThreadKey, Thread] = {}
        self.tickets: dict[TicketId, Ticket] = {}
        self.triggers: dict[TriggerId, tuple[Trigger, int]] = {}
        self.under_way: list[Effect] = []
        self.dispositions: dict[TriggerId, list[Disposition]] = defaultdict(list)
        self.inputs: dict[TicketId, dict[int, Input]] = defaultdict(dict)
        self.offers: dict[TicketId, AssignmentId] = {}
        self.written: set[str] = set()
        self.opened_by: dict[TicketId, TriggerId] = {}
        self.recorded_under: list[tuple[str, str]] = []

    # -- what happens outside -----------------------------------------------------------

    def arrive(self, trigger: Trigger) -> None:
        """Let a Trigger enter; one that is known already is the same Trigger."""
        self.triggers.setdefault(trigger.id, (trigger, len(self.triggers) + 1))
        self.route(trigger.id)

    def route(self, trigger_id: TriggerId) -> None:
        """Route a Trigger, as often as it is delivered."""
        trigger, position = self.triggers[trigger_id]
        command = AppendTrigger(
            trigger=trigger,
            ref=TriggerRef.of(trigger, position=position),
            verdict=judge(trigger, self.policy),
            may_resume=may_resume(trigger, self.policy),
        )
        reach: list[TicketId] = []
        for key in trigger.threads[1:]:
            self.ask_thread(key, command)
            reach.extend(reached_by(trigger, self.thread(key).subscriptions))
        self.ask_thread(trigger.home, command.model_copy(update={"reach": tuple(reach)}))

    def take(self, ticket: TicketId, host: HostName) -> None:
        """Let a host take a Ticket's offer, also one that another host has."""
        self.ask_ticket(ticket, TakeAssignment(assignment=self.offers[ticket], host=host))

    # -- messages -----------------------------------------------------------------------

    def deliver(self, index: int, *, again: bool = False) -> None:
        """Carry out one of the messages under way; it may come again."""
        index %= len(self.under_way)
        effect = self.under_way[index]
        if not self._carry_out(effect):
            return
        if not again:
            self.under_way.remove(effect)

    def _carry_out(self, effect: Effect) -> bool:
        match effect.payload:
            case EvalRequest() as request:
                self._evaluate(request)
            case Offer(ticket=ticket, assignment=assignment):
                self.offers[ticket] = assignment
            case ToThread(thread=thread, ask=ask):
                self.ask_thread(thread, ask)
            case ToTicket(ticket=ticket, ask=ask):
                try:
                    self.ask_ticket(ticket, ask)
                except (TicketUnknown, MessageTooEarly):
                    return False
            case Input() as taken:
                known = self.inputs[taken.ticket].setdefault(taken.number, taken)
                assert known == taken, "one number, one Input"
            case ChannelWrite() as write:
                self.written.add(write.id)
                receipt = Receipt(write=write.id, outcome=WriteOutcome.ACCEPTED)
                self.settle_write(write.ticket, receipt)
            case Disposition() as disposition:
                if disposition not in self.dispositions[disposition.trigger]:
                    self.dispositions[disposition.trigger].append(disposition)
        return True

    def settle_write(self, ticket: TicketId, receipt: Receipt) -> None:
        """Answer a write."""
        self.ask_ticket(ticket, SettleWrite(receipt=receipt))

    def _evaluate(self, request: EvalRequest) -> None:
        thread = self.thread(request.thread)
        if thread.running is None or thread.running.id != request.eval_id:
            return
        proposal = self.propose(request, thread)
        trigger, ref = None, None
        if proposal.request is not None:
            trigger, position = self.triggers[proposal.request]
            ref = TriggerRef.of(trigger, position=position)
        command = RecordDecision(
            proposal=proposal, current=self.policy.version, request=trigger, ref=ref
        )
        self.ask_thread(request.thread, command)

    def propose(self, request: EvalRequest, thread: Thread) -> Decision:
        """Return what an Eval comes to under the Policy in force."""
        admitted: list[Candidate] = []
        refused: list[GateRecord] = []
        for ref in request.batch:
            trigger = self.triggers[ref.id][0]
            verdict = judge(trigger, self.policy)
            if verdict.admitted:
                admitted.append(Candidate(trigger=trigger, verdict=verdict))
            else:
                refused.append(GateRecord(trigger=trigger.id, verdict=verdict))
        if not admitted:
            return refusal(
                thread.key, refused, eval_id=request.eval_id, policy=self.policy, now=NOW
            )
        case = Case(candidates=tuple(admitted), thread=thread, policy=self.policy)
        return decision_from(
            judge_by_rules(case),
            case,
            eval_id=request.eval_id,
            decided_by=DecidedBy.RULES,
            refused=refused,
            now=NOW,
        )

    def time_out(self, key: ThreadKey, *, tries: int) -> None:
        """Let the running Eval of a Thread run out of time."""
        running = self.thread(key).running
        if running is not None:
            self.ask_thread(
                key,
                EndEval(
                    eval_id=running.id, tries=tries, current=self.policy.version, reason="slow"
                ),
            )

    # -- aggregates ---------------------------------------------------------------------

    def thread(self, key: ThreadKey) -> Thread:
        """Return a Thread as it stands."""
        return self.threads.get(key, Thread(key=key))

    def ask_thread(self, key: ThreadKey, command: ThreadCommand) -> None:
        """Carry out a command on a Thread."""
        before = self.thread(key)
        for taken in decide_all(before, [command], NOW):
            self.threads[key] = evolve_all(self.thread(key), taken.events)
            for event in taken.events:
                if event.event == "decision_recorded":
                    version = event.decision.policy_version
                    self.recorded_under.append((version, self.policy.version))
            self.under_way.extend(effects.of_thread(taken.before, taken.command, taken.events))

    def ask_ticket(self, ticket: TicketId, command: TicketCommand) -> None:
        """Carry out a command on a Ticket."""
        state = self.tickets.get(ticket)
        if state is None:
            if not isinstance(command, OpenTicket):
                raise TicketUnknown(ticket, command.command)
            events = open_ticket(ticket, command, NOW)
            self.opened_by[ticket] = command.request.id
        else:
            events = decide_ticket(state, command, NOW)
        after = evolve_ticket(state, events)
        assert after is not None
        self.tickets[ticket] = after
        self.under_way.extend(effects.of_ticket(after, command, events))
