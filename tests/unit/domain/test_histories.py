"""Random histories: whatever happens in whatever order, the rules hold."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from remit.domain.ids import HostName, ThreadKey, TicketId
from remit.domain.policy import AcceptMode
from remit.domain.report import ReportKind
from remit.domain.ticket import (
    AskPerson,
    ConfirmStop,
    GiveReport,
    MessageTooEarly,
    StopTicket,
    TakeInput,
    TicketStatus,
)
from remit.domain.trigger import Addressing
from support.domain import ALICE, CI_BOT, MALLORY, policy, trigger
from support.domain import rule as assessment_rule
from support.history import World

THREADS = (ThreadKey("github:1/issue/7"), ThreadKey("github:1/pr/8"))
POLICIES = (
    policy(bots=frozenset({"900"}), rules=(assessment_rule(inferred=True),)),
    policy(rules=(assessment_rule("other"),)),
    policy(accept=AcceptMode.OBSERVE),
)
HOSTS = (HostName("host-a"), HostName("host-b"))


class Histories(RuleBasedStateMachine):
    """People, bots, Evals, hosts and Channels, in any order."""

    @initialize()
    def start(self) -> None:
        self.world = World(POLICIES[0])
        self.count = 0
        self.mandates: dict[TicketId, object] = {}

    @rule(
        who=st.sampled_from((ALICE, ALICE, MALLORY, CI_BOT)),
        addressing=st.sampled_from(Addressing),
        threads=st.sampled_from((THREADS[:1], THREADS[1:], THREADS)),
        minutes=st.integers(0, 5),
    )
    def somebody_writes(self, who, addressing, threads, minutes):
        self.count += 1
        self.world.arrive(
            trigger(self.count, actor=who, addressing=addressing, threads=threads, minutes=minutes)
        )

    @precondition(lambda self: self.world.triggers)
    @rule(index=st.integers(0, 1000))
    def a_trigger_is_delivered_again(self, index):
        known = list(self.world.triggers)
        self.world.route(known[index % len(known)])

    @precondition(lambda self: self.world.under_way)
    @rule(index=st.integers(0, 1000), again=st.booleans())
    def a_message_arrives(self, index, again):
        self.world.deliver(index, again=again)

    @rule(to=st.sampled_from(POLICIES))
    def the_policy_changes(self, to):
        self.world.policy = to

    @rule(key=st.sampled_from(THREADS))
    def an_eval_runs_out_of_time(self, key):
        self.world.time_out(key, tries=2)

    @precondition(lambda self: self.world.offers)
    @rule(index=st.integers(0, 100), host=st.sampled_from(HOSTS))
    def a_host_takes_an_offer(self, index, host):
        self.world.take(self._pick(self.world.offers, index), host)

    @precondition(lambda self: self.world.tickets)
    @rule(
        index=st.integers(0, 100),
        said=st.sampled_from(("input", "progress", "ready", "final", "failed", "ask", "stopped")),
        skip=st.integers(0, 1),
    )
    def a_host_says_something(self, index, said, skip):
        ticket = self.world.tickets[self._pick(self.world.tickets, index)]
        if ticket.assignment is None:
            return
        head = {
            "assignment": ticket.assignment.id,
            "message": ticket.assignment.heard + 1 + skip,
        }
        match said:
            case "input":
                command = TakeInput(**head, number=ticket.inputs)
            case "ask":
                command = AskPerson(**head, question="Which?")
            case "stopped":
                command = ConfirmStop(**head)
            case "final":
                command = GiveReport(**head, kind=ReportKind.READY, text="done", final=True)
            case kind:
                command = GiveReport(**head, kind=ReportKind(kind), text="so")
        try:
            self.world.ask_ticket(ticket.id, command)
        except MessageTooEarly:
            assert skip

    @precondition(lambda self: self.world.tickets)
    @rule(index=st.integers(0, 100))
    def a_person_stops_a_ticket(self, index):
        stop = StopTicket(actor=ALICE, reason="enough")
        self.world.ask_ticket(self._pick(self.world.tickets, index), stop)

    @invariant()
    def a_trigger_opens_at_most_one_ticket(self):
        opened = list(self.world.opened_by.values())
        assert len(opened) == len(set(opened))

    @invariant()
    def a_mandate_never_changes(self):
        for ticket in self.world.tickets.values():
            assert self.mandates.setdefault(ticket.id, ticket.mandate) == ticket.mandate

    @invariant()
    def inputs_wait_in_order_without_gaps(self):
        for ticket in self.world.tickets.values():
            numbers = [ref.number for ref in ticket.waiting]
            assert numbers == list(range(ticket.delivered + 1, ticket.inputs + 1))

    @invariant()
    def no_decision_is_recorded_under_another_policy(self):
        assert all(made == current for made, current in self.world.recorded_under)

    @invariant()
    def triggers_stand_in_time_order(self):
        for thread in self.world.threads.values():
            order = [(ref.occurred_at, ref.id) for ref in thread.recent]
            assert order == sorted(order)

    @invariant()
    def a_stopped_ticket_never_reopens(self):
        for ticket in self.world.tickets.values():
            if ticket.stopped and ticket.status is TicketStatus.ENDED:
                assert not ticket.stage

    def teardown(self):
        if not hasattr(self, "world"):
            return
        for _ in range(10_000):
            if not self.world.under_way:
                break
            self.world.deliver(0)
        assert self.world.under_way == [], "everything comes to an end"
        for thread in self.world.threads.values():
            assert thread.running is None
            assert thread.pending == ()
            assert thread.fan_outs == ()
            for subscription in thread.subscriptions:
                ticket = self.world.tickets[subscription.ticket]
                assert subscription.standing is ticket.standing
        for known in self.world.triggers:
            assert self.world.dispositions[known], f"{known} is left without a Disposition"
        for ticket in self.world.tickets.values():
            published = self.world.inputs[ticket.id]
            assert sorted(published) == list(range(1, ticket.inputs + 1))
            reached = [one.trigger.id for one in published.values() if one.trigger]
            assert len(reached) == len(set(reached)), "no Trigger is an Input twice"

    @staticmethod
    def _pick(among, index):
        keys = sorted(among)
        return keys[index % len(keys)]


Histories.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


@pytest.mark.rule("TRG-3")
@pytest.mark.rule("TRG-4")
@pytest.mark.rule("THR-1")
@pytest.mark.rule("THR-2")
@pytest.mark.rule("MAN-2")
@pytest.mark.rule("INP-1")
@pytest.mark.rule("POL-5")
class TestHistories(Histories.TestCase):
    """The histories as a test."""
