"""What a client is told of each event of a session's log.

The same function serves a live session and the replay of a recorded one, so a client that loads a
session sees what a client saw that was there.
"""

from __future__ import annotations

import json
from typing import Any

from acp.helpers import text_block, tool_content
from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    CurrentModeUpdate,
    SessionInfoUpdate,
    ToolCallLocation,
    ToolCallProgress,
    ToolCallStart,
    ToolKind,
    UsageUpdate,
    UserMessageChunk,
)

from remit.harness.log.event import Event
from remit.harness.log.messages import ReasoningBlock, TextBlock, text_of
from remit.harness.log.payloads import (
    AssistantMessageRecorded,
    PermissionPreset,
    SessionTitle,
    ToolCall,
    ToolResult,
    UserMessageRecorded,
)
from remit.harness.tools.errors import UnknownToolError
from remit.harness.tools.registry import ToolView

TOOL_META = "remit.tool"
"""The key beside a tool call that holds the tool's exact name."""

Update = (
    AgentMessageChunk
    | AgentThoughtChunk
    | CurrentModeUpdate
    | SessionInfoUpdate
    | ToolCallProgress
    | ToolCallStart
    | UsageUpdate
    | UserMessageChunk
)
"""What this agent tells a client."""

_TITLE_LENGTH = 120


def live_updates(event: Event, view: ToolView, context_window: int | None) -> list[Update]:
    """What a client that is there is told of an event as it happens."""
    match event.payload:
        case UserMessageRecorded():
            return []
        case PermissionPreset(preset=preset):
            return [CurrentModeUpdate(session_update="current_mode_update", current_mode_id=preset)]
        case AssistantMessageRecorded() as payload:
            return [*_spoken(payload), *_usage(payload, context_window)]
        case _:
            return replayed_updates(event, view)


def replayed_updates(event: Event, view: ToolView) -> list[Update]:
    """What a client that loads a session is told of an event of its past."""
    match event.payload:
        case UserMessageRecorded() as message if message.source.kind == "user":
            return [
                UserMessageChunk(
                    session_update="user_message_chunk",
                    content=text_block(block.text),
                    message_id=message.id,
                )
                for block in message.content
                if isinstance(block, TextBlock)
            ]
        case AssistantMessageRecorded() as payload:
            return _spoken(payload)
        case ToolCall() as call:
            return [_started(call, view)]
        case ToolResult(message=message):
            return [
                ToolCallProgress(
                    session_update="tool_call_update",
                    tool_call_id=message.tool_call_id,
                    status="failed" if message.is_error else "completed",
                    content=[tool_content(text_block(text_of(message.content)))],
                )
            ]
        case SessionTitle(title=title):
            return [SessionInfoUpdate(session_update="session_info_update", title=title)]
        case _:
            return []


def shown_call(name: str, arguments: str, view: ToolView) -> tuple[str, ToolKind, Any]:
    """A call as a client shows it: its title, its kind, and its arguments."""
    given = _arguments(arguments)
    try:
        tool = view.get(name)
    except UnknownToolError:
        return name, "other", given
    title = " ".join(tool.summary(given).split()) if isinstance(given, dict) else name
    if len(title) > _TITLE_LENGTH:
        title = title[: _TITLE_LENGTH - 1] + "…"
    return title, tool.kind, given


def _spoken(payload: AssistantMessageRecorded) -> list[Update]:
    updates: list[Update] = []
    for block in payload.message.content:
        if isinstance(block, TextBlock) and block.text:
            updates.append(
                AgentMessageChunk(
                    session_update="agent_message_chunk",
                    content=text_block(block.text),
                    message_id=payload.message.id,
                )
            )
        elif isinstance(block, ReasoningBlock) and block.text:
            updates.append(
                AgentThoughtChunk(
                    session_update="agent_thought_chunk",
                    content=text_block(block.text),
                    message_id=payload.message.id,
                )
            )
    return updates


def _usage(payload: AssistantMessageRecorded, context_window: int | None) -> list[Update]:
    if payload.usage is None or context_window is None:
        return []
    used = payload.usage.total_tokens or 0
    return [UsageUpdate(session_update="usage_update", used=used, size=context_window)]


def _started(call: ToolCall, view: ToolView) -> ToolCallStart:
    title, kind, given = shown_call(call.name, call.arguments, view)
    path = given.get("file_path") if isinstance(given, dict) else None
    return ToolCallStart(
        session_update="tool_call",
        tool_call_id=call.call_id,
        title=title,
        kind=kind,
        status="in_progress",
        raw_input=given,
        locations=[ToolCallLocation(path=path)] if isinstance(path, str) else None,
        field_meta={TOOL_META: call.name},
    )


def _arguments(text: str) -> Any:
    try:
        return json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text
