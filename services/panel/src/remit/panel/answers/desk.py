"""The desk: where the API and the pages ask, and get their answers off the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from remit.bus.clock import Clock
from remit.panel.answers.console import (
    Conversation,
    ConversationLine,
    conversation,
    conversations,
)
from remit.panel.answers.dead_letters import DeadLetterPage, dead_letters
from remit.panel.answers.drops import DropPage, drops
from remit.panel.answers.overview import Overview, overview
from remit.panel.answers.policy import PolicyAnswer, policy
from remit.panel.answers.threads import ThreadAnswer, thread
from remit.panel.answers.tickets import (
    TicketAnswer,
    TicketFilter,
    TicketPage,
    ticket,
    tickets,
)
from remit.panel.answers.triggers import (
    TriggerAnswer,
    TriggerFilter,
    TriggerPage,
    is_settled,
    trigger,
    triggers,
)
from remit.panel.answers.unknown import Unknown
from remit.panel.database import Database
from remit.panel.live import ChangeKind, Live
from remit.panel.traces.store import Trace, TraceStore


class Following(Protocol):
    """Whoever keeps the read model."""

    @property
    def behind(self) -> Mapping[str, int]:
        """Return, by stream, how much of what was there at the start is still to be read."""
        ...


class Desk:
    """Answers questions.

    Args:
        readmodel: What the streams say.
        traces: The last traces.
        live: Tells what changes.
        following: Says how far the streams were read.
        clock: Tells what is overdue.
        unsettled_after: How long a Trigger may be without a Disposition.
        console: The Source instance of the console.
    """

    def __init__(
        self,
        readmodel: Database,
        traces: TraceStore,
        live: Live,
        following: Following,
        clock: Clock,
        *,
        unsettled_after: timedelta,
        console: str,
    ) -> None:
        self.live = live
        self._readmodel = readmodel
        self._traces = traces
        self._following = following
        self._clock = clock
        self._unsettled_after = unsettled_after
        self._console = console

    async def overview(self) -> Overview:
        """Return what needs a person, and how the system does."""
        return await self._readmodel.read(
            partial(
                overview,
                now=self._clock.now(),
                unsettled_after=self._unsettled_after,
                behind=self._following.behind,
            )
        )

    async def triggers(self, wanted: TriggerFilter) -> TriggerPage:
        """Return a page of Triggers."""
        return await self._readmodel.read(partial(triggers, wanted))

    async def trigger(self, id: str, *, wait: float = 0) -> TriggerAnswer:
        """Return what became of a Trigger.

        Args:
            id: The Trigger.
            wait: Seconds to wait for its Disposition, if it has none yet.

        Raises:
            Unknown: There is no such Trigger, even after the wait.
        """
        if wait > 0:
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._until_settled(id)
        return await self._readmodel.read(partial(trigger, id))

    async def _until_settled(self, id: str) -> None:
        kinds = (ChangeKind.TRIGGER, ChangeKind.DISPOSITION, ChangeKind.MISSED)
        with self.live.watch(kinds=kinds, about=id) as watch:
            while not self.live.closed:
                if await self._readmodel.read(partial(is_settled, id)):
                    return
                await watch.next()

    async def thread(
        self, key: str, *, limit: int = 100, before: datetime | None = None
    ) -> ThreadAnswer:
        """Return a Thread with its history.

        Raises:
            Unknown: No Trigger ever belonged to it.
        """
        return await self._readmodel.read(partial(thread, key, limit=limit, before=before))

    async def tickets(self, wanted: TicketFilter) -> TicketPage:
        """Return a page of Tickets."""
        return await self._readmodel.read(partial(tickets, wanted))

    async def ticket(self, id: str) -> TicketAnswer:
        """Return a Ticket with its history.

        Raises:
            Unknown: There is no such Ticket.
        """
        return await self._readmodel.read(partial(ticket, id))

    async def drops(
        self,
        *,
        source: str | None = None,
        reason: str | None = None,
        limit: int = 50,
        before: int | None = None,
    ) -> DropPage:
        """Return a page of dropped events."""
        return await self._readmodel.read(
            partial(drops, source=source, reason=reason, limit=limit, before=before)
        )

    async def dead_letters(self, *, limit: int = 50, before: int | None = None) -> DeadLetterPage:
        """Return a page of dead letters."""
        return await self._readmodel.read(partial(dead_letters, limit=limit, before=before))

    async def policy(self) -> PolicyAnswer:
        """Return the Policy in force."""
        return await self._readmodel.read(policy)

    async def conversation(self, name: str) -> Conversation:
        """Return a console conversation; one in which nothing was said yet is empty."""
        return await self._readmodel.read(partial(conversation, self._console, name))

    async def conversations(self) -> tuple[ConversationLine, ...]:
        """Return the last console conversations."""
        return await self._readmodel.read(partial(conversations, self._console))

    async def trace(self, trace_id: str) -> Trace:
        """Return a trace as a tree.

        Raises:
            Unknown: Nothing of it is kept.
        """
        found = await self._traces.trace(trace_id)
        if found is None:
            raise Unknown("trace", trace_id)
        return found
