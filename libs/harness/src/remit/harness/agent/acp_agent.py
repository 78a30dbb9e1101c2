"""The agent that an ACP client talks to."""

from __future__ import annotations

import asyncio
import logging
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError
from acp.interfaces import Client
from acp.schema import (
    AgentCapabilities,
    ClientCapabilities,
    CloseSessionResponse,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    McpCapabilities,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    SessionInfo,
    SessionListCapabilities,
    SessionMode,
    SessionModeState,
    SessionResumeCapabilities,
    SetSessionModeResponse,
    StopReason,
    Usage,
)

from remit.harness.agent.opening import OpenSession, SessionOpener
from remit.harness.agent.prompts import PromptBlock, user_message
from remit.harness.agent.servers import NamedServer, servers_of
from remit.harness.agent.updates import replayed_updates
from remit.harness.agent.variables import variables_of
from remit.harness.errors import HarnessError
from remit.harness.log.errors import LogError, SessionNotFoundError
from remit.harness.loop.asking import Retrying
from remit.harness.loop.session import Session
from remit.harness.loop.turn import End, Turn, TurnOutcome
from remit.harness.mcp.servers import McpServerError
from remit.harness.permission import PRESETS
from remit.harness.version import VERSION

_logger = logging.getLogger(__name__)

_PAGE = 100
_STOP_REASONS: dict[End, StopReason] = {
    "completed": "end_turn",
    "cancelled": "cancelled",
    "max-tokens": "max_tokens",
    "refusal": "refusal",
    "max-steps": "max_turn_requests",
}


class AcpAgent:
    """Serves one client with any number of sessions.

    The method names and their arguments are those of the `acp` package's `Agent`.
    """

    def __init__(self, opener: SessionOpener, *, retrying: Retrying, max_steps: int) -> None:
        """Make an agent.

        Args:
            opener: Opens sessions.
            retrying: How failed model calls are tried again.
            max_steps: How many steps one prompt may take.
        """
        self._opener = opener
        self._retrying = retrying
        self._max_steps = max_steps
        self._client: Client | None = None
        self._sessions: dict[str, OpenSession] = {}
        self._opening: set[str] = set()

    def on_connect(self, conn: Client) -> None:
        """Take note of the client."""
        self._client = conn

    async def initialize(
        self,
        protocol_version: int,
        client_capabilities: ClientCapabilities | None = None,  # noqa: ARG002
        client_info: Implementation | None = None,
        **_: Any,
    ) -> InitializeResponse:
        """Say what this agent can do."""
        if client_info is not None:
            _logger.info("client %s %s", client_info.name, client_info.version)
        return InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(
                    image=False, audio=False, embedded_context=True
                ),
                mcp_capabilities=McpCapabilities(http=True, sse=False),
                session_capabilities=SessionCapabilities(
                    list=SessionListCapabilities(),
                    resume=SessionResumeCapabilities(),
                    close=SessionCloseCapabilities(),
                ),
            ),
            auth_methods=[],
            agent_info=Implementation(name="remit-agent", title="Remit agent", version=VERSION),
        )

    async def new_session(
        self, cwd: str, mcp_servers: list[NamedServer] | None = None, **meta: Any
    ) -> NewSessionResponse:
        """Open a new session for a directory."""
        directory = _directory(cwd)
        try:
            opened = await self._opener.create(
                self._connected(), directory, servers_of(mcp_servers), variables_of(meta)
            )
        except HarnessError as error:
            raise _refusal(error) from error
        self._sessions[opened.session.id] = opened
        return NewSessionResponse(session_id=opened.session.id, modes=_modes(opened.session))

    async def load_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[NamedServer] | None = None,
        **meta: Any,
    ) -> LoadSessionResponse:
        """Open a recorded session and tell the client all that happened in it."""
        opened = await self._resume(cwd, session_id, mcp_servers, meta)
        view = opened.session.tools()
        for event in opened.session.record.events:
            for update in replayed_updates(event, view):
                await opened.follower.tell(update)
        return LoadSessionResponse(modes=_modes(opened.session))

    async def resume_session(
        self,
        cwd: str,
        session_id: str,
        mcp_servers: list[NamedServer] | None = None,
        **meta: Any,
    ) -> ResumeSessionResponse:
        """Open a recorded session without telling its past."""
        opened = await self._resume(cwd, session_id, mcp_servers, meta)
        return ResumeSessionResponse(modes=_modes(opened.session))

    async def list_sessions(
        self, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> ListSessionsResponse:
        """List the recorded sessions, the latest first, a page at a time."""
        start = _page_start(cursor)
        directory = None if cwd is None else _real(cwd)
        summaries = await asyncio.to_thread(self._opener.store.list, directory)
        following = str(start + _PAGE) if start + _PAGE < len(summaries) else None
        return ListSessionsResponse(
            sessions=[
                SessionInfo(
                    session_id=summary.session_id,
                    cwd=summary.cwd,
                    title=summary.title,
                    updated_at=datetime.fromtimestamp(summary.updated_at, UTC).isoformat(),
                )
                for summary in summaries[start : start + _PAGE]
            ],
            next_cursor=following,
        )

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> SetSessionModeResponse:
        """Put another permission preset in force."""
        opened = self._get(session_id)
        rules = PRESETS.get(mode_id)
        if rules is None:
            known = ", ".join(PRESETS)
            raise RequestError(-32602, f"there is no mode {mode_id}; the modes are {known}")
        await opened.session.put_in_force(rules)
        return SetSessionModeResponse()

    async def prompt(self, session_id: str, prompt: list[PromptBlock], **_: Any) -> PromptResponse:
        """Work on a prompt until the model is done with it."""
        opened = self._get(session_id)
        if opened.work is not None:
            raise RequestError(
                -32600,
                f"session {session_id} is working on a prompt already; "
                "wait until it is done, or cancel it",
            )
        message = user_message(prompt, self._opener.services.new_id)
        turn = Turn(opened.session, message, retrying=self._retrying, max_steps=self._max_steps)
        opened.turn = turn
        opened.work = work = asyncio.create_task(self._work(opened, turn))
        outcome = await asyncio.shield(work)
        return _response(outcome)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Cancel the prompt a session works on; its answer comes as soon as it has settled."""
        opened = self._sessions.get(session_id)
        if opened is not None and opened.turn is not None:
            opened.turn.cancel("user")

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        """Let go of a session; it stays recorded."""
        opened = self._get(session_id)
        del self._sessions[session_id]
        await opened.close()
        return CloseSessionResponse()

    async def shutdown(self) -> None:
        """Cancel everything, wait until it has settled and is on record, and let go of it."""
        opened = list(self._sessions.values())
        self._sessions.clear()
        await asyncio.gather(*(session.close() for session in opened))
        await self._opener.services.model.aclose()

    async def _work(self, opened: OpenSession, turn: Turn) -> TurnOutcome:
        try:
            outcome = await turn.start()
            await asyncio.to_thread(opened.session.sync)
        except LogError as error:
            await self._give_up(opened)
            raise RequestError(-32603, str(error)) from error
        except BaseException:
            await self._give_up(opened)
            raise
        finally:
            opened.turn = opened.work = None
        return outcome

    async def _give_up(self, opened: OpenSession) -> None:
        """Let go of a session whose log can no longer be kept; loading it repairs the log."""
        opened.turn = opened.work = None
        if self._sessions.pop(opened.session.id, None) is not None:
            await opened.close()

    async def _resume(
        self,
        cwd: str,
        session_id: str,
        named: list[NamedServer] | None,
        meta: dict[str, Any],
    ) -> OpenSession:
        directory = _directory(cwd)
        if session_id in self._sessions or session_id in self._opening:
            raise RequestError(
                -32600, f"session {session_id} is open already; close it before it is opened again"
            )
        self._opening.add(session_id)
        try:
            opened = await self._opener.resume(
                self._connected(), session_id, directory, servers_of(named), variables_of(meta)
            )
        except HarnessError as error:
            raise _refusal(error) from error
        finally:
            self._opening.discard(session_id)
        self._sessions[session_id] = opened
        return opened

    def _get(self, session_id: str) -> OpenSession:
        opened = self._sessions.get(session_id)
        if opened is None:
            raise RequestError(-32002, f"session {session_id} is not open; create or load it first")
        return opened

    def _connected(self) -> Client:
        if self._client is None:
            raise RequestError(-32603, "no client is connected")
        return self._client


def _directory(cwd: str) -> str:
    """A session's directory with its symbolic links followed: the same one always has one name."""
    if not Path(cwd).is_absolute():
        raise RequestError(-32602, f"cwd {cwd} is not an absolute path")
    real = _real(cwd)
    if not Path(real).is_dir():
        raise RequestError(-32602, f"cwd {cwd} is not a directory")
    return real


def _real(path: str) -> str:
    return os.path.realpath(path)


def _page_start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isdecimal():
        raise RequestError(-32602, f"cursor {cursor} is none that this agent gave")
    return int(cursor)


def _modes(session: Session) -> SessionModeState:
    return SessionModeState(
        current_mode_id=session.rules.preset,
        available_modes=[
            SessionMode(id=rules.preset, name=rules.title, description=rules.description)
            for rules in PRESETS.values()
        ],
    )


def _response(outcome: TurnOutcome) -> PromptResponse:
    if outcome.end == "failed":
        failure = outcome.failure
        message = failure.message if failure is not None else "no reason is known"
        raise RequestError(
            -32603,
            f"the turn failed: {message}",
            failure.to_json() if failure is not None else None,
        )
    usage = outcome.usage
    return PromptResponse(
        stop_reason=_STOP_REASONS[outcome.end],
        usage=Usage(
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cached_read_tokens=usage.cache_read_tokens,
            cached_write_tokens=usage.cache_write_tokens,
            total_tokens=usage.total_tokens or 0,
        ),
    )


def _refusal(error: HarnessError) -> RequestError:
    code = -32603
    if isinstance(error, SessionNotFoundError):
        code = -32002
    elif isinstance(error, McpServerError):
        code = -32602
    return RequestError(code, str(error))
