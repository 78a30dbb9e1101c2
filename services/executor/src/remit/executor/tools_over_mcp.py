"""The product's tools as an MCP server (streamable HTTP, without state between requests).

Importing this module loads MCP, so it is imported when the first Session is opened.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from mcp import types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from remit.executor.product_tools import TOOLS, ProductTools
from remit.executor.untraced import on_trace

_TOOLS_KEY = "remit.tools"
_MAX_BODY = 1024 * 1024

Context = ServerRequestContext[Any, Any]


@asynccontextmanager
async def application(
    tools_at: Callable[[str], ProductTools | None], *, host: str
) -> AsyncIterator[ASGIApp]:
    """Yield the application that serves the tools that ``tools_at`` finds for a path.

    Args:
        tools_at: Finds them; None answers 404.
        host: The only ``Host`` that is answered to, so that no web page reaches it by a name.
    """
    manager = StreamableHTTPSessionManager(
        app=_server(),
        json_response=True,
        stateless=True,
        max_request_body_size=_MAX_BODY,
        security_settings=TransportSecuritySettings(allowed_hosts=[host]),
    )

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        tools = tools_at(scope["path"])
        if tools is None:
            await PlainTextResponse("no such session", status_code=404)(scope, receive, send)
        elif scope["method"] != "POST":
            # Nothing is ever said unasked, so there is no stream to listen to.
            await PlainTextResponse("POST only", status_code=405)(scope, receive, send)
        else:
            scope[_TOOLS_KEY] = tools
            with on_trace(tools.trace):
                await manager.handle_request(scope, receive, send)

    async with manager.run():
        yield app


def _server() -> Server[Any]:
    # Made once: each Session asks for the list, and each call for its tool's schema.
    offered = {
        tool.name: types.Tool(
            name=tool.name,
            description=tool.description,
            input_schema=tool.arguments.model_json_schema(),
        )
        for tool in TOOLS
    }

    def input_schema(name: str) -> Mapping[str, Any] | None:
        tool = offered.get(name)
        return tool.input_schema if tool else None

    async def list_tools(
        _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=list(offered.values()))

    return Server(
        "remit",
        version="1",
        instructions="How you reach the people you work for.",
        get_tool_input_schema=input_schema,
        on_list_tools=list_tools,
        on_call_tool=_call_tool,
    )


async def _call_tool(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    if context.request is None:
        raise RuntimeError("a tool call without its request")
    tools: ProductTools = context.request.scope[_TOOLS_KEY]
    result = await tools.call(params.name, params.arguments or {})
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=result.text)], is_error=result.error
    )
