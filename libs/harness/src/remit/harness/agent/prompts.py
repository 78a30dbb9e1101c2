"""A client's prompt as a message of the conversation."""

from __future__ import annotations

from collections.abc import Sequence

from acp import RequestError
from acp.schema import (
    AudioContentBlock,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)

from remit.harness.clock import IdSource
from remit.harness.log.messages import Source, TextBlock, UserMessage

PromptBlock = (
    TextContentBlock
    | ImageContentBlock
    | AudioContentBlock
    | ResourceContentBlock
    | EmbeddedResourceContentBlock
)
"""A piece of a prompt, as a client sends it."""


def user_message(blocks: Sequence[PromptBlock], new_id: IdSource) -> UserMessage:
    """Make a message of a prompt.

    Text stays as it is. Embedded text is fenced with a delimiter that it does not contain.

    Raises:
        RequestError: The prompt is empty, or holds what this agent did not say it can take.
    """
    content = tuple(TextBlock(text=_text(block, new_id)) for block in blocks)
    if not any(block.text.strip() for block in content):
        raise RequestError(-32602, "the prompt is empty")
    return UserMessage(content=content, source=Source(kind="user"), id=new_id())


def _text(block: PromptBlock, new_id: IdSource) -> str:
    if isinstance(block, TextContentBlock):
        return block.text
    if isinstance(block, ResourceContentBlock):
        return f"Referenced: {block.name} <{block.uri}>"
    if isinstance(block, EmbeddedResourceContentBlock):
        resource = block.resource
        if isinstance(resource, TextResourceContents):
            return _fenced(str(resource.uri), resource.text, new_id)
        raise RequestError(-32602, f"the resource {resource.uri} is not text")
    raise RequestError(-32602, f"a prompt cannot hold {block.type}: this agent did not offer it")


def _fenced(uri: str, text: str, new_id: IdSource) -> str:
    fence = f"resource-{new_id()}"
    while fence in text:
        fence = f"resource-{new_id()}"
    return f"<{fence}>\nSource: {' '.join(uri.split())}\n{text}\n</{fence}>"
