"""The services over a bus in memory, driven by hand: no processes, no clock, no agent."""

from __future__ import annotations

from datetime import timedelta

from remit.bus import subjects
from remit.bus.clock import ManualClock, SystemClock
from remit.bus.memory import MemoryBus
from remit.bus.message import Delivery
from remit.bus.ports import Consumer, one_by_one
from remit.bus.worker import Worker
from remit.channel.app import writes_of
from remit.channel.write_to_provider import WriteToProvider
from remit.coordination import MemoryLeases
from remit.domain.assessment import Assessor
from remit.domain.disposition import Disposition
from remit.domain.ids import HostName, ThreadKey, TicketId
from remit.domain.messages import FromAssignment, PolicyInForce
from remit.domain.policy import Policy
from remit.domain.rules_assessor import RulesAssessor
from remit.domain.thread import Thread
from remit.domain.ticket import ExecutorCommand, TakeAssignment, Ticket
from remit.domain.trigger import Trigger
from remit.eval.run_eval import RunEval
from remit.runtime.aggregates import thread_log, ticket_log
from remit.runtime.policy_watch import PolicyWatch
from remit.runtime.service import Part
from remit.runtime.wire import message_of
from remit.ticket.app import assemble
from remit.ticket.settings import TicketSettings
from support.domain import NOW, policy
from support.driving import work_off
from support.instances import FakeInstance

HOST = HostName("host-a")


class MemoryServices:
    """The ticket, eval and channel services over one bus.

    Attributes:
        bus: The bus they share.
        clock: The bus's clock.
        instance: The provider that replies go to.
    """

    def __init__(self, assessor: Assessor | None = None) -> None:
        self.clock = ManualClock()
        self.bus = MemoryBus(clock=self.clock)
        self.instance = FakeInstance()
        self.policy = PolicyWatch(self.bus)
        self._assessor = assessor or RulesAssessor()
        self._said: dict[str, int] = {}
        self.threads = thread_log(self.bus, service="test")
        self.tickets = ticket_log(self.bus, service="test")

    async def apply(self, applied: Policy | None = None) -> None:
        """Bring a Policy into force."""
        document = PolicyInForce(
            policy=applied or policy(), text="", applied_at=NOW, applied_by="a test"
        )
        await self.bus.publish(message_of(document, id=document.policy.version, source="test"))
        await self.policy.load()

    async def publish(self, *triggers: Trigger) -> None:
        """Let Triggers enter the domain, as the source service does."""
        for one in triggers:
            await self.bus.create(
                message_of(one, id=one.id, source="test"),
                scope=subjects.trigger_scope(one.source, one.id),
            )

    async def parts(self) -> list[Part]:
        """Return the parts of one replica of each service, the policy watch aside."""
        assembly = await assemble(self.bus, self.policy, TicketSettings())
        ticket = [part for part in assembly.parts if part is not self.policy]
        run_eval = RunEval(
            self.bus,
            self.threads,
            self.policy,
            self._assessor,
            MemoryLeases(),
            limit=timedelta(seconds=5),
            clock=SystemClock(),
        )
        requests = Consumer(stream="EVAL", name="eval-run", subject=subjects.EVAL_REQUESTS)
        consumer = writes_of(self.instance.name)
        writer = WriteToProvider(self.instance, self.bus, consumer, SystemClock())
        return [
            *ticket,
            Worker(self.bus, requests, one_by_one(run_eval)),
            Worker(self.bus, consumer, writer),
        ]

    async def settle(self) -> None:
        """Let every service work until nothing is left to do."""
        await work_off(self.bus, *await self.parts())

    async def deliver_everything_again(self) -> None:
        """Forget every consumer's place and, with time, every id the broker remembers."""
        await self.clock.advance(3600)
        self.bus._places.clear()
        await self.settle()

    async def thread(self, key: ThreadKey) -> Thread:
        """Return a Thread as it stands."""
        return (await self.threads.load(key, leader=True)).state or Thread(key=key)

    async def ticket(self, ticket: TicketId) -> Ticket:
        """Return a Ticket as it stands."""
        state = (await self.tickets.load(ticket, leader=True)).state
        assert state is not None, f"there is no {ticket}"
        return state

    async def stored(self, stream: str) -> list[Delivery]:
        """Return every message of a stream."""
        return [delivery async for delivery in self.bus.history(stream, ">")]

    async def dispositions(self) -> list[Disposition]:
        """Return every Disposition, in order."""
        return [
            Disposition.model_validate_json(one.message.data)
            for one in await self.stored("DISPOSITION")
        ]

    async def host_says(self, ticket: TicketId, said: ExecutorCommand) -> None:
        """Say something for an Assignment, as the executor service does."""
        number = self._said.get(ticket, 0) + 1
        self._said[ticket] = number
        message = FromAssignment(ticket=ticket, said=said)
        await self.bus.publish(message_of(message, id=f"{ticket}/said/{number}", source="test"))

    async def take(self, ticket: TicketId) -> Ticket:
        """Take the Assignment of a Ticket, as an executor does."""
        state = await self.ticket(ticket)
        assert state.assignment is not None
        await self.host_says(ticket, TakeAssignment(assignment=state.assignment.offer, host=HOST))
        await self.settle()
        return await self.ticket(ticket)
