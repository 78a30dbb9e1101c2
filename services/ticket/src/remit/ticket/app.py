"""The composition root of the ticket service."""

from __future__ import annotations

from contextlib import AsyncExitStack

from remit.bus.clock import SystemClock
from remit.bus.errors import BusError
from remit.bus.ports import Bus, Consumer, Handler, one_by_one
from remit.bus.relay import Relay
from remit.bus.worker import Worker
from remit.runtime.aggregates import OWNED, thread_log, ticket_log
from remit.runtime.connect import connect_bus
from remit.runtime.policy_watch import PolicyWatch
from remit.runtime.service import Assembly, main
from remit.ticket import consumers
from remit.ticket.dispositions import Dispositions
from remit.ticket.route_triggers import RouteTriggers, by_last_token
from remit.ticket.settings import TicketSettings
from remit.ticket.take_eval_results import TakeEvalResults
from remit.ticket.thread_commands import ThreadCommands
from remit.ticket.threads import Threads
from remit.ticket.ticket_commands import TakeReports, TicketCommands
from remit.ticket.tickets import Tickets

NAME = "ticket"


async def build(settings: TicketSettings, stack: AsyncExitStack) -> Assembly:
    """Connect, and put the service together."""
    bus = await connect_bus(settings, NAME, stack)
    policy = PolicyWatch(bus)
    await policy.load()
    return await assemble(bus, policy, settings)


async def assemble(bus: Bus, policy: PolicyWatch, settings: TicketSettings) -> Assembly:
    """Return the parts of the service on ``bus``, their consumers made."""
    clock = SystemClock()
    dispositions = Dispositions()
    threads_log = thread_log(bus, service=NAME, clock=clock, keeps=OWNED)
    tickets_log = ticket_log(bus, service=NAME, clock=clock, keeps=OWNED)
    threads = Threads(threads_log, bus, dispositions, clock)
    tickets = Tickets(tickets_log, bus, dispositions, clock)
    tries = settings.eval_tries
    handlers: list[tuple[Consumer, Handler]] = [
        (consumers.ROUTE_TRIGGERS, RouteTriggers(threads, bus, dispositions, policy)),
        (
            consumers.TAKE_EVAL_RESULTS,
            one_by_one(TakeEvalResults(threads, bus, policy, tries=tries)),
        ),
        (consumers.THREAD_COMMANDS, one_by_one(ThreadCommands(threads, policy, tries=tries))),
        (consumers.TICKET_COMMANDS, one_by_one(TicketCommands(tickets))),
        (consumers.TAKE_REPORTS, one_by_one(TakeReports(tickets))),
    ]
    workers = [
        Worker(
            bus,
            consumer,
            handler,
            key=by_last_token,
            concurrency=settings.concurrency,
            batch=settings.batch,
        )
        for consumer, handler in handlers
    ]
    relays = [
        Relay(
            bus,
            stream=stream,
            name=f"ticket-relay-{stream.lower()}",
            concurrency=settings.concurrency,
        )
        for stream in ("THREAD", "TICKET")
    ]
    return Assembly(parts=[policy, *workers, *relays], needs={"nats": bus.ready})


def run() -> int:
    """Run the service to its end; return its exit status."""
    settings = TicketSettings()
    return main(NAME, settings, lambda stack: build(settings, stack), away=(BusError,))
