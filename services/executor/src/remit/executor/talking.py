"""The agent's session of one Ticket: opened when it is needed, and what the agent was told in it.

What an agent has read is known by the markers in its own history, so that each Input is in it once,
also where an agent or a host died in the middle (INP-1).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from remit.bus.ports import Reader
from remit.domain.ticket import Ticket
from remit.executor import prompting
from remit.executor.agents import Agents, AgentSession, Opening, Turn
from remit.executor.directory import Prepared, TicketDirectory
from remit.executor.environment import Reach
from remit.executor.hearing import Arrived, earlier_inputs
from remit.executor.journal import JournalFile
from remit.executor.markers import mandate_marker, markers_in
from remit.executor.preparation import Preparation
from remit.executor.tool_server import ToolServer
from remit.telemetry import names, tracing

OnSign = Callable[[], None]


class Talk:
    """The session of one Ticket.

    Args:
        ticket: The Ticket.
        agents: The agents of this host.
        bus: Where earlier Inputs are.
        server: Serves the product's tools.
        path: Where it serves those of this Session.
        directory: The Ticket's directory.
        preparation: Knows the variables of its environment.
        journal: What is remembered.
    """

    def __init__(
        self,
        ticket: Ticket,
        *,
        agents: Agents,
        bus: Reader,
        server: ToolServer,
        path: str,
        directory: TicketDirectory,
        preparation: Preparation,
        journal: JournalFile,
    ) -> None:
        self._ticket = ticket
        self._agents = agents
        self._bus = bus
        self._server = server
        self._path = path
        self._directory = directory
        self._preparation = preparation
        self._journal = journal
        self._session: AgentSession | None = None
        self._introduced = False
        self._read: frozenset[int] = frozenset()

    async def open(self, prepared: Prepared) -> None:
        """Open the session, unless it is open: load the one that there was, or begin one.

        Raises:
            AgentFailed: There is no session.
        """
        if self._session is None:
            self._session = await self._opened(prepared)

    async def give(
        self, inputs: Sequence[Arrived], prepared: Prepared, *, resumed: bool, on_sign: OnSign
    ) -> Turn:
        """Give the agent those of ``inputs`` that it has not read, and have a turn.

        Args:
            inputs: What is to be read, in order.
            prepared: The Ticket's directory.
            resumed: They were being given before.
            on_sign: See `AgentSession.prompt`.

        Raises:
            AgentFailed: The turn did not come to its end. What the agent read of it, only its
                history can tell: close the session, and the next call loads it.
        """
        session = self._open_one()
        texts = await self._texts(inputs, prepared, resumed=resumed)
        turn = await session.prompt(texts, on_sign=on_sign)
        self._introduced = True
        self._read |= {one.number for one in inputs}
        return turn

    async def remind(self, text: str, *, on_sign: OnSign) -> Turn:
        """Tell the agent something, and have a turn.

        Raises:
            AgentFailed: The turn did not come to its end.
        """
        return await self._open_one().prompt([text], on_sign=on_sign)

    async def close(self) -> None:
        """Let the agent let go of the session; it is loaded again when it is needed."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    def _open_one(self) -> AgentSession:
        if self._session is None:
            raise RuntimeError("a turn needs a session that is open")
        return self._session

    async def _opened(self, prepared: Prepared) -> AgentSession:
        journal = self._journal.now
        known = journal.session if journal.agent == self._agents.name else None
        facts = {names.TICKET_ID: self._ticket.id, names.EXECUTOR: self._agents.name}
        with tracing.span(names.SPAN_SESSION, attributes=facts):
            # Both take a second the first time, one in this process and one in another.
            tools_url, _ = await asyncio.gather(self._server.url(self._path), self._agents.start())
            session = await self._agents.open(
                Opening(
                    directory=self._directory.work,
                    tools_url=tools_url,
                    variables=self._preparation.environment(prepared).open_values(Reach.AGENT),
                    session=known,
                )
            )
        if session.id != known:
            await self._journal.note(agent=self._agents.name, session=session.id)
        self._read = markers_in(session.history, self._ticket.id, journal.key)
        self._introduced = mandate_marker(self._ticket.id, journal.key) in session.history
        return session

    async def _texts(
        self, inputs: Sequence[Arrived], prepared: Prepared, *, resumed: bool
    ) -> list[str]:
        key = self._journal.now.key
        unread = [one.input for one in inputs if one.number not in self._read]
        texts = [] if self._introduced else await self._introduction(inputs, prepared)
        if not unread:
            return [*texts, prompting.going_on()]
        if resumed and self._introduced:
            texts.append(prompting.interrupted())
        return [*texts, *(prompting.shown(one, key) for one in unread)]

    async def _introduction(self, inputs: Sequence[Arrived], prepared: Prepared) -> list[str]:
        """Return what a new session is told first; where another one was lost, all it was told."""
        key = self._journal.now.key
        told = self._preparation.environment(prepared).shown(Reach.AGENT)
        texts = [prompting.opening(self._ticket, key=key, branch=prepared.branch, variables=told)]
        before = inputs[0].number if inputs else self._ticket.delivered + 1
        if before > 1:
            earlier = await earlier_inputs(self._bus, self._ticket.id, before=before)
            texts.append(prompting.again([one.input for one in earlier], key))
        return texts
