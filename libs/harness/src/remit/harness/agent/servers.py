"""The MCP servers a client names for a session."""

from __future__ import annotations

from collections.abc import Sequence

from acp import RequestError
from acp.schema import AcpMcpServer, HttpMcpServer, McpServerStdio, SseMcpServer

from remit.harness.mcp.servers import HttpServer, Server, StdioServer

NamedServer = HttpMcpServer | SseMcpServer | AcpMcpServer | McpServerStdio
"""A server, as a client names it."""


def servers_of(named: Sequence[NamedServer] | None) -> list[Server]:
    """The servers, as the harness takes them.

    Raises:
        RequestError: One speaks in a way this agent did not say it can.
    """
    return [_server(server) for server in named or ()]


def _server(named: NamedServer) -> Server:
    if isinstance(named, McpServerStdio):
        return StdioServer(
            name=named.name,
            command=named.command,
            args=tuple(named.args),
            environment={variable.name: variable.value for variable in named.env},
        )
    if isinstance(named, HttpMcpServer):
        return HttpServer(
            name=named.name,
            url=named.url,
            headers={header.name: header.value for header in named.headers},
        )
    raise RequestError(
        -32602, f"MCP server {named.name}: only stdio and http are offered, not {named.type}"
    )
