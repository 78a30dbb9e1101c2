"""The messages of a conversation, as the log records them and the models read them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, SerializeAsAny, Tag

from remit.harness.log.model import Flag, Part


class TextBlock(Part):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str


class ReasoningBlock(Part):
    """What a model thought before it answered."""

    type: Literal["reasoning"] = "reasoning"
    text: str


class ToolCallBlock(Part):
    """A model's wish to run a tool; `arguments` is the JSON text exactly as it streamed in."""

    type: Literal["tool-call"] = "tool-call"
    id: str
    name: str
    arguments: str


class OtherBlock(Part):
    """A block this version has no use for; it is kept as it is."""

    type: str


_KNOWN_BLOCKS = frozenset({"text", "reasoning", "tool-call"})


def _block_tag(value: object) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if isinstance(kind, str) and kind in _KNOWN_BLOCKS else "other"


Block = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ReasoningBlock, Tag("reasoning")]
    | Annotated[ToolCallBlock, Tag("tool-call")]
    | Annotated[OtherBlock, Tag("other")],
    Discriminator(_block_tag),
]
"""One piece of a message's content."""


class Source(Part):
    """Where a message came from; `kind` says which, further keys say more."""

    kind: str


class ModelSource(Source):
    """A message that a model wrote.

    Attributes:
        replay_state: What the model's own interface needs to read its message again.
    """

    kind: Literal["model"] = "model"
    provider: str
    model: str
    replay_state: dict[str, Any] | None = None


class ToolSource(Source):
    """A message that a tool wrote, for one call."""

    kind: Literal["tool"] = "tool"
    call_id: str


class Section(Part):
    """One named piece of a snapshot."""

    name: str
    text: str


class SnapshotSource(Source):
    """A statement of present facts; a later one of the same kind replaces it."""

    form: Literal["snapshot"] = "snapshot"
    sections: tuple[Section, ...]


class SystemMessage(Part):
    """What the model is told before anything else."""

    role: Literal["system"] = "system"
    content: tuple[Block, ...]
    source: SerializeAsAny[Source]
    id: str


class DeveloperMessage(Part):
    """An instruction from the harness in the middle of a conversation."""

    role: Literal["developer"] = "developer"
    content: tuple[Block, ...]
    source: SerializeAsAny[Source]
    id: str


class UserMessage(Part):
    """What a person, or the harness on somebody's behalf, says to the model."""

    role: Literal["user"] = "user"
    content: tuple[Block, ...]
    source: SerializeAsAny[Source]
    id: str


class AssistantMessage(Part):
    """What the model answered."""

    role: Literal["assistant"] = "assistant"
    content: tuple[Block, ...]
    source: ModelSource
    id: str

    def tool_calls(self) -> tuple[ToolCallBlock, ...]:
        """The calls of this message, in its order."""
        return tuple(block for block in self.content if isinstance(block, ToolCallBlock))


class ToolMessage(Part):
    """What a tool gave back for one call."""

    role: Literal["tool"] = "tool"
    source: ToolSource
    tool_call_id: str
    content: tuple[Block, ...]
    is_error: Flag | None = None
    id: str


Message = SystemMessage | DeveloperMessage | UserMessage | AssistantMessage | ToolMessage
"""Any message of a conversation."""


def text_of(content: tuple[Block, ...]) -> str:
    """All the plain text of a message's content, pieces joined by an empty line."""
    return "\n\n".join(block.text for block in content if isinstance(block, TextBlock))
