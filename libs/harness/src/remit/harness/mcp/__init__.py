"""MCP servers that a session brings, and their tools.

`connect` is imported only where a session has servers, because the SDK takes a second to import.
"""

from __future__ import annotations

from remit.harness.mcp.naming import is_server_name, public_name
from remit.harness.mcp.servers import (
    HttpServer,
    McpConnections,
    McpLimits,
    McpServerError,
    Server,
    StdioServer,
)

__all__ = [
    "HttpServer",
    "McpConnections",
    "McpLimits",
    "McpServerError",
    "Server",
    "StdioServer",
    "is_server_name",
    "public_name",
]
