"""The MCP servers a session may bring, and what can be wrong with one.

Nothing here imports the MCP library: it takes a second, and many sessions bring no server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from remit.harness.errors import HarnessError
from remit.harness.mcp.naming import is_server_name


@dataclass(frozen=True, slots=True)
class StdioServer:
    """A server that is started for the session and spoken to over its input and output.

    Attributes:
        name: Its name in the session.
        command: The program.
        args: Its arguments.
        environment: The variables it gets besides a few harmless ones.
    """

    name: str
    command: str
    args: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class HttpServer:
    """A server that is there already and spoken to over HTTP.

    Attributes:
        name: Its name in the session.
        url: Its address.
        headers: Sent with every request; they may hold secrets.
    """

    name: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


Server = StdioServer | HttpServer
"""Any MCP server."""


class McpServerError(HarnessError):
    """A session's MCP server cannot be used.

    Attributes:
        server: Its name.
    """

    def __init__(self, server: str, problem: str) -> None:
        super().__init__(f"MCP server {server}: {problem}")
        self.server = server


class McpConnections(Protocol):
    """The servers of one session, connected; their tools are registered for its scope."""

    async def close(self) -> None:
        """End every connection, and every server that was started."""
        ...


@dataclass(frozen=True, slots=True)
class McpLimits:
    """How long MCP servers may take, in seconds.

    Attributes:
        connect: Until a server is ready and has named its tools.
        call: For one tool call.
    """

    connect: float = 30.0
    call: float = 600.0


def refuse_bad_names(servers: Sequence[Server]) -> None:
    """Check the names of a session's servers.

    Raises:
        McpServerError: A name is not allowed, or stands twice.
    """
    seen: set[str] = set()
    for server in servers:
        if not is_server_name(server.name):
            raise McpServerError(
                server.name,
                "a name has 1 to 32 letters, digits, hyphens and underscores, and no double "
                "underscore",
            )
        if server.name in seen:
            raise McpServerError(server.name, "the session names it twice")
        seen.add(server.name)
