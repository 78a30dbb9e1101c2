"""Hosting Assignments: one delivery of an offer is one whole Assignment (ASG-1, ASG-2, ASG-7).

The worker keeps the delivery in progress for as long as the Assignment runs here, so a host that dies
is noticed by the bus: the offer comes up again elsewhere. Whose the Assignment is, its Ticket says; the
Session's lease keeps two hosts out of one directory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from itertools import count
from pathlib import Path

from remit.bus.clock import Clock
from remit.bus.message import Delivery
from remit.bus.ports import Bus, Done, Later, Never, Outcome
from remit.coordination import LeaseHeld, Leases
from remit.domain.ids import AssignmentId, HostName
from remit.domain.messages import Offer
from remit.domain.ticket import ConfirmStop, Ticket
from remit.executor.agents import Agents
from remit.executor.code_hosts import CodeHosts
from remit.executor.conversation import Conversation, Limits
from remit.executor.directory import TicketDirectory
from remit.executor.hearing import InputFeed
from remit.executor.journal import JournalFile
from remit.executor.leasing import SessionLease
from remit.executor.preparation import Preparation
from remit.executor.product_tools import ProductTools
from remit.executor.push_branch import Pushed, push_branch
from remit.executor.reading import Reading
from remit.executor.speaking import Spokesman, Unheard
from remit.executor.taking import confirm_for_the_lost, is_hosted_by, is_open, take
from remit.executor.talking import Talk
from remit.executor.tool_server import ToolServer
from remit.executor.watching import TicketWatch, load_ticket
from remit.runtime.wire import PayloadUnreadable, read, trace_of
from remit.telemetry import metrics, names, tracing
from remit.telemetry.logs import logger

SOON = timedelta(seconds=1)
"""When an offer is looked at again that another host seems to work on."""
UNKNOWN = timedelta(milliseconds=200)
"""When an offer is looked at again whose Ticket was not there."""
AT_ONCE = timedelta(0)


class Ending(StrEnum):
    """Why a hosting ends."""

    REPORTED = "reported"
    """The agent gave its final report."""
    STOPPED = "stopped"
    """A person stopped the Ticket."""
    OVER = "over"
    """The Assignment ended without this host."""
    TAKEN = "taken"
    """Another host has it: the lease, or the Ticket, says so."""
    CUT_OFF = "cut_off"
    """The bus was away for too long."""
    CLOSING = "closing"
    """This host stops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How this host works.

    Attributes:
        work_root: Where Tickets' directories are.
        lease_ttl: How long a lease outlives a host that died.
        patience_seconds: How long the bus may be away.
        receipt_seconds: How long a pull request is waited for.
        limits: How far a conversation goes.
    """

    work_root: Path
    lease_ttl: timedelta
    patience_seconds: float = 60.0
    receipt_seconds: float = 60.0
    limits: Limits = field(default_factory=Limits)


class HostAssignments:
    """Handles offers: takes each Assignment and hosts it to its end. Also a part of the service.

    Args:
        host: The name of this process. Each hosting has a name of its own below it, so that an
            Assignment's messages are numbered by one hosting only.
        bus: Where Tickets, Inputs and reports are.
        leases: Keep two hosts out of one directory.
        agents: The agents of this host.
        server: Serves the product's tools.
        preparation: Prepares directories.
        code_hosts: Where branches are pushed.
        terms: How this host works.
        new_key: Draws the key of a Ticket's markers.
        clock: Paces tries.
    """

    name = "executor-sessions"

    def __init__(
        self,
        host: str,
        *,
        bus: Bus,
        leases: Leases,
        agents: Agents,
        server: ToolServer,
        preparation: Preparation,
        code_hosts: CodeHosts,
        terms: Terms,
        new_key: Callable[[], str],
        clock: Clock,
    ) -> None:
        self._host = host
        self._bus = bus
        self._leases = leases
        self._agents = agents
        self._server = server
        self._preparation = preparation
        self._code_hosts = code_hosts
        self._terms = terms
        self._new_key = new_key
        self._clock = clock
        self._numbers = count(1)
        self._closing = asyncio.Event()
        self._hosting: set[asyncio.Task[object]] = set()
        self._sessions = metrics.up_down_counter(names.METRIC_SESSIONS)
        self._log = logger("remit.executor.hosting")

    # -- a part of the service ----------------------------------------------------------

    async def run(self) -> None:
        """Wait until stopped; the worker brings the offers."""
        await self._closing.wait()

    async def stop(self) -> None:
        """Cancel every agent's turn and give every Assignment back, for another host to take over."""
        self._closing.set()
        if self._hosting:
            await asyncio.wait(set(self._hosting))

    def progressing(self) -> bool:
        """A Session may wait for a person for weeks, so waiting is no sign of being stuck."""
        return True

    # -- a handler of offers ------------------------------------------------------------

    async def __call__(self, delivery: Delivery) -> Outcome:
        """Host the Assignment of one offer."""
        try:
            offer = read(delivery, Offer)
        except PayloadUnreadable as error:
            return Never(str(error))
        task = asyncio.current_task()
        if task is not None:
            self._hosting.add(task)
        try:
            return await self._take_up(offer, trace_of(delivery))
        finally:
            if task is not None:
                self._hosting.discard(task)

    async def _take_up(self, offer: Offer, trace: str | None) -> Outcome:
        if self._closing.is_set():
            return Later("this host stops", AT_ONCE)
        loaded = await load_ticket(self._bus, offer.ticket)
        if loaded is None:
            return Later("its Ticket is not there yet", UNKNOWN)
        if not is_open(loaded[0], offer):
            return Done()
        try:
            async with SessionLease(
                self._leases, offer.ticket, ttl=self._terms.lease_ttl, clock=self._clock
            ) as lease:
                # Loaded again: until the lease was ours, another host may have gone on.
                loaded = await load_ticket(self._bus, offer.ticket)
                if loaded is None:
                    return Later("its Ticket is not there", UNKNOWN)
                async with TicketWatch(self._bus, *loaded) as watch:
                    return await self._host_it(offer, lease, watch, trace)
        except LeaseHeld as held:
            return Later(str(held), SOON)

    async def _host_it(
        self, offer: Offer, lease: SessionLease, watch: TicketWatch, trace: str | None
    ) -> Outcome:
        host = HostName(f"{self._host}/{next(self._numbers)}")
        log = self._log.bind(ticket_id=offer.ticket, host=host)
        try:
            ticket = await take(self._bus, watch, offer, host, trace=trace)
            if ticket is None:
                if watch.ticket.stopped:
                    await confirm_for_the_lost(self._bus, watch, offer, host)
                return Done()
        except TimeoutError:
            return Later("its Ticket does not answer", SOON)
        log.info("assignment taken", assignment=ticket.assignment and ticket.assignment.id)
        self._sessions.add(1)
        try:
            ending = await self._converse(offer, host, ticket, lease, watch)
        finally:
            self._sessions.add(-1)
        log.info("assignment left", ending=ending)
        return _outcome(ending)

    async def _converse(
        self,
        offer: Offer,
        host: HostName,
        ticket: Ticket,
        lease: SessionLease,
        watch: TicketWatch,
    ) -> Ending:
        assert ticket.assignment is not None
        spokesman = Spokesman(
            self._bus,
            ticket.id,
            ticket.assignment.id,
            heard=ticket.assignment.heard,
            clock=self._clock,
            patience=self._terms.patience_seconds,
        )
        directory = TicketDirectory(self._terms.work_root, ticket.id)
        journal = JournalFile(directory.journal, self._new_key())
        await journal.load()
        first = min([ticket.delivered + 1, *journal.now.giving])
        async with AsyncExitStack() as stack:
            feed = await stack.enter_async_context(InputFeed(self._bus, ticket.id, first=first))
            reading = Reading(spokesman, delivered=ticket.delivered)
            tools = ProductTools(
                spokesman=spokesman,
                journal=journal,
                feed=feed,
                watch=watch,
                push=lambda trace: self._push(directory, ticket, trace),
                read=reading.read,
                receipt_seconds=self._terms.receipt_seconds,
            )
            talk = Talk(
                ticket,
                agents=self._agents,
                bus=self._bus,
                server=self._server,
                path=stack.enter_context(self._server.serving(tools)),
                directory=directory,
                preparation=self._preparation,
                journal=journal,
            )
            stack.push_async_callback(talk.close)
            conversation = Conversation(
                ticket,
                talk=talk,
                directory=directory,
                preparation=self._preparation,
                feed=feed,
                reading=reading,
                watch=watch,
                spokesman=spokesman,
                journal=journal,
                tools=tools,
                limits=self._terms.limits,
                clock=self._clock,
            )
            ending = await self._until_it_ends(
                conversation,
                offer,
                host,
                lease=lease,
                watch=watch,
                feed=feed,
                spokesman=spokesman,
                tools=tools,
            )
            await spokesman.flush()
        if ending is Ending.STOPPED:
            await _confirm_stop(spokesman, ticket.trace)
        elif ending is Ending.CLOSING:
            # This host leaves in good order, so it does not count among those that came to grief.
            await journal.note(hosts=max(journal.now.hosts - 1, 0))
        return ending

    async def _until_it_ends(
        self,
        conversation: Conversation,
        offer: Offer,
        host: HostName,
        *,
        lease: SessionLease,
        watch: TicketWatch,
        feed: InputFeed,
        spokesman: Spokesman,
        tools: ProductTools,
    ) -> Ending:
        """Let the conversation run until it ends, or something ends it."""

        async def no_longer_ours() -> None:
            # After the final report the Assignment is over, and the agent ends its turn.
            await watch.until(
                lambda ticket: not is_hosted_by(ticket, offer, host) and not tools.final
            )

        async def stopped() -> None:
            await watch.until(lambda ticket: ticket.stopped)

        talking = asyncio.create_task(conversation.run(), name=f"conversation {offer.ticket}")
        # In this order: where several hold together, the first one counts.
        ends: dict[asyncio.Task[object], Ending] = {
            talking: Ending.REPORTED,
            asyncio.create_task(_wait(feed.stopped)): Ending.STOPPED,
            asyncio.create_task(stopped()): Ending.STOPPED,
            asyncio.create_task(_wait(lease.lost)): Ending.TAKEN,
            asyncio.create_task(no_longer_ours()): Ending.OVER,
            asyncio.create_task(_wait(spokesman.unheard)): Ending.CUT_OFF,
            asyncio.create_task(_wait(self._closing)): Ending.CLOSING,
        }
        try:
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            ended = next(task for task in ends if task.done())
        finally:
            for task in ends:
                task.cancel()
            await asyncio.gather(*ends, return_exceptions=True)
        if isinstance(ended.exception(), Unheard):
            return Ending.CUT_OFF
        ended.result()
        ending = ends[ended]
        if ending is Ending.OVER and is_open(watch.ticket, offer):
            return Ending.TAKEN
        return ending

    async def _push(
        self, directory: TicketDirectory, ticket: Ticket, trace: str | None
    ) -> Pushed | None:
        prepared = await directory.prepared()
        if prepared is None or not ticket.channels:
            return None
        facts = {names.TICKET_ID: ticket.id}
        with tracing.span(names.SPAN_PUSH_BRANCH, on=trace, attributes=facts):
            remote = await self._code_hosts.remote(ticket.channels[0])
            return await push_branch(directory, prepared, remote) if remote else None


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def _confirm_stop(spokesman: Spokesman, trace: str | None) -> None:
    """Say that the agent has stopped: it has, its session is closed by now (field report C7)."""

    def confirm(assignment: AssignmentId, message: int) -> ConfirmStop:
        return ConfirmStop(assignment=assignment, message=message)

    await spokesman.say(confirm, trace=trace)


def _outcome(ending: Ending) -> Outcome:
    match ending:
        case Ending.REPORTED | Ending.STOPPED | Ending.OVER:
            return Done()
        case Ending.TAKEN | Ending.CUT_OFF:
            # Put back, not done: should the other host die too, the offer must come up again.
            return Later(ending, SOON)
        case Ending.CLOSING:
            return Later(ending, AT_ONCE)
