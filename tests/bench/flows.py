"""Remit under measurement: its services as processes, and the kinds of work they are given."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nats.aio.msg import Msg

from bench.figures import Flow, Idle
from bench.load import Meter, measure
from bench.processes import Program, python, running
from remit.bus.message import Message
from remit.bus.nats import NatsBus
from remit.domain.channel import Address
from remit.domain.ids import RuleId, SourceName, ThreadKey, TriggerId
from remit.domain.messages import PolicyInForce
from remit.domain.policy import AcceptMode, AssessmentRule, Policy, SourcePart
from remit.domain.trigger import (
    Actor,
    ActorClass,
    Addressing,
    ReceivingScope,
    Reception,
    ScopeKind,
    Trigger,
)
from remit.runtime.wire import message_of

SOURCE = SourceName("console")
ALLOWED, STRANGER = "local", "stranger"
ASKS_FOR_WORK = "please do the work"
SERVICES = ("ticket", "eval", "source", "channel", "executor", "panel")
POLICY = Policy(
    accept=AcceptMode.AUTO,
    rules=(
        AssessmentRule(
            id=RuleId("work"), text="Work on request.", scope="anything", words=("do the work",)
        ),
    ),
    sources={SOURCE: SourcePart(allowed=frozenset({ALLOWED}))},
)


@dataclass(frozen=True)
class Kind:
    """One kind of work.

    Attributes:
        name: What it is called in the table.
        actor: Who asks.
        text: What they write.
        ends: The subject on which it ends.
        share: How many of it for each of the others: slower kinds get fewer.
        is_end: Whether a message there is the end of it.
    """

    name: str
    actor: str
    text: str
    ends: str = "disposition.*"
    share: float = 1.0
    is_end: Callable[[Msg], bool] = lambda _: True


def _ticket_ended(message: Msg) -> bool:
    return b'"ticket_ended"' in message.data


WATCHED = "not admitted, the panel reading and every trace kept"

FLOWS = (
    Kind("not admitted: Trigger to Disposition", STRANGER, ASKS_FOR_WORK),
    Kind("ignored by the assessor: Trigger to Disposition", ALLOWED, "good morning"),
    Kind("accepted: Trigger to Disposition", ALLOWED, ASKS_FOR_WORK, share=0.2),
    Kind(
        "accepted: Trigger to the Ticket's end",
        ALLOWED,
        ASKS_FOR_WORK,
        ends="ticket.*",
        share=0.05,
        is_end=_ticket_ended,
    ),
)


class Deployment:
    """The services, running."""

    def __init__(self, url: str, label: str) -> None:
        self._url = url
        self._label = label
        self._runs = 0

    async def measure(self, kind: Kind, *, pour: int, drip: int) -> Flow:
        """Measure one kind of work."""
        self._runs += 1
        run = f"{self._label}{self._runs}"

        def make(number: int) -> tuple[str, Message]:
            trigger = _trigger(kind, f"{run}n{number}")
            return trigger.threads[0], message_of(trigger, id=trigger.id, source="bench")

        def key_of(message: Msg) -> str | None:
            if not kind.is_end(message):
                return None
            said = json.loads(message.data)
            thread: str = said.get("thread") or said["state"]["threads"][0]["key"]
            return thread

        async with Meter(self._url, kind.ends, key_of) as meter:
            return await measure(
                kind.name,
                meter,
                make,
                pour=max(20, int(pour * kind.share)),
                drip=max(20, int(drip * kind.share)),
                per_second=20 * kind.share,
            )


class Bench:
    """Starts services as a deployment would, over given servers.

    Args:
        nats_url: The bus.
        redis_url: Leases.
        folder: Where documents, directories and logs go.
    """

    def __init__(self, nats_url: str, redis_url: str, folder: Path) -> None:
        self._url = nats_url
        self._folder = folder
        sources = folder / "sources.yaml"
        sources.write_text(f"sources:\n  {SOURCE}:\n    kind: console\n    open: true\n")
        script = folder / "script.yaml"
        script.write_text(SCRIPT)
        executor = folder / "executor.yaml"
        executor.write_text(AGENT.format(script=script, home=folder / "agent"))
        self._environment = {
            "REMIT_NATS_URL": nats_url,
            "REMIT_REDIS_URL": redis_url,
            "REMIT_SOURCES_FILE": str(sources),
            "REMIT_EXECUTOR_FILE": str(executor),
            "REMIT_WORK_ROOT": str(folder / "work"),
            "REMIT_PANEL_OPEN": "true",
            "REMIT_DATA_DIR": str(folder / "panel"),
        }

    async def apply_policy(self) -> None:
        """Bring the benchmark's Policy into force."""
        bus = await NatsBus.connect(self._url, name="bench")
        document = PolicyInForce(
            policy=POLICY, text="", applied_at=datetime.now(UTC), applied_by="bench"
        )
        await bus.publish(message_of(document, id=POLICY.version, source="bench"))
        await bus.close()

    async def idle(self) -> list[Idle]:
        """Start every service by itself, and return what it takes."""
        found: list[Idle] = []
        for name in SERVICES:
            program = await self._start(name)
            async with running([program]):
                found.append(program.idle())
        return found

    @asynccontextmanager
    async def deployment(self, *, watched: bool = False) -> AsyncIterator[Deployment]:
        """Run the services; ``watched`` adds the panel, which reads along and takes all traces."""
        programs: list[Program] = []
        extra: dict[str, str] = {}
        if watched:
            panel = await self._start("panel")
            programs.append(panel)
            await panel.until_ready()
            extra["REMIT_PANEL_URL"] = f"http://127.0.0.1:{panel.port}"
        programs += [await self._start(name, **extra) for name in SERVICES if name != "panel"]
        async with running(programs):
            yield Deployment(self._url, "watched" if watched else "plain")

    async def _start(self, name: str, **extra: str) -> Program:
        log = self._folder / f"{name}.log"
        return await Program.start(
            name, python(f"remit.{name}"), {**self._environment, **extra}, log
        )


def _trigger(kind: Kind, name: str) -> Trigger:
    now = datetime.now(UTC)
    thread = ThreadKey(f"{SOURCE}:{name}")
    return Trigger(
        id=TriggerId(f"{thread}/1"),
        source=SOURCE,
        kind="message",
        actor=Actor(id=kind.actor, actor_class=ActorClass.PERSON, name=kind.actor),
        addressing=Addressing.DIRECT,
        scope=ReceivingScope(kind=ScopeKind.DIRECT, name=name),
        occurred_at=now,
        received_at=now,
        received_by=Reception.CONSOLE,
        threads=(thread,),
        channels=(Address(source=SOURCE, thread=thread, kind="conversation", target=name),),
        text=kind.text,
    )


AGENT = """\
agent:
  command: [remit-agent, --model-kind, scripted, --script, {script}]
  variables: {{REMIT_AGENT_HOME: {home}}}
permissions:
  allow: [other]
"""
SCRIPT = """\
turns:
  - steps:
      - text: Done.
        tools:
          - name: mcp__remit__report
            args: {kind: ready, text: Done., final: true}
      - text: That is all.
"""
