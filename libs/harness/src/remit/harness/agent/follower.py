"""A client as the audience of one session."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from acp import RequestError
from acp.interfaces import Client
from acp.schema import AllowedOutcome, PermissionOption, ToolCallUpdate

from remit.harness.agent.updates import Update, live_updates, shown_call
from remit.harness.log.event import Event
from remit.harness.log.messages import ToolCallBlock
from remit.harness.log.payloads import ApprovalOutcome
from remit.harness.scope import Scope
from remit.harness.tools.registry import ToolRegistry, ToolView
from remit.harness.tools.tool import Tool

_logger = logging.getLogger(__name__)

ALLOW_ONCE = "allow-once"
"""The only choice that lets a tool run."""

_DELIVERY = 60.0
_OPTIONS = [
    PermissionOption(option_id=ALLOW_ONCE, name="Allow once", kind="allow_once"),
    PermissionOption(option_id="reject-once", name="Reject", kind="reject_once"),
]


class Follower:
    """Tells a client what happens in a session, and asks it for permission."""

    def __init__(
        self,
        client: Client,
        session_id: str,
        *,
        registry: ToolRegistry,
        scope: Scope,
        context_window: int | None,
        patience: float,
    ) -> None:
        """Follow a session for a client.

        Args:
            client: The client.
            session_id: The session.
            registry: Where its tools are.
            scope: Its scope there.
            context_window: How many tokens its model's requests may hold.
            patience: How long the client may take to answer a question, in seconds.
        """
        self._client = client
        self._session_id = session_id
        self._registry = registry
        self._scope = scope
        self._context_window = context_window
        self._patience = patience

    async def recorded(self, event: Event) -> None:
        """Tell the client of an event."""
        for update in live_updates(event, self._view(), self._context_window):
            await self.tell(update)

    async def tell(self, update: Update) -> None:
        """Send one update; a client that has gone, or does not read, misses it."""
        try:
            async with asyncio.timeout(_DELIVERY):
                await self._client.session_update(session_id=self._session_id, update=update)
        except (TimeoutError, ConnectionError) as error:
            _logger.warning(
                "session %s: the client missed an update: %s",
                self._session_id,
                error or type(error).__name__,
            )

    async def ask(self, call: ToolCallBlock, tool: Tool, arguments: Any) -> ApprovalOutcome:  # noqa: ARG002 -- the client reads the arguments as the model gave them
        """Ask the client whether a call may run: anything but a plain yes is a no."""
        title, kind, given = shown_call(call.name, call.arguments, self._view())
        shown = ToolCallUpdate(
            tool_call_id=call.id, title=title, kind=kind, status="pending", raw_input=given
        )
        try:
            async with asyncio.timeout(self._patience):
                answer = await self._client.request_permission(
                    session_id=self._session_id, tool_call=shown, options=_OPTIONS
                )
        except (TimeoutError, ConnectionError, RequestError, ValueError) as error:
            _logger.warning(
                "session %s: no answer whether %s may run: %s",
                self._session_id,
                call.name,
                error or type(error).__name__,
            )
            return "unavailable"
        if not isinstance(answer.outcome, AllowedOutcome):
            return "cancelled"
        return "allowed-once" if answer.outcome.option_id == ALLOW_ONCE else "rejected"

    def _view(self) -> ToolView:
        return self._registry.view(self._scope)
