"""A live session: its log, what it can do, and who follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from remit.harness.clock import Clock, IdSource
from remit.harness.log.event import Event, Replace
from remit.harness.log.messages import ToolCallBlock
from remit.harness.log.payloads import ApprovalOutcome, Payload
from remit.harness.log.record import Record
from remit.harness.log.session_log import SessionLog
from remit.harness.models.port import Model
from remit.harness.permission import PermissionRules, current_rules, preset_events
from remit.harness.scope import Scope
from remit.harness.tools.registry import ToolRegistry, ToolView
from remit.harness.tools.tool import Tool, ToolContext


class Audience(Protocol):
    """Whoever follows a session and answers for it."""

    async def recorded(self, event: Event) -> None:
        """Take note of an event that is in the log now.

        Events come in the order of the log, one at a time. A follower that has gone raises
        nothing: the work does not depend on it.
        """
        ...

    async def ask(self, call: ToolCallBlock, tool: Tool, arguments: Any) -> ApprovalOutcome:
        """Ask a person whether a call may run.

        Returns:
            What they said; `unavailable` where there was no answer. Never raises for that.
        """
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """What all sessions of a process share.

    Attributes:
        model: Whom to ask.
        tools: The tools there are, for everybody and for single sessions.
        clock: The time.
        new_id: Names messages and requests.
        system_prompt: What every session's model is told first.
    """

    model: Model
    tools: ToolRegistry
    clock: Clock
    new_id: IdSource
    system_prompt: str


class Session:
    """One session of this process.

    Attributes:
        services: What it shares with the others.
        scope: The key of what is registered for it alone.
        context: What its tools may know.
        audience: Who follows it.
    """

    def __init__(
        self,
        log: SessionLog,
        *,
        services: Services,
        scope: Scope,
        context: ToolContext,
        audience: Audience,
    ) -> None:
        self.services = services
        self.scope = scope
        self.context = context
        self.audience = audience
        self._log = log

    @property
    def id(self) -> str:
        """The session's id."""
        return self._log.record.header.id

    @property
    def record(self) -> Record:
        """Everything that happened so far."""
        return self._log.record

    @property
    def rules(self) -> PermissionRules:
        """The permission rules in force."""
        return current_rules(self._log.record)

    def tools(self) -> ToolView:
        """The tools this session has now."""
        return self.services.tools.view(self.scope)

    async def note(
        self,
        payload: Payload,
        *,
        replace: Replace | None = None,
        sources: tuple[int, ...] = (),
    ) -> Event:
        """Record what happened and tell the audience.

        Raises:
            LogError: It cannot be recorded; the session cannot go on.
        """
        event = self._log.append(payload, replace=replace, sources=sources)
        await self.audience.recorded(event)
        return event

    async def put_in_force(self, rules: PermissionRules) -> None:
        """Let a permission preset apply from here on."""
        for payload in preset_events(rules, self.record):
            await self.note(payload)

    def sync(self) -> None:
        """Wait until everything is on the disk; this blocks."""
        self._log.sync()

    def close(self) -> None:
        """Let go of the log and of everything registered for this session (AGS-3)."""
        self.services.tools.dispose(self.scope)
        self._log.close()
