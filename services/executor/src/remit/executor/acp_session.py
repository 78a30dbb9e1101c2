"""The Agent Client Protocol, client side: one link to an agent's process, and its sessions.

Protocol: https://agentclientprotocol.com (version 1), by its official package. Importing this module
loads that package, so it is imported when the first session is opened.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import acp
from acp import schema

from remit.executor.agents import AgentFailed, Opening, Trouble, Turn, TurnEnd
from remit.executor.permissions import Option, answer
from remit.telemetry.logs import Logger, logger

if TYPE_CHECKING:
    from remit.executor.agent_process import AgentCommand

BUFFER = 50 * 1024 * 1024
"""Bytes that one message of an agent may have."""
META_VARIABLES = "remit/variables"
"""The key in ``_meta`` of a new or loaded session that its variables are under (ENV-1)."""
_LAST_WORDS = 4_000
_HISTORY = 20_000_000

End = Callable[[], Awaitable[None]]


@dataclass
class _Talk:
    """What the agent says in one session, as it comes in."""

    history: list[str] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    calls: dict[str, str | None] = field(default_factory=dict)
    on_sign: Callable[[], None] | None = None
    loading: bool = False

    def update(self, update: Any) -> None:
        """Take one update."""
        if self.loading:
            if isinstance(update, schema.UserMessageChunk):
                self.history.append(_text_of(update.content))
            return
        if isinstance(update, schema.ToolCallStart | schema.ToolCallProgress):
            if update.kind is not None:
                self.calls[update.tool_call_id] = update.kind
            self.words.clear()
        elif isinstance(update, schema.AgentMessageChunk):
            self.words.append(_text_of(update.content))
        elif not isinstance(update, schema.AgentThoughtChunk | schema.AgentPlanUpdate):
            return  # News about the session, not work on a prompt.
        if self.on_sign is not None:
            self.on_sign()


def _text_of(content: Any) -> str:
    return content.text if isinstance(content, schema.TextContentBlock) else ""


class _Callbacks:
    """What the agent may ask of us. It may read and write files and run commands by itself only."""

    def __init__(self, command: AgentCommand, log: Logger) -> None:
        self._allow = command.allow
        self._log = log
        self.talks: dict[str, _Talk] = {}

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Take an update of a session."""
        talk = self.talks.get(session_id)
        if talk is not None:
            talk.update(update)

    async def request_permission(
        self,
        session_id: str,
        tool_call: schema.ToolCallUpdate,
        options: list[schema.PermissionOption],
        **_: Any,
    ) -> schema.RequestPermissionResponse:
        """Answer by configuration. The request may name the call only: its kind came before."""
        talk = self.talks.get(session_id)
        known = talk.calls.get(tool_call.tool_call_id) if talk else None
        kind = tool_call.kind or known
        offered = [Option(id=option.option_id, kind=option.kind) for option in options]
        given = answer(kind, offered, self._allow)
        self._log.info(
            "permission asked",
            session=session_id,
            kind=kind,
            title=tool_call.title,
            allowed=given.allowed,
        )
        if given.option is None:
            return schema.RequestPermissionResponse(
                outcome=schema.DeniedOutcome(outcome="cancelled")
            )
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(outcome="selected", option_id=given.option)
        )


class Link:
    """The conversation with one process of an agent.

    Attributes:
        broken: The process closed its end.
    """

    def __init__(
        self,
        command: AgentCommand,
        connection: acp.ClientSideConnection,
        callbacks: _Callbacks,
        capabilities: schema.AgentCapabilities,
        end: End,
    ) -> None:
        self._command = command
        self._connection = connection
        self._callbacks = callbacks
        self._capabilities = capabilities
        self._end = end
        self._log = logger("remit.executor.agent").bind(agent=command.name)
        self.broken = False

    async def open(self, opening: Opening) -> Session:
        """Open a session; see `remit.executor.agents.Agents.open`."""
        try:
            async with asyncio.timeout(self._command.start_limit):
                return await self._load(opening) or await self._new(opening)
        except acp.RequestError as error:
            raise self._failed(Trouble.UNUSABLE, str(error)) from error
        except ConnectionError as error:
            raise self._died(error) from error
        except TimeoutError as error:
            self.broken = True
            detail = f"no session within {self._command.start_limit:g} s"
            raise self._failed(Trouble.UNUSABLE, detail) from error

    async def _load(self, opening: Opening) -> Session | None:
        """Load the session that is asked for; None where the agent cannot."""
        session = opening.session
        if session is None or not self._capabilities.load_session:
            return None
        talk = self._callbacks.talks[session] = _Talk(loading=True)
        try:
            await self._connection.load_session(session_id=session, **_arguments(opening))
        except acp.RequestError as error:
            self._callbacks.talks.pop(session, None)
            self._log.warning("a session cannot be loaded", session=session, reason=str(error))
            return None
        talk.loading = False
        return Session(session, talk, self)

    async def _new(self, opening: Opening) -> Session:
        opened = await self._connection.new_session(**_arguments(opening))
        talk = self._callbacks.talks[opened.session_id] = _Talk()
        return Session(opened.session_id, talk, self)

    async def close(self) -> None:
        """End the conversation; what is under way fails."""
        self.broken = True
        await _close(self._connection)

    def _died(self, error: ConnectionError) -> AgentFailed:
        self.broken = True
        return self._failed(Trouble.DIED, str(error))

    def _failed(self, trouble: Trouble, detail: str) -> AgentFailed:
        return AgentFailed(self._command.name, trouble, detail)

    # -- for its sessions ---------------------------------------------------------------

    async def prompt(self, session: str, texts: Sequence[str]) -> TurnEnd:
        """Have one turn."""
        blocks: list[Any] = [schema.TextContentBlock(type="text", text=text) for text in texts]
        request = asyncio.ensure_future(self._connection.prompt(session_id=session, prompt=blocks))
        try:
            response = await asyncio.shield(request)
        except asyncio.CancelledError:
            await self._stop(session, request)
            raise
        except acp.RequestError as error:
            raise self._failed(Trouble.UNUSABLE, str(error)) from error
        except ConnectionError as error:
            raise self._died(error) from error
        return TurnEnd(response.stop_reason)

    async def _stop(self, session: str, request: asyncio.Future[Any]) -> None:
        """Cancel a turn. An agent that does not stop is ended: its other sessions are loaded again."""
        try:
            async with asyncio.timeout(self._command.stop_limit):
                await self._connection.cancel(session_id=session)
                await asyncio.wait({request})
        except ConnectionError:
            pass  # It is gone, and its turn with it.
        except TimeoutError:
            self._log.warning("a cancelled turn does not stop, the agent is ended", session=session)
            await self._end()
        await asyncio.gather(request, return_exceptions=True)

    async def close_session(self, session: str) -> None:
        """Let the agent let go of a session, if it can."""
        self._callbacks.talks.pop(session, None)
        sessions = self._capabilities.session_capabilities
        if sessions is None or sessions.close is None:
            return
        try:
            async with asyncio.timeout(self._command.stop_limit):
                await self._connection.close_session(session_id=session)
        except (acp.RequestError, ConnectionError, TimeoutError) as error:
            self._log.info("a session was not closed", session=session, reason=str(error))


class Session:
    """One session; see `remit.executor.agents.AgentSession`."""

    def __init__(self, session: str, talk: _Talk, link: Link) -> None:
        self._talk = talk
        self._link = link
        self.id = session
        self.history = "".join(talk.history)[-_HISTORY:]
        talk.history.clear()

    async def prompt(self, texts: Sequence[str], *, on_sign: Callable[[], None]) -> Turn:
        """Give the agent ``texts``; see `remit.executor.agents.AgentSession.prompt`."""
        self._talk.words.clear()
        self._talk.calls.clear()
        self._talk.on_sign = on_sign
        try:
            end = await self._link.prompt(self.id, texts)
        finally:
            self._talk.on_sign = None
        return Turn(end=end, last_words="".join(self._talk.words).strip()[-_LAST_WORDS:])

    async def close(self) -> None:
        """Let the agent let go of it."""
        await self._link.close_session(self.id)


def _arguments(opening: Opening) -> dict[str, Any]:
    tools = schema.HttpMcpServer(type="http", name="remit", url=opening.tools_url, headers=[])
    return {
        "cwd": str(opening.directory),
        "mcp_servers": [tools],
        META_VARIABLES: opening.variables,
    }


async def _close(connection: acp.ClientSideConnection) -> None:
    # Closing reports what had failed before, such as a pipe that nobody reads any more.
    with suppress(ConnectionError):
        await connection.close()


async def connect(command: AgentCommand, process: asyncio.subprocess.Process, end: End) -> Link:
    """Greet an agent on the pipes of its process.

    Args:
        command: How it was started.
        process: The process.
        end: Ends it.

    Raises:
        AgentFailed: It does not answer as it must, or cannot use the product's tools.
    """
    log = logger("remit.executor.agent").bind(agent=command.name)
    callbacks = _Callbacks(command, log)
    as_client: Any = callbacks  # It leaves out what it does not offer, and the agent is told so.
    connection = acp.connect_to_agent(as_client, process.stdin, process.stdout)
    try:
        greeted = await connection.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=schema.ClientCapabilities(),
            client_info=schema.Implementation(name="remit", version="1"),
        )
    except (acp.RequestError, ConnectionError) as error:
        await _close(connection)
        raise AgentFailed(command.name, Trouble.CANNOT_START, str(error)) from error
    except BaseException:
        await _close(connection)
        raise
    capabilities = greeted.agent_capabilities or schema.AgentCapabilities()
    if greeted.protocol_version != acp.PROTOCOL_VERSION:
        await _close(connection)
        detail = f"it speaks version {greeted.protocol_version} of the protocol, not 1"
        raise AgentFailed(command.name, Trouble.UNUSABLE, detail)
    if not (capabilities.mcp_capabilities and capabilities.mcp_capabilities.http):
        await _close(connection)
        detail = "it takes no MCP servers over HTTP, so it cannot report"
        raise AgentFailed(command.name, Trouble.UNUSABLE, detail)
    log.info("agent ready", load=bool(capabilities.load_session), pid=process.pid)
    return Link(command, connection, callbacks, capabilities, end)
