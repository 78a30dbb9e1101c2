"""The port to a language model: one request in, a stream of typed events out."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from remit.harness.errors import HarnessError
from remit.harness.log.messages import Message


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """What a model is told of a tool."""

    name: str
    description: str
    parameters: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The schema as the session log records it."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything a model call depends on (LOG-5).

    Attributes:
        system: The system prompt.
        messages: The conversation after it.
        tools: The tools the model may ask for.
        cwd: The session's directory.
    """

    system: str | None
    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...]
    cwd: str


@dataclass(frozen=True, slots=True)
class TextDelta:
    """More text of the block at `index`."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningDelta:
    """More reasoning of the block at `index`; an empty text still opens the block."""

    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ReasoningSignature:
    """What the model wants to see again beside the reasoning at `index`."""

    index: int
    signature: str


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """More of the tool call at `index`.

    Attributes:
        id: The call's id, in every delta.
        name: The tool, in the first delta only.
        arguments: More of the JSON text of its arguments.
    """

    index: int
    id: str
    name: str | None
    arguments: str


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Tokens used so far by this call; the last report counts.

    Attributes:
        input_tokens: Read afresh.
        output_tokens: Written.
        cache_read_tokens: Read from the provider's cache.
        cache_write_tokens: Put into it.
    """

    input_tokens: int
    output_tokens: int
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """All of them together."""
        return (
            self.input_tokens
            + self.output_tokens
            + self.cache_read_tokens
            + self.cache_write_tokens
        )


FinishKind = Literal["stop", "tool-calls", "max-tokens", "refusal"]
"""Why a model stopped: it was done, it wants tools, it ran out of tokens, it declined."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The answer is complete; nothing follows."""

    kind: FinishKind


ModelEvent = TextDelta | ReasoningDelta | ReasoningSignature | ToolCallDelta | UsageReport | Finish
"""One piece of an answer as it arrives. Blocks come one after another, in rising index."""

ErrorCode = Literal[
    "AUTH",
    "BAD_REQUEST",
    "BAD_RESPONSE",
    "RATE_LIMIT",
    "SCRIPT",
    "SERVER",
    "TIMEOUT",
    "TRANSPORT",
]
"""The kinds of failure of a model call."""


class ModelError(HarnessError):
    """A model gave no whole answer.

    Attributes:
        code: What kind of failure it is.
        status: The HTTP status, where there was one.
        retry_after: How long the provider asks to wait, in seconds.
        retryable: Whether the same request may succeed later.
    """

    def __init__(
        self,
        message: str,
        *,
        code: ErrorCode,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.code: ErrorCode = code
        self.status = status
        self.retry_after = retry_after
        self.retryable = retryable


class Model(Protocol):
    """A language model behind some interface.

    One instance serves any number of sessions at once.
    """

    @property
    def provider(self) -> str:
        """Which interface it is behind."""
        ...

    @property
    def name(self) -> str:
        """The model's name at that interface."""
        ...

    @property
    def context_window(self) -> int | None:
        """How many tokens a request may hold, where that is known."""
        ...

    @property
    def max_tokens(self) -> int | None:
        """How many tokens an answer may hold, where that is limited."""
        ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Ask the model once.

        The last event is a `Finish`. Closing the generator, or cancelling the task that reads it,
        ends the call at once and frees its connection. Nothing is tried twice in here: whoever
        asks decides that, by `ModelError.retryable`.

        Raises:
            ModelError: There is no whole answer.
        """
        ...

    async def aclose(self) -> None:
        """Free connections; the model cannot be asked afterwards."""
        ...
