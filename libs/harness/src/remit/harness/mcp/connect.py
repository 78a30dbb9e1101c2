"""Connecting a session to its MCP servers with the official SDK.

Importing this module imports the SDK: do it only for a session that brings servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Sequence
from typing import Any

import httpx2
from mcp import Client, MCPError, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import streamable_http_client
from pydantic import ValidationError

from remit.harness.mcp.naming import public_name
from remit.harness.mcp.results import output_of
from remit.harness.mcp.schema_check import argument_check
from remit.harness.mcp.servers import (
    HttpServer,
    McpLimits,
    McpServerError,
    Server,
    StdioServer,
    refuse_bad_names,
)
from remit.harness.models.port import ToolSchema
from remit.harness.scope import Scope
from remit.harness.tools.errors import ToolError
from remit.harness.tools.registry import ToolRegistry
from remit.harness.tools.tool import Tool, ToolContext, ToolOutput
from remit.harness.version import VERSION

_logger = logging.getLogger(__name__)

_PAGES = 100
_CLOSING = 5.0


class Connections:
    """The servers of one session, connected."""

    def __init__(self, connections: Sequence[_Connection]) -> None:
        self._connections = connections

    async def close(self) -> None:
        """End every connection, and every server that was started."""
        await asyncio.gather(*(connection.close() for connection in self._connections))


async def connect(
    servers: Sequence[Server],
    *,
    registry: ToolRegistry,
    scope: Scope,
    cwd: str,
    limits: McpLimits,
) -> Connections:
    """Connect to servers and register their tools for one scope: all of them, or none.

    Args:
        servers: The servers.
        registry: Where the tools go.
        scope: Whom they are for.
        cwd: Where servers that must be started run.
        limits: How long they may take.

    Raises:
        McpServerError: A server cannot be reached, or what it offers cannot be used.
    """
    refuse_bad_names(servers)
    connections = [_Connection(server, cwd, limits) for server in servers]
    everything = Connections(connections)
    try:
        opened = await asyncio.gather(*(connection.open() for connection in connections))
        for connection, tools in zip(connections, opened, strict=True):
            for tool in tools:
                registry.register(connection.tool(tool), scope)
    except BaseException:
        registry.dispose(scope)
        await everything.close()
        raise
    return everything


class _Connection:
    """One server. The SDK wants its client to be opened and closed by one task: this one's."""

    def __init__(self, server: Server, cwd: str, limits: McpLimits) -> None:
        self._server = server
        self._cwd = cwd
        self._limits = limits
        self._stop = asyncio.Event()
        self._client: Client | None = None
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> list[types.Tool]:
        """Connect and ask which tools there are."""
        ready: asyncio.Future[list[types.Tool]] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._hold(ready), name=f"MCP server {self._server.name}")
        try:
            async with asyncio.timeout(self._limits.connect):
                return await asyncio.shield(ready)
        except TimeoutError:
            raise McpServerError(
                self._server.name, f"it was not ready within {self._limits.connect:g} s"
            ) from None
        finally:
            if not ready.done():
                ready.cancel()
                self._task.cancel()

    async def close(self) -> None:
        """End the connection."""
        self._stop.set()
        if self._task is None:
            return
        _, late = await asyncio.wait({self._task}, timeout=_CLOSING)
        for task in late:
            task.cancel()
            await asyncio.wait({task})

    def tool(self, tool: types.Tool) -> Tool:
        """A tool of this server, as the registry takes it."""
        name = public_name(self._server.name, tool.name)
        looks_only = tool.annotations is not None and tool.annotations.read_only_hint is True
        try:
            check = argument_check(name, tool.input_schema)
        except ValueError as error:
            raise McpServerError(
                self._server.name, f"the schema of its tool {tool.name} is none: {error}"
            ) from error

        async def run(arguments: dict[str, Any], _: ToolContext) -> ToolOutput:
            return await self._call(tool.name, arguments)

        return Tool(
            schema=ToolSchema(name, tool.description or "", tool.input_schema),
            effect="read" if looks_only else "external",
            kind="other",
            concurrent=False,
            time_limit=self._limits.call,
            check=check,
            run=run,
            summary=lambda _: name,
        )

    async def _call(self, raw: str, arguments: dict[str, Any]) -> ToolOutput:
        if self._client is None:
            raise ToolError(f"the MCP server {self._server.name} has gone")
        try:
            return output_of(await self._client.call_tool(raw, arguments))
        except (MCPError, ValidationError, RuntimeError, OSError) as error:
            raise ToolError(f"the MCP server {self._server.name} failed: {error}") from error

    async def _hold(self, ready: asyncio.Future[list[types.Tool]]) -> None:
        try:
            async with self._open_client() as client:
                tools = await _all_tools(client, self._server.name)
                self._client = client
                if not ready.done():
                    ready.set_result(tools)
                await self._stop.wait()
        except Exception as error:  # noqa: BLE001 -- a transport may raise anything; the server is unusable then
            if ready.done():
                _logger.warning("MCP server %s ended: %s", self._server.name, _cause(error))
            else:
                ready.set_exception(_unusable(self._server.name, _cause(error)))
        finally:
            self._client = None

    @contextlib.asynccontextmanager
    async def _open_client(self) -> AsyncGenerator[Client]:
        info = types.Implementation(name="remit-agent", version=VERSION)
        async with contextlib.AsyncExitStack() as stack:
            transport = await self._transport(stack, self._server)
            yield await stack.enter_async_context(
                Client(transport, client_info=info, read_timeout_seconds=self._limits.call)
            )

    async def _transport(self, stack: contextlib.AsyncExitStack, server: Server) -> Any:
        if isinstance(server, StdioServer):
            return stdio_client(_parameters(server, self._cwd))
        http = await stack.enter_async_context(_http_client(server, self._limits))
        return streamable_http_client(server.url, http_client=http)


def _parameters(server: StdioServer, cwd: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env=dict(server.environment),
        cwd=cwd,
    )


def _http_client(server: HttpServer, limits: McpLimits) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        headers=dict(server.headers),
        timeout=httpx2.Timeout(limits.connect, read=limits.call),
    )


async def _all_tools(client: Client, server: str) -> list[types.Tool]:
    tools: dict[str, types.Tool] = {}
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            if tool.name in tools:
                raise McpServerError(server, f"it names its tool {tool.name} twice")
            tools[tool.name] = tool
        cursor = page.next_cursor
        if cursor is None:
            return list(tools.values())
    raise McpServerError(server, f"its list of tools has more than {_PAGES} pages")


def _unusable(server: str, error: BaseException) -> McpServerError:
    if isinstance(error, McpServerError):
        return error
    return McpServerError(server, f"it cannot be used: {error or type(error).__name__}")


def _cause(error: BaseException) -> BaseException:
    """The first plain error inside the groups that the SDK's tasks raise."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error
