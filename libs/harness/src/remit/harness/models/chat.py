"""The `chat` adapter: OpenAI-compatible chat completions over server-sent events.

https://platform.openai.com/docs/api-reference/chat/streaming
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from typing import Any

import httpx

from remit.harness.clock import IdSource
from remit.harness.log.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCallBlock,
    ToolMessage,
    text_of,
)
from remit.harness.models.http import Limits, broke_off, parse_object, post_events
from remit.harness.models.port import (
    Finish,
    FinishKind,
    ModelError,
    ModelEvent,
    ModelRequest,
    ReasoningDelta,
    TextDelta,
    ToolCallDelta,
    UsageReport,
)

PROVIDER = "chat"
_DONE = "[DONE]"
_FINISH_REASONS: dict[str, FinishKind] = {
    "stop": "stop",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "length": "max-tokens",
    "content_filter": "refusal",
}


class ChatModel:
    """A model behind `<base>/chat/completions`."""

    def __init__(
        self,
        client: httpx.AsyncClient,
        *,
        base_url: str,
        model: str,
        api_key: str | None,
        max_tokens: int | None,
        context_window: int | None,
        limits: Limits,
        new_id: IdSource,
    ) -> None:
        """Serve one model.

        Args:
            client: Makes the requests; it is closed with the model.
            base_url: Where the interface is, with its version, without `/chat/completions`.
            model: The model's name there.
            api_key: The key, sent as a bearer token.
            max_tokens: How many tokens an answer may hold; None leaves it to the provider.
            context_window: How many tokens a request may hold, where that is known.
            limits: How long a call may take.
            new_id: Names tool calls that a provider leaves without an id.
        """
        self._client = client
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._name = model
        self._headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
        self._max_tokens = max_tokens
        self._context_window = context_window
        self._limits = limits
        self._new_id = new_id

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
        """How many tokens an answer may hold, where that is limited."""
        return self._max_tokens

    async def aclose(self) -> None:
        """Free connections."""
        await self._client.aclose()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Ask the model once; see `Model.stream`."""
        answer = _Answer(self._new_id)
        events = post_events(
            self._client,
            self._url,
            headers=self._headers,
            body=self._body(request),
            limits=self._limits,
        )
        async with aclosing(events):
            async for event in events:
                if event.data.strip() == _DONE:
                    break
                for piece in answer.read(parse_object(event.data)):
                    yield piece
        finish = answer.finish()
        if finish is None:
            raise broke_off(self._url)
        yield finish

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._name,
            "messages": wire_messages(request),
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if self._max_tokens is not None:
            body["max_tokens"] = self._max_tokens
        if request.tools:
            body["tools"] = [
                {"type": "function", "function": tool.to_json()} for tool in request.tools
            ]
        return body


def wire_messages(request: ModelRequest) -> list[dict[str, Any]]:
    """A conversation as the interface takes it, its system prompt first."""
    wire: list[dict[str, Any]] = []
    if request.system:
        wire.append({"role": "system", "content": request.system})
    wire.extend(_wire(request.messages))
    return wire


def _wire(messages: Iterable[Message]) -> Iterable[dict[str, Any]]:
    for message in messages:
        text = text_of(message.content)
        if isinstance(message, AssistantMessage):
            calls = [_call(block) for block in message.tool_calls()]
            if calls:
                yield {"role": "assistant", "content": text or None, "tool_calls": calls}
            elif text:
                yield {"role": "assistant", "content": text}
        elif isinstance(message, ToolMessage):
            yield {"role": "tool", "tool_call_id": message.tool_call_id, "content": text}
        elif text:
            role = "system" if isinstance(message, SystemMessage) else "user"
            yield {"role": role, "content": text}


def _call(block: ToolCallBlock) -> dict[str, Any]:
    return {
        "id": block.id,
        "type": "function",
        "function": {"name": block.name, "arguments": block.arguments or "{}"},
    }


class _Answer:
    """One answer as it arrives: reasoning is block 0, text block 1, tool calls follow."""

    _FIRST_CALL = 2

    def __init__(self, new_id: IdSource) -> None:
        self._new_id = new_id
        self._calls: dict[int, str] = {}
        self._reason: FinishKind | None = None

    def read(self, event: dict[str, Any]) -> list[ModelEvent]:
        """Take in one event of the stream and give what it means."""
        if "error" in event:
            raise _stream_error(event["error"])
        pieces: list[ModelEvent] = []
        choices = event.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            pieces.extend(self._choice(choices[0]))
        usage = event.get("usage")
        if isinstance(usage, dict):
            pieces.append(_usage(usage))
        return pieces

    def finish(self) -> Finish | None:
        """How the answer ended; None if it has not."""
        if self._reason == "stop" and self._calls:
            return Finish("tool-calls")
        return None if self._reason is None else Finish(self._reason)

    def _choice(self, choice: dict[str, Any]) -> list[ModelEvent]:
        reason = choice.get("finish_reason")
        if reason:
            self._reason = _FINISH_REASONS.get(str(reason), "stop")
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            return []
        pieces: list[ModelEvent] = []
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(reasoning, str) and reasoning:
            pieces.append(ReasoningDelta(0, reasoning))
        content = delta.get("content")
        if isinstance(content, str) and content:
            pieces.append(TextDelta(1, content))
        calls = [call for call in delta.get("tool_calls") or () if isinstance(call, dict)]
        pieces.extend(self._tool_call(call) for call in calls)
        return pieces

    def _tool_call(self, call: dict[str, Any]) -> ToolCallDelta:
        number = call.get("index")
        position = number if type(number) is int else len(self._calls)
        function = call.get("function")
        if not isinstance(function, dict):
            function = {}
        arguments = function.get("arguments")
        text = arguments if isinstance(arguments, str) else ""
        index = self._FIRST_CALL + position
        if position in self._calls:
            return ToolCallDelta(index, self._calls[position], None, text)
        self._calls[position] = str(call.get("id") or self._new_id())
        return ToolCallDelta(index, self._calls[position], str(function.get("name") or ""), text)


def _usage(usage: dict[str, Any]) -> UsageReport:
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    read = cached if type(cached) is int else 0
    return UsageReport(
        input_tokens=max(0, _tokens(usage, "prompt_tokens") - read),
        output_tokens=_tokens(usage, "completion_tokens"),
        cache_read_tokens=read,
    )


def _tokens(usage: dict[str, Any], key: str) -> int:
    value = usage.get(key)
    return value if type(value) is int else 0


def _stream_error(error: Any) -> ModelError:
    message = error.get("message") if isinstance(error, dict) else error
    return ModelError(
        f"the model broke off: {message or 'no reason given'}", code="SERVER", retryable=True
    )
