"""What each kind of event says: the `data` of a row, typed.

Only the events this harness writes or reads have a type of their own here. The others that the
format knows are named in `OPAQUE_TYPES`: they are accepted and kept, and nothing reads them.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from remit.harness.log.messages import (
    AssistantMessage,
    DeveloperMessage,
    SystemMessage,
    ToolMessage,
    UserMessage,
)
from remit.harness.log.model import Flag, Milliseconds, Ordinal, Part, Position

Preset = Literal["read-only", "workspace-write", "danger-full-access"]
"""A named set of permissions."""


class Payload(Part):
    """The `data` of one event."""

    TYPE: ClassVar[str]


class PermissionPreset(Payload):
    """The permission preset in force from here on; the last one counts."""

    TYPE = "permission/preset"
    preset: str


class SandboxMode(Payload):
    """How far tools may reach from here on; the last one counts."""

    TYPE = "sandbox/mode"
    mode: Preset
    source: str | None = None


class ApprovalPolicy(Payload):
    """Whether people are asked from here on; the last one counts."""

    TYPE = "approval/policy"
    policy: Literal["ask", "never"]
    source: str | None = None


class InboxSpliced(Payload):
    """Messages entered or left the queue of what the agent is to read."""

    TYPE = "agent/inbox/spliced"
    target: Literal["next-turn", "next-step"]
    start: Position
    removed_count: Annotated[int, Field(strict=True, ge=0)] | None = None
    inserted: tuple[UserMessage, ...]
    outcome: Literal["canceled"] | None = None


class TurnStart(Payload):
    """Work on a prompt begins."""

    TYPE = "turn/start"
    turn: Ordinal


class LlmFailure(Part):
    """Why a model gave no answer."""

    message: str
    code: str
    status: int | None = None
    provider_retry_after_ms: int | None = None


class CancelCause(Part):
    """Who ended a turn early: `user`, `parent`, `hook` or `disposed`."""

    kind: str


class TurnEndReason(Part):
    """Why a turn ended; `error` comes with its failure, `aborted` with its cause."""

    kind: Literal["completed", "aborted", "blocked", "error", "max-tokens", "interrupted", "forked"]
    error: LlmFailure | None = None
    reason: CancelCause | None = None


class TurnEnd(Payload):
    """Work on a prompt is over."""

    TYPE = "turn/end"
    turn: Ordinal
    reason: TurnEndReason


class StepStart(Payload):
    """One model call and its tools begin."""

    TYPE = "step/start"
    turn: Ordinal
    step: Ordinal


class StepEnd(Payload):
    """One model call and its tools are over."""

    TYPE = "step/end"
    turn: Ordinal
    step: Ordinal


class SystemMessageRecorded(Payload):
    """A system message joins the conversation."""

    TYPE = "system/message"
    turn: Ordinal
    step: Ordinal
    message: SystemMessage


class DeveloperMessageRecorded(Payload):
    """A developer message joins the conversation."""

    TYPE = "developer/message"
    turn: Ordinal
    step: Ordinal
    message: DeveloperMessage
    header_seq: Position | None = None


class UserMessageRecorded(Payload, UserMessage):
    """A user message joins the conversation; the message itself is the data."""

    TYPE = "user/message"


class Usage(Part):
    """Tokens one model call used."""

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    total_tokens: int | None = None
    reasoning_tokens: int | None = None


class AssistantMessageRecorded(Payload):
    """A model's answer joins the conversation, with the stream it arrived in (LOG-4).

    Attributes:
        interrupted: Set when the answer was cut short by a cancel.
    """

    TYPE = "assistant/message"
    turn: Ordinal
    step: Ordinal
    message: AssistantMessage
    usage: Usage | None = None
    interrupted: Literal[True] | None = None
    stream: tuple[dict[str, Any], ...]


class AssistantAttempt(Payload):
    """A model call that gave no answer, with what had arrived of it."""

    TYPE = "assistant/attempt"
    turn: Ordinal
    step: Ordinal
    stream: tuple[dict[str, Any], ...]


class ToolCall(Payload):
    """A tool call the model asked for was taken up."""

    TYPE = "tool/call"
    turn: Ordinal
    step: Ordinal
    call_id: str
    name: str
    arguments: str


class ToolFailure(Part):
    """What kind of failure a tool's result is."""

    name: str
    code: str
    reason: str | None = None


class ToolResult(Payload):
    """A tool call's result joins the conversation."""

    TYPE = "tool/result"
    turn: Ordinal
    step: Ordinal
    message: ToolMessage
    error: ToolFailure | None = None
    meta: Any = None


class RequestHeader(Payload):
    """What every model request from here on carries besides the conversation."""

    TYPE = "request/header"
    header: dict[str, Any]
    reason: Literal["initial", "resume", "change", "series"]
    starts_series: Literal[True] | None = None


class RequestContext(Payload):
    """The model behind the requests from here on."""

    TYPE = "request/context"
    provider: str
    model: str
    context_window: int | None = None


class TitleSource(Part):
    """Who gave the title: `fallback`, `provider` or `user`."""

    kind: str


class SessionTitle(Payload):
    """What the session is called in lists."""

    TYPE = "session/title"
    title: str
    message_seqs: tuple[Position, ...]
    source: TitleSource


class SessionEndSeed(Payload):
    """What comes before belongs to an earlier life of the session."""

    TYPE = "session/end-seed"
    inherited: Literal[True] | None = None


class ApprovalAsked(Payload):
    """A person was asked whether a tool may run."""

    TYPE = "approval/asked"
    id: str
    tool_name: str
    call_id: str | None = None
    reason: str | None = None


ApprovalOutcome = Literal["allowed-once", "rejected", "cancelled", "unavailable"]
"""What came of asking; only the first lets the tool run."""


class ApprovalDecided(Payload):
    """What came of asking."""

    TYPE = "approval/decided"
    id: str
    outcome: ApprovalOutcome


class LlmRetry(Payload):
    """A model call failed and will be tried again after a wait."""

    TYPE = "llm/retry"
    retry_id: str
    turn: Ordinal
    step: Ordinal
    provider: str
    mode: Literal["normal", "always"]
    policy_key: str
    retry: Ordinal
    max_retries: int | None = None
    delay_ms: Annotated[float, Field(ge=0)]
    failure: LlmFailure


class LlmRetryStarted(Payload):
    """The wait is over and the model is called again."""

    TYPE = "llm/retry-started"
    retry_id: str
    turn: Ordinal
    step: Ordinal
    retry: Ordinal


class Header(Part):
    """The first line of a log: whose session it is."""

    type: Literal["session"] = "session"
    version: Literal[4] = 4
    id: Annotated[str, Field(min_length=1)]
    created_at: Milliseconds
    cwd: str | None = None
    parent_session: str | None = None
    is_seeded: Flag
    origin: Literal["subagent"] | None = None
    delegation_depth: Annotated[int, Field(strict=True, ge=0)] | None = None
    agent_preset: str | None = None


_TYPED: tuple[type[Payload], ...] = (
    PermissionPreset,
    SandboxMode,
    ApprovalPolicy,
    InboxSpliced,
    TurnStart,
    TurnEnd,
    StepStart,
    StepEnd,
    SystemMessageRecorded,
    DeveloperMessageRecorded,
    UserMessageRecorded,
    AssistantMessageRecorded,
    AssistantAttempt,
    ToolCall,
    ToolResult,
    RequestHeader,
    RequestContext,
    SessionTitle,
    SessionEndSeed,
    ApprovalAsked,
    ApprovalDecided,
    LlmRetry,
    LlmRetryStarted,
)

PAYLOADS: dict[str, type[Payload]] = {payload.TYPE: payload for payload in _TYPED}
"""The typed events, by their type."""

OPAQUE_TYPES = frozenset(
    {
        "agent-preset/selected",
        "command/done",
        "command/run",
        "compaction/end",
        "compaction/prune",
        "compaction/start",
        "compaction/summary",
        "feedback/message-delete",
        "feedback/message-put",
        "feedback/record",
        "goal/change",
        "image/offload",
        "job/registered",
        "job/settled",
        "model/selection",
        "plan/mode",
        "schedule/change",
        "subagent/catalog",
        "subagent/descriptor",
        "subagent/model-selection-policy",
        "team/member",
        "team/message/delivered",
        "team/message/queued",
        "team/task",
        "todo/write",
        "tool/ptc-dispatch",
        "tool/ptc-dispatch-start",
        "working-directory/change",
        "workspace/changes",
    }
)
"""Event types the format knows and this version only keeps."""

OPAQUE_FAMILIES = ("deliverables/", "hook/", "tool-workflow/", "web/")
"""Families of such types whose members the format does not list."""

SURFACE_TYPES = frozenset(
    {"system/message", "developer/message", "user/message", "assistant/message", "tool/result"}
)
"""The types whose events are nodes of the conversation."""
