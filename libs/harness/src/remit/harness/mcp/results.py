"""An MCP tool's result as text for the model."""

from __future__ import annotations

import json

from mcp import types

from remit.harness.tools.tool import ToolOutput

_LONGEST = 100_000


def output_of(result: types.CallToolResult) -> ToolOutput:
    """What the model reads of a result. Content that is no text is named, not shown."""
    pieces = [_piece(block) for block in result.content]
    if not pieces and result.structured_content is not None:
        pieces = [json.dumps(result.structured_content, ensure_ascii=False)]
    text = "\n\n".join(pieces) or "(no output)"
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}\n[... {len(text) - _LONGEST} characters left out]"
    return ToolOutput(text, is_error=result.is_error)


def _piece(block: types.ContentBlock) -> str:
    if isinstance(block, types.TextContent):
        return block.text
    if isinstance(block, types.ResourceLink):
        return f"[resource {block.uri}]"
    if isinstance(block, types.EmbeddedResource):
        if isinstance(block.resource, types.TextResourceContents):
            return block.resource.text
        return f"[resource {block.resource.uri}]"
    return f"[{block.type} {block.mime_type}]"
