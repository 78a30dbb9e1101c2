"""The product's tools over MCP: one HTTP server in this process for all its Sessions.

It listens on loopback only. Each Session has a path of its own that cannot be guessed, so a Session
reaches its own tools and nobody else's. It is started with the first Session, because loading MCP
takes a second and some memory.
"""

from __future__ import annotations

import asyncio
import importlib
import socket
from collections.abc import Callable
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any

import uvicorn

from remit.executor.product_tools import ProductTools
from remit.executor.untraced import untraced

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOST = "127.0.0.1"


class ToolServer:
    """Serves the tools of each Session that is registered.

    Args:
        new_token: Draws the part of a path that cannot be guessed.
    """

    def __init__(self, new_token: Callable[[], str]) -> None:
        self._new_token = new_token
        self._sessions: dict[str, ProductTools] = {}
        self._starting = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._serving: asyncio.Task[None] | None = None
        self._port = 0

    @contextmanager
    def serving(self, tools: ProductTools) -> Iterator[str]:
        """Serve ``tools`` for the length of a block; yield their path."""
        token = self._new_token()
        self._sessions[token] = tools
        try:
            yield f"/{token}/mcp"
        finally:
            del self._sessions[token]

    async def url(self, path: str) -> str:
        """Return the address of a path, after starting the server if it does not run."""
        async with self._starting:
            if self._port == 0:
                self._port = await self._start()
        return f"http://{_HOST}:{self._port}{path}"

    async def close(self) -> None:
        """Stop serving."""
        if self._serving is not None:
            self._stopping.set()
            await self._serving
            self._serving = None
            self._port = 0

    def tools_at(self, path: str) -> ProductTools | None:
        """Return the tools that are served at ``path``."""
        token, _, rest = path.strip("/").partition("/")
        return self._sessions.get(token) if rest == "mcp" else None

    async def _start(self) -> int:
        over_mcp = await asyncio.to_thread(importlib.import_module, "remit.executor.tools_over_mcp")
        listener = socket.create_server((_HOST, 0))
        port: int = listener.getsockname()[1]
        self._serving = asyncio.create_task(
            self._serve(over_mcp, listener, port), name="product tools", context=untraced()
        )
        return port

    async def _serve(self, over_mcp: ModuleType, listener: socket.socket, port: int) -> None:
        """Serve until `close`; the listener takes connections from the start."""
        async with over_mcp.application(self.tools_at, host=f"{_HOST}:{port}") as app:
            server = _Server(app)
            serving = asyncio.create_task(server.serve(sockets=[listener]))
            await self._stopping.wait()
            server.should_exit = True
            await serving


class _Server(uvicorn.Server):
    """Uvicorn without signal handling of its own: the service decides the order of a stop."""

    def __init__(self, app: Any) -> None:
        super().__init__(
            uvicorn.Config(
                app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield
