"""Opening sessions: new ones and recorded ones."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from acp.interfaces import Client

from remit.harness.agent.follower import Follower
from remit.harness.log.session_log import SessionLog
from remit.harness.log.store import SessionStore
from remit.harness.loop.session import Services, Session
from remit.harness.loop.turn import Turn
from remit.harness.mcp.servers import McpConnections, McpLimits, Server
from remit.harness.permission import PermissionRules, preset_events
from remit.harness.scope import Scope
from remit.harness.tools.tool import ToolContext
from remit.harness.tools.workspace import Workspace


@dataclass(slots=True)
class OpenSession:
    """A session this process has open.

    Attributes:
        session: The session.
        follower: Its client.
        connections: Its MCP servers; None where it brought none.
        turn: The prompt it works on.
        work: The task that does so.
    """

    session: Session
    follower: Follower
    connections: McpConnections | None
    turn: Turn | None = None
    work: asyncio.Task[object] | None = None

    async def close(self) -> None:
        """Cancel what is under way, wait until it has settled, and let go of everything."""
        if self.turn is not None:
            self.turn.cancel("disposed")
        if self.work is not None:
            await asyncio.wait({self.work})
        if self.connections is not None:
            await self.connections.close()
        self.session.close()


@dataclass(frozen=True, slots=True)
class SessionOpener:
    """Opens sessions.

    Attributes:
        services: What all sessions share.
        store: Where their logs are.
        environment: The variables of the commands that any of them runs.
        rules: The permission rules of new sessions.
        patience: How long a client may take to answer a question, in seconds.
        limits: How long MCP servers may take.
    """

    services: Services
    store: SessionStore
    environment: Mapping[str, str]
    rules: PermissionRules
    patience: float
    limits: McpLimits

    async def create(
        self,
        client: Client,
        cwd: str,
        servers: Sequence[Server],
        variables: Mapping[str, str],
    ) -> OpenSession:
        """Open a new session.

        Args:
            client: Who follows it.
            cwd: Its directory.
            servers: Its MCP servers.
            variables: Further variables of the commands it runs.

        Raises:
            HarnessError: It cannot be opened; nothing is left of it.
        """
        session_id = self.services.new_id()
        scope = Scope(f"session {session_id}")
        connections = await self._connect(servers, scope, cwd)
        try:
            log = self.store.create(session_id, cwd)
            # The client does not know the session yet, so it is told nothing of these.
            for payload in preset_events(self.rules, log.record):
                log.append(payload)
        except BaseException:
            await self._disconnect(connections, scope)
            raise
        return self._open(client, log, cwd, scope, connections, variables)

    async def resume(
        self,
        client: Client,
        session_id: str,
        cwd: str,
        servers: Sequence[Server],
        variables: Mapping[str, str],
    ) -> OpenSession:
        """Open a recorded session; its arguments are those of `create`.

        Raises:
            HarnessError: It cannot be opened.
        """
        scope = Scope(f"session {session_id}")
        log = await asyncio.to_thread(self.store.resume, session_id, cwd)
        try:
            connections = await self._connect(servers, scope, cwd)
        except BaseException:
            log.close()
            raise
        return self._open(client, log, cwd, scope, connections, variables)

    def _open(
        self,
        client: Client,
        log: SessionLog,
        cwd: str,
        scope: Scope,
        connections: McpConnections | None,
        variables: Mapping[str, str],
    ) -> OpenSession:
        follower = Follower(
            client,
            log.record.header.id,
            registry=self.services.tools,
            scope=scope,
            context_window=self.services.model.context_window,
            patience=self.patience,
        )
        session = Session(
            log,
            services=self.services,
            scope=scope,
            context=ToolContext(Workspace.at(Path(cwd)), {**self.environment, **variables}),
            audience=follower,
        )
        return OpenSession(session, follower, connections)

    async def _connect(
        self, servers: Sequence[Server], scope: Scope, cwd: str
    ) -> McpConnections | None:
        if not servers:
            return None
        # The SDK takes a second to import: only sessions that need it wait for it, and only they.
        module = await asyncio.to_thread(importlib.import_module, "remit.harness.mcp.connect")
        connections: McpConnections = await module.connect(
            servers, registry=self.services.tools, scope=scope, cwd=cwd, limits=self.limits
        )
        return connections

    async def _disconnect(self, connections: McpConnections | None, scope: Scope) -> None:
        self.services.tools.dispose(scope)
        if connections is not None:
            await connections.close()
