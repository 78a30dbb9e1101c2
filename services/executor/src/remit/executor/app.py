"""The composition root of the executor service."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

from opentelemetry.trace import NoOpTracerProvider

from remit.bus import subjects
from remit.bus.clock import Clock, SystemClock
from remit.bus.errors import BusError, BusUnavailable
from remit.bus.ports import Bus, Consumer, one_by_one
from remit.bus.worker import Worker
from remit.connectors.configuration import read_sources
from remit.coordination import CoordinationUnavailable, Leases
from remit.domain.ids import SourceName
from remit.executor.agent_process import AgentCommand, AgentProcesses
from remit.executor.code_hosts import ConfiguredCodeHosts
from remit.executor.configuration import (
    ExecutorDocument,
    PreparePart,
    command_line,
    read_executor_file,
)
from remit.executor.conversation import Limits
from remit.executor.environment import ExecutionEnvironment, Reach, chosen, inherited
from remit.executor.hosting import HostAssignments, Terms
from remit.executor.preparation import Preparation, executor_variables, reserved
from remit.executor.settings import ExecutorSettings
from remit.executor.tool_server import ToolServer
from remit.runtime.connect import connect_bus
from remit.runtime.connect_leases import connect_leases
from remit.runtime.service import Assembly, main

NAME = "executor"
_FOR_EVER = timedelta(days=36_500)
_WITHOUT_END = 1_000_000_000


def offers_to(executor: str, ack_wait: timedelta) -> Consumer:
    """Return the consumer of the offers to one kind of Executor.

    An offer comes up again with each host that dies or leaves, over weeks: how often says nothing
    about it, so it has no bound here. What goes wrong with the work itself is bounded where it is
    done (`remit.executor.conversation`).
    """
    return Consumer(
        stream="ASSIGNMENT",
        name=f"executor-{executor}",
        subject=subjects.assignments_of(executor),
        ack_wait=ack_wait,
        max_ack_pending=100_000,
        attempts=_WITHOUT_END,
    )


async def build(settings: ExecutorSettings, stack: AsyncExitStack) -> Assembly:
    """Connect, and put the service together.

    Raises:
        ExecutorFileInvalid: The Executor document cannot be used.
        SourcesFileInvalid: The Sources document cannot be used.
        VariableTaken: Two registrants want one variable.
        SecretUnavailable: A secret of the agent is not where it should be.
    """
    document = read_executor_file(settings.executor_file)
    sources = read_sources(settings.sources_file) if settings.sources_file else {}
    bus = await connect_bus(settings, NAME, stack)
    leases = await connect_leases(settings, stack)
    return assemble(bus, leases, settings, document, sources, stack)


def assemble(
    bus: Bus,
    leases: Leases,
    settings: ExecutorSettings,
    document: ExecutorDocument,
    sources: Mapping[SourceName, Mapping[str, Any]],
    stack: AsyncExitStack,
) -> Assembly:
    """Return the parts of the service; what they started is closed with ``stack``."""
    clock = SystemClock()
    environment = registered(document, settings)
    agents = AgentProcesses(agent_command(document, environment, settings), clock)
    stack.push_async_callback(agents.close)
    server = ToolServer(lambda: secrets.token_urlsafe(32))
    stack.push_async_callback(server.close)
    code_hosts = ConfiguredCodeHosts(sources, stack)
    hosting = HostAssignments(
        f"{settings.instance}-{secrets.token_hex(4)}",
        bus=bus,
        leases=leases,
        agents=agents,
        server=server,
        preparation=Preparation(prepare_part(document, settings), environment, code_hosts, clock),
        code_hosts=code_hosts,
        terms=terms_of(settings),
        new_key=lambda: secrets.token_hex(8),
        clock=clock,
    )
    worker = offers_worker(bus, hosting, settings, clock)
    return Assembly(parts=[hosting, worker], needs={"nats": bus.ready, "redis": leases.ready})


def offers_worker(
    bus: Bus, hosting: HostAssignments, settings: ExecutorSettings, clock: Clock
) -> Worker:
    """Return the worker that brings offers to ``hosting``, as many as there is room for."""
    return Worker(
        bus,
        offers_to(settings.executor, settings.ack_wait),
        one_by_one(hosting),
        concurrency=settings.capacity,
        batch=1,
        away=(BusUnavailable, CoordinationUnavailable),
        drain=timedelta(seconds=settings.drain_seconds),
        longest=_FOR_EVER,
        clock=clock,
        # A span around a whole Assignment would be open for days: each Input has its own (D12).
        tracer_provider=NoOpTracerProvider(),
    )


def registered(document: ExecutorDocument, settings: ExecutorSettings) -> ExecutionEnvironment:
    """Return the execution environment of every Ticket.

    Raises:
        VariableTaken: Two registrants want one variable.
    """
    author = document.author
    registrant = str(settings.executor_file) if settings.executor_file else "the configuration"
    environment = ExecutionEnvironment(executor_variables(author.name, author.email)).joined(
        document.environment(registrant)
    )
    environment.joined(reserved())
    return environment


def agent_command(
    document: ExecutorDocument, environment: ExecutionEnvironment, settings: ExecutorSettings
) -> AgentCommand:
    """Return how the agent is started, with all of its environment and nothing else.

    Raises:
        SecretUnavailable: A secret that is meant for it is not where it should be.
    """
    agent = document.agent
    command = command_line(settings.agent_command) or agent.command
    named = [name.strip() for name in settings.agent_pass.split(",") if name.strip()]
    home = settings.work_root.absolute() / ".agents" / agent.name
    own = {
        key: value if isinstance(value, str) else value.read()
        for key, value in agent.variables.items()
    }
    hidden = [value.read() for value in agent.variables.values() if not isinstance(value, str)]
    return AgentCommand(
        name=agent.name,
        command=command,
        environment={
            **inherited(os.environ),
            "HOME": str(home),
            **chosen(os.environ, [*agent.passed, *named]),
            **environment.values(Reach.AGENT),
            **own,
        },
        directory=home,
        allow=document.permissions.allow,
        secrets=(*environment.secrets(Reach.AGENT), *hidden),
        stop_limit=settings.cancel_seconds,
    )


def prepare_part(document: ExecutorDocument, settings: ExecutorSettings) -> PreparePart:
    """Return how directories are prepared: the setting's command, else the document's."""
    command = command_line(settings.prepare_command)
    return document.prepare.model_copy(update={"command": command}) if command else document.prepare


def terms_of(settings: ExecutorSettings) -> Terms:
    """Return how this host works."""
    return Terms(
        work_root=settings.work_root,
        lease_ttl=settings.lease_ttl,
        patience_seconds=settings.bus_patience_seconds,
        receipt_seconds=settings.receipt_seconds,
        limits=Limits(
            turn_seconds=settings.turn_limit_seconds,
            attempts=settings.attempts,
            retry_seconds=settings.retry_seconds,
        ),
    )


def run() -> int:
    """Run the service to its end; return its exit status."""
    settings = ExecutorSettings()
    return main(
        NAME,
        settings,
        lambda stack: build(settings, stack),
        away=(BusError, CoordinationUnavailable),
        loop=asyncio.new_event_loop,
    )
