"""From a log to what the model reads next (LOG-2, LOG-5)."""

from __future__ import annotations

from dataclasses import dataclass

from remit.harness.log.event import Event
from remit.harness.log.messages import (
    DeveloperMessage,
    Message,
    SystemMessage,
)
from remit.harness.log.payloads import (
    AssistantMessageRecorded,
    DeveloperMessageRecorded,
    SystemMessageRecorded,
    ToolResult,
    UserMessageRecorded,
)
from remit.harness.log.surface import Surface


@dataclass(frozen=True, slots=True)
class Conversation:
    """What a session has said so far, in the order the model reads it.

    Attributes:
        system: The leading system message.
        messages: Everything after it.
    """

    system: SystemMessage | None
    messages: tuple[Message, ...]


def conversation(surface: Surface) -> Conversation:
    """The conversation that a log's surface stands for.

    A system, developer or assistant message without content says nothing to the model and is left
    out.
    """
    system: SystemMessage | None = None
    messages: list[Message] = []
    for node in surface.nodes:
        message = _message(node)
        if message is None:
            continue
        if isinstance(message, SystemMessage) and system is None and not messages:
            system = message
        else:
            messages.append(message)
    return Conversation(system, tuple(messages))


def _message(node: Event) -> Message | None:
    match node.payload:
        case UserMessageRecorded() as message:
            return message
        case ToolResult(message=result):
            return result
        case (
            SystemMessageRecorded(message=spoken)
            | DeveloperMessageRecorded(message=spoken)
            | AssistantMessageRecorded(message=spoken)
        ):
            return spoken if _says_something(spoken) else None
        case _:
            return None


def _says_something(message: Message) -> bool:
    if isinstance(message, SystemMessage | DeveloperMessage):
        return any(getattr(block, "text", "") for block in message.content)
    return bool(message.content)
