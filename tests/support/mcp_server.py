"""An MCP server of the official SDK, for tests: `python mcp_server.py stdio` or `http PORT`."""

from __future__ import annotations

import asyncio
import os
import sys

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("for-tests")


@server.tool(name="report.progress", description="Takes a report.")
def report_progress(text: str, share: int = 0) -> str:
    return f"reported: {text} ({share} %)"


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def variables() -> str:
    """The names of this server's variables."""
    return "\n".join(sorted(os.environ))


@server.tool()
def where() -> str:
    return os.getcwd()  # noqa: PTH109 -- the very directory the process runs in


@server.tool()
def refuse() -> str:
    raise ValueError("this tool always refuses")


@server.tool()
async def wait() -> str:
    await asyncio.sleep(60)
    return "never"


@server.tool()
def leave() -> str:
    os._exit(3)


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run()
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
