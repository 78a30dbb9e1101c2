"""Executor hosts over a bus in memory, beside the ticket service's own parts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from remit.bus.clock import Clock, SystemClock
from remit.bus.memory import MemoryBus
from remit.bus.ports import Bus
from remit.bus.worker import Worker
from remit.connectors.contract import GitRemote
from remit.coordination import MemoryLeases, MemoryStore
from remit.domain.channel import Address, ChannelWrite, Receipt, WriteOutcome
from remit.domain.ids import TicketId, ticket_id_for, write_id_for
from remit.domain.messages import ToTicket
from remit.domain.report import Report
from remit.domain.ticket import OpenTicket, SettleWrite, StopTicket, Ticket, TicketCommand
from remit.domain.trigger import Trigger
from remit.executor.agents import Agents
from remit.executor.app import offers_worker
from remit.executor.configuration import PreparePart
from remit.executor.conversation import Limits
from remit.executor.directory import Prepared, TicketDirectory, branch_of
from remit.executor.environment import ExecutionEnvironment
from remit.executor.hearing import Arrived
from remit.executor.hosting import HostAssignments, Terms
from remit.executor.journal import JournalFile
from remit.executor.preparation import Preparation
from remit.executor.settings import ExecutorSettings
from remit.executor.tool_server import ToolServer
from remit.executor.watching import load_ticket
from remit.runtime.policy_watch import PolicyWatch
from remit.runtime.wire import message_of
from remit.ticket.app import assemble
from remit.ticket.settings import TicketSettings
from support.domain import ALICE, delivery, opening, trigger
from support.fake_agents import FakeAgents, LocalToolServer, Play

WITHIN = 45.0
"""Seconds after which a wait in a test is given up: processes start slowly on a busy machine."""


class Nowhere:
    """No code host."""

    async def remote(self, address: Address) -> GitRemote | None:
        return None


class MadeDirectories(Preparation):
    """Makes directories without git."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(PreparePart(), ExecutionEnvironment(), Nowhere(), clock)
        self.made: list[TicketId] = []

    async def prepare(
        self, directory: TicketDirectory, ticket: Ticket, request: Arrived | None, trace: str | None
    ) -> Prepared:
        if not directory.work.exists():
            directory.work.mkdir(parents=True)
            self.made.append(ticket.id)
        return Prepared(at=datetime.now(UTC), branch=branch_of(ticket.id))


@dataclass
class Host:
    """One executor process.

    Attributes:
        hosting: Its Sessions.
        worker: Its worker of offers.
        agents: Its agents.
        tasks: What runs.
    """

    hosting: HostAssignments
    worker: Worker
    agents: Agents
    tasks: list[asyncio.Task[None]]

    async def stop(self) -> None:
        """Stop as on SIGTERM."""
        await asyncio.gather(self.hosting.stop(), self.worker.stop())
        await asyncio.gather(*self.tasks)

    async def die(self) -> None:
        """Go at once: nothing is settled, nothing is said any more."""
        for task in [*self.tasks, *self.hosting._hosting]:
            task.cancel()
        await asyncio.gather(*self.tasks, *self.hosting._hosting, return_exceptions=True)


class ExecutorWorld:
    """A bus with the ticket service on it, and any number of hosts.

    Args:
        bus: The bus.
        work_root: Where Tickets' directories are.
    """

    def __init__(self, bus: Bus, work_root: Path) -> None:
        self.bus = bus
        self.work_root = work_root
        self.coordination = MemoryStore()
        self.histories: dict[str, list[str]] = {}
        self.hosts: list[Host] = []
        self.limits = Limits(turn_seconds=60, attempts=3, retry_seconds=0, hosts=3)
        self.patience_seconds = 2.0
        self.preparation: Preparation = MadeDirectories(SystemClock())
        self._names = count(1)
        self._sent = count(1)

    # -- hosts --------------------------------------------------------------------------

    def fake_agents(self, *plays: Play, can_load: bool = True) -> FakeAgents:
        """Return agents that play; their memory is on the disk that all hosts share."""
        server = LocalToolServer(lambda: f"token-{next(self._names)}")
        return FakeAgents(server, *plays, histories=self.histories, can_load=can_load)

    def start(self, agents: FakeAgents, *, ack_wait: float = 1.0, capacity: int = 16) -> Host:
        """Start a host with agents that play."""
        return self.start_with(agents, agents._server, ack_wait=ack_wait, capacity=capacity)

    def start_with(
        self,
        agents: Agents,
        server: ToolServer,
        *,
        ack_wait: float = 1.0,
        capacity: int = 16,
        code_hosts: object | None = None,
        lease_ttl: timedelta = timedelta(seconds=30),
    ) -> Host:
        """Start a host."""
        clock = SystemClock()
        hosting = HostAssignments(
            f"host-{len(self.hosts) + 1}",
            bus=self.bus,
            leases=MemoryLeases(self.coordination),
            agents=agents,
            server=server,
            preparation=self.preparation,
            code_hosts=code_hosts or Nowhere(),  # type: ignore[arg-type]
            terms=Terms(
                work_root=self.work_root,
                lease_ttl=lease_ttl,
                patience_seconds=self.patience_seconds,
                receipt_seconds=2,
                limits=self.limits,
            ),
            new_key=lambda: f"key{next(self._names)}",
            clock=clock,
        )
        settings = ExecutorSettings(ack_wait_seconds=ack_wait, capacity=capacity)
        worker = offers_worker(self.bus, hosting, settings, clock)
        tasks = [asyncio.create_task(hosting.run()), asyncio.create_task(worker.run())]
        host = Host(hosting, worker, agents, tasks)
        self.hosts.append(host)
        return host

    async def stop(self) -> None:
        """Stop every host that still runs."""
        for host in self.hosts:
            if not all(task.done() for task in host.tasks):
                await host.stop()

    # -- what the other services say ----------------------------------------------------

    async def open(self, request: Trigger | None = None) -> TicketId:
        """Open a Ticket, as an Eval's accept does."""
        return await self.open_with(opening(request or trigger(1)))

    async def open_with(self, command: OpenTicket) -> TicketId:
        """Open a Ticket by a command."""
        ticket = ticket_id_for(command.request.id)
        await self.ask(ticket, command)
        return ticket

    async def write(self, ticket: TicketId, said: Trigger) -> None:
        """Let a Trigger fan out to a Ticket."""
        await self.ask(ticket, delivery(said))

    async def press_stop(self, ticket: TicketId) -> None:
        """Let a person stop a Ticket."""
        await self.ask(ticket, StopTicket(actor=ALICE, reason="stop please"))

    async def settle(self, ticket: TicketId, receipt: Receipt) -> None:
        """Let a Channel answer a write."""
        await self.ask(ticket, SettleWrite(receipt=receipt))

    async def accept_writes(self, ticket: TicketId) -> None:
        """Let the Channel accept every write so far."""
        for write in (await self.ticket(ticket)).unsettled:
            id = write_id_for(ticket, write.number)
            await self.settle(
                ticket, Receipt(write=id, outcome=WriteOutcome.ACCEPTED, object_id=id)
            )

    async def ask(self, ticket: TicketId, command: TicketCommand) -> None:
        """Ask something of a Ticket."""
        asked = ToTicket(ticket=ticket, ask=command)
        await self.bus.publish(message_of(asked, id=f"test/{next(self._sent)}", source="test"))

    # -- what there is ------------------------------------------------------------------

    async def ticket(self, ticket: TicketId) -> Ticket:
        """Return a Ticket as it stands."""
        loaded = await load_ticket(self.bus, ticket)
        assert loaded is not None, f"there is no {ticket}"
        return loaded[0]

    async def until(
        self, ticket: TicketId, holds: Callable[[Ticket], bool], within: float = WITHIN
    ) -> Ticket:
        """Wait until something is true of a Ticket."""
        seen: list[Ticket] = []

        async def look() -> bool:
            loaded = await load_ticket(self.bus, ticket)
            seen[:] = [loaded[0]] if loaded else []
            return loaded is not None and holds(loaded[0])

        try:
            await eventually(look, within)
        except TimeoutError:
            raise AssertionError(f"it never became true of {seen}") from None
        return seen[0]

    def journal(self, ticket: TicketId) -> JournalFile:
        """Return the journal of a Ticket's Session."""
        return JournalFile(TicketDirectory(self.work_root, ticket).journal, "")

    async def at_rest(self, ticket: TicketId) -> None:
        """Wait until the exchange with the agent has come to its end."""
        journal = self.journal(ticket)

        async def look() -> bool:
            await journal.load()
            return journal.found and not journal.now.giving

        await eventually(look)

    async def work_on(self) -> None:
        """Let everything that can go on do so, to see that something does not."""
        for _ in range(50):
            # A turn through the pool of threads: journals are written there.
            await asyncio.to_thread(lambda: None)

    async def left(self) -> None:
        """Wait until no host hosts anything."""
        await until(lambda: not any(host.hosting._hosting for host in self.hosts))

    async def reports(self, ticket: TicketId) -> list[Report]:
        """Return every Report that a Ticket ever took, in order."""
        return [
            Report.model_validate(event["report"])
            async for commit in self.bus.history("TICKET", f"ticket.{ticket}")
            for event in _events(commit.message.data)
            if event["event"] == "report_taken"
        ]

    async def events(self, ticket: TicketId) -> list[str]:
        """Return the names of everything that ever happened to a Ticket, in order."""
        names: list[str] = []
        async for commit in self.bus.history("TICKET", f"ticket.{ticket}"):
            names.extend(event["event"] for event in _events(commit.message.data))
        return names

    async def writes(self, ticket: TicketId) -> list[ChannelWrite]:
        """Return every write that a Ticket ever asked for, in order."""
        return [
            ChannelWrite.model_validate(event["write"])
            async for commit in self.bus.history("TICKET", f"ticket.{ticket}")
            for event in _events(commit.message.data)
            if event["event"] == "write_requested"
        ]


def _events(data: bytes) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(data)["events"]
    return events


async def until(holds: Callable[[], bool], within: float = WITHIN) -> None:
    """Wait until something is true."""

    async def look() -> bool:
        return holds()

    await eventually(look, within)


async def eventually(look: Callable[[], Awaitable[bool]], within: float = WITHIN) -> None:
    """Wait until something that has to be looked up is true."""
    async with asyncio.timeout(within):
        while not await look():  # noqa: ASYNC110 - what is looked at sets no event
            await asyncio.sleep(0.002)


@asynccontextmanager
async def executor_world(bus: Bus, work_root: Path) -> AsyncIterator[ExecutorWorld]:
    """Yield a world on a bus; the ticket service runs in it, and every host is stopped at the end."""
    policy = PolicyWatch(bus)
    assembly = await assemble(bus, policy, TicketSettings())
    parts = [part for part in assembly.parts if part is not policy]
    running = [asyncio.create_task(part.run()) for part in parts]
    world = ExecutorWorld(bus, work_root)
    try:
        yield world
    finally:
        await world.stop()
        await asyncio.gather(*(part.stop() for part in parts))
        await asyncio.gather(*running)


def memory_bus() -> MemoryBus:
    """Return a bus in memory on the machine's clock."""
    return MemoryBus()
