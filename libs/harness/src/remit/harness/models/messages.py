"""The `messages` adapter: Anthropic-style Messages over server-sent events.

https://docs.anthropic.com/en/api/messages-streaming
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Any

import httpx

from remit.harness.log.messages import (
    AssistantMessage,
    Block,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolCallBlock,
    ToolMessage,
)
from remit.harness.models.http import Limits, broke_off, parse_object, post_events
from remit.harness.models.port import (
    Finish,
    FinishKind,
    ModelError,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    ReasoningSignature,
    TextDelta,
    ToolCallDelta,
    UsageReport,
)

PROVIDER = "messages"
_VERSION = "2023-06-01"
_STOP_REASONS: dict[str, FinishKind] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "tool-calls",
    "max_tokens": "max-tokens",
    "model_context_window_exceeded": "max-tokens",
    "refusal": "refusal",
}


class MessagesModel:
    """A model behind `<base>/v1/messages`."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        base_url: str,
        model: str,
        api_key: str | None,
        max_tokens: int,
        context_window: int | None,
        limits: Limits,
    ) -> None:
        """Serve one model.

        Args:
            client: Makes the requests; it is closed with the model.
            base_url: Where the interface is, without `/v1/messages`.
            model: The model's name there.
            api_key: The key, sent as `x-api-key`.
            max_tokens: How many tokens an answer may hold.
            context_window: How many tokens a request may hold, where that is known.
            limits: How long a call may take.
        """
        self._client = client
        self._url = base_url.rstrip("/") + "/v1/messages"
        self._name = model
        self._headers = {"anthropic-version": _VERSION}
        if api_key:
            self._headers["x-api-key"] = api_key
        self._max_tokens = max_tokens
        self._context_window = context_window
        self._limits = limits

    @property
    def provider(self) -> str:
        """Which interface it is behind."""
        return PROVIDER

    @property
    def name(self) -> str:
        """The model's name at that interface."""
        return self._name

    @property
    def context_window(self) -> int | None:
        """How many tokens a request may hold, where that is known."""
        return self._context_window

    @property
    def max_tokens(self) -> int | None:
        """How many tokens an answer may hold."""
        return self._max_tokens

    async def aclose(self) -> None:
        """Free connections."""
        await self._client.aclose()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Ask the model once; see `Model.stream`."""
        answer = _Answer()
        events = post_events(
            self._client,
            self._url,
            headers=self._headers,
            body=self._body(request),
            limits=self._limits,
        )
        async with aclosing(events):
            async for event in events:
                for piece in answer.read(parse_object(event.data)):
                    yield piece
                if answer.finish is not None:
                    yield answer.finish
                    return
        raise broke_off(self._url)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._name,
            "max_tokens": self._max_tokens,
            "stream": True,
            "messages": wire_messages(request.messages, self._name),
        }
        if request.system:
            body["system"] = request.system
        if request.tools:
            body["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": tool.parameters,
                }
                for tool in request.tools
            ]
        return body


def wire_messages(messages: Iterable[Message], model: str) -> list[dict[str, Any]]:
    """A conversation as the interface takes it: the two roles in turn.

    Args:
        messages: The conversation without its system prompt.
        model: The model that will read it; only its own reasoning is shown to it again.
    """
    wire: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        content = _content(message, model)
        if not content:
            continue
        if wire and wire[-1]["role"] == role:
            wire[-1]["content"].extend(content)
        else:
            wire.append({"role": role, "content": content})
    return wire


def _content(message: Message, model: str) -> list[dict[str, Any]]:
    if isinstance(message, AssistantMessage):
        return _assistant_content(message, model)
    if isinstance(message, ToolMessage):
        return [
            {
                "type": "tool_result",
                "tool_use_id": message.tool_call_id,
                "content": _texts(message.content),
                "is_error": message.is_error is True,
            }
        ]
    return _texts(message.content)


def _texts(content: tuple[Block, ...]) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": block.text}
        for block in content
        if isinstance(block, TextBlock) and block.text
    ]


def _assistant_content(message: AssistantMessage, model: str) -> list[dict[str, Any]]:
    signatures = _signatures(message, model)
    content: list[dict[str, Any]] = []
    for index, block in enumerate(message.content):
        if isinstance(block, TextBlock) and block.text:
            content.append({"type": "text", "text": block.text})
        elif isinstance(block, ReasoningBlock) and index in signatures:
            content.append(
                {"type": "thinking", "thinking": block.text, "signature": signatures[index]}
            )
        elif isinstance(block, ToolCallBlock):
            content.append(
                {
                    "type": "tool_use",
                    "id": block.id,
                    "name": block.name,
                    "input": _input(block.arguments),
                }
            )
    return content


def _signatures(message: AssistantMessage, model: str) -> dict[int, str]:
    state = message.source.replay_state or {}
    response = state.get("response")
    if not isinstance(response, dict) or (response.get("kind"), response.get("model")) != (
        PROVIDER,
        model,
    ):
        return {}
    return {
        index: block["signature"]
        for index, block in enumerate(state.get("blocks", []))
        if isinstance(block, dict) and isinstance(block.get("signature"), str)
    }


def _input(arguments: str) -> dict[str, Any]:
    """The arguments as the object the interface insists on."""
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {"invalid_arguments": arguments}


class _Answer:
    """One answer as it arrives.

    Attributes:
        finish: Set once the answer is complete.
    """

    def __init__(self) -> None:
        self.finish: Finish | None = None
        self._calls: dict[int, str] = {}
        self._usage: dict[str, int] = {}
        self._stop: FinishKind = "stop"

    def read(self, event: dict[str, Any]) -> list[ModelEvent]:
        """Take in one event of the stream and give what it means."""
        match event.get("type"):
            case "message_start":
                self._count(_part(event, "message").get("usage"))
            case "content_block_start":
                return self._start(_index(event), _part(event, "content_block"))
            case "content_block_delta":
                return self._delta(_index(event), _part(event, "delta"))
            case "message_delta":
                reason = _part(event, "delta").get("stop_reason")
                if reason:
                    self._stop = _STOP_REASONS.get(reason, "stop")
                self._count(event.get("usage"))
            case "message_stop":
                self.finish = Finish(self._stop)
                return [self._usage_report()] if self._usage else []
            case "error":
                raise _stream_error(_part(event, "error"))
        return []

    def _start(self, index: int, block: dict[str, Any]) -> list[ModelEvent]:
        match block.get("type"):
            case "text":
                text = block.get("text")
                return [TextDelta(index, text)] if text else []
            case "thinking":
                return [ReasoningDelta(index, str(block.get("thinking") or ""))]
            case "tool_use":
                self._calls[index] = str(block.get("id"))
                return [ToolCallDelta(index, self._calls[index], str(block.get("name")), "")]
        return []

    def _delta(self, index: int, delta: dict[str, Any]) -> list[ModelEvent]:
        match delta.get("type"):
            case "text_delta":
                return [TextDelta(index, str(delta.get("text", "")))]
            case "thinking_delta":
                return [ReasoningDelta(index, str(delta.get("thinking", "")))]
            case "signature_delta":
                return [ReasoningSignature(index, str(delta.get("signature", "")))]
            case "input_json_delta" if index in self._calls:
                arguments = str(delta.get("partial_json", ""))
                return [ToolCallDelta(index, self._calls[index], None, arguments)]
        return []

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self._usage |= {key: value for key, value in usage.items() if type(value) is int}

    def _usage_report(self) -> UsageReport:
        return UsageReport(
            input_tokens=self._usage.get("input_tokens", 0),
            output_tokens=self._usage.get("output_tokens", 0),
            cache_read_tokens=self._usage.get("cache_read_input_tokens", 0),
            cache_write_tokens=self._usage.get("cache_creation_input_tokens", 0),
        )


def _part(event: dict[str, Any], key: str) -> dict[str, Any]:
    part = event.get(key)
    if not isinstance(part, dict):
        raise ModelError(
            f"the model sent a {event.get('type')} event without its {key}",
            code="BAD_RESPONSE",
            retryable=True,
        )
    return part


def _index(event: dict[str, Any]) -> int:
    index = event.get("index")
    if type(index) is not int:
        raise ModelError(
            f"the model sent a {event.get('type')} event without its index",
            code="BAD_RESPONSE",
            retryable=True,
        )
    return index


def _stream_error(error: dict[str, Any]) -> ModelError:
    kind = str(error.get("type", ""))
    overloaded = kind in ("overloaded_error", "api_error", "rate_limit_error", "timeout_error")
    return ModelError(
        f"the model broke off: {error.get('message') or kind or 'no reason given'}",
        code="RATE_LIMIT" if kind == "rate_limit_error" else "SERVER",
        retryable=overloaded,
    )
