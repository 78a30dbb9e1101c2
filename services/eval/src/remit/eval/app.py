"""The composition root of the eval service."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import timedelta

from remit.bus import subjects
from remit.bus.clock import SystemClock
from remit.bus.errors import BusError, BusUnavailable
from remit.bus.ports import Bus, Consumer, one_by_one
from remit.bus.worker import Worker
from remit.coordination import CoordinationUnavailable, Leases
from remit.domain.rules_assessor import RulesAssessor
from remit.eval.run_eval import RunEval
from remit.eval.settings import EvalSettings
from remit.runtime.aggregates import thread_log
from remit.runtime.connect import connect_bus
from remit.runtime.connect_leases import connect_leases
from remit.runtime.policy_watch import PolicyWatch
from remit.runtime.service import Assembly, main

NAME = "eval"
REQUESTS = Consumer(stream="EVAL", name="eval-run", subject=subjects.EVAL_REQUESTS)


async def build(settings: EvalSettings, stack: AsyncExitStack) -> Assembly:
    """Connect, and put the service together."""
    bus = await connect_bus(settings, NAME, stack)
    leases = await connect_leases(settings, stack)
    policy = PolicyWatch(bus)
    await policy.load()
    return assemble(bus, leases, policy, settings)


def assemble(bus: Bus, leases: Leases, policy: PolicyWatch, settings: EvalSettings) -> Assembly:
    """Return the parts of the service."""
    clock = SystemClock()
    run_eval = RunEval(
        bus,
        thread_log(bus, service=NAME, clock=clock),
        policy,
        RulesAssessor(),
        leases,
        limit=timedelta(seconds=settings.eval_limit_seconds),
        clock=clock,
    )
    worker = Worker(
        bus,
        REQUESTS,
        one_by_one(run_eval),
        concurrency=settings.concurrency,
        away=(BusUnavailable, CoordinationUnavailable),
    )
    return Assembly(parts=[policy, worker], needs={"nats": bus.ready, "redis": leases.ready})


def run() -> int:
    """Run the service to its end; return its exit status."""
    settings = EvalSettings()
    return main(
        NAME,
        settings,
        lambda stack: build(settings, stack),
        away=(BusError, CoordinationUnavailable),
    )
