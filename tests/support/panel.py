"""A panel over a bus in memory, asked over ASGI: no sockets, no server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from remit.bus.clock import Clock
from remit.bus.ports import Bus
from remit.panel.app import assemble
from remit.panel.readmodel.projections import projections
from remit.panel.readmodel.projector import Projector
from remit.panel.settings import PanelSettings

TOKEN = "a-token-of-the-tests"
HERE = "http://127.0.0.1"


@dataclass(frozen=True, slots=True)
class PanelUnderTest:
    """A panel.

    Attributes:
        http: A client that shows the panel's token.
        stranger: A client that shows nothing.
        projector: What keeps the read model.
        bus: The streams that it follows.
    """

    http: httpx.AsyncClient
    stranger: httpx.AsyncClient
    projector: Projector
    bus: Bus

    async def read_up(self) -> None:
        """Wait until everything that is on the bus now can be asked for."""
        for projection in projections():
            last = await self.bus.last(projection.stream, projection.subject)
            wanted = last.sequence if last else 0
            # The projector tells nobody how far it is but who asks.
            while self.projector.position_of(projection.stream) < wanted:  # noqa: ASYNC110
                await asyncio.sleep(0)

    async def get(self, path: str, expect: int = 200, **params: Any) -> Any:
        """Return what the API says."""
        answer = await self.http.get(path, params=params or None)
        assert answer.status_code == expect, answer.text
        return answer.json()

    async def page(self, path: str, expect: int = 200, language: str = "en") -> str:
        """Return a page."""
        answer = await self.http.get(path, headers={"Accept-Language": language})
        assert answer.status_code == expect, answer.text
        assert answer.headers["content-type"].startswith("text/html")
        return answer.text


@asynccontextmanager
async def running_panel(
    bus: Bus, folder: Path, clock: Clock | None = None, **settings: Any
) -> AsyncIterator[PanelUnderTest]:
    """Run a panel on ``bus``; its data lies in ``folder``, its token is `TOKEN`."""
    tokens = folder / "tokens"
    if not tokens.exists():
        tokens.write_text(TOKEN)
    given = {"panel_token_file": tokens, "panel_data_dir": folder / "data", **settings}
    async with AsyncExitStack() as stack:
        assembly = await assemble(bus, PanelSettings(**given), stack, clock)
        app = FastAPI(openapi_url=None)
        for router in assembly.routers:
            app.include_router(router)
        (projector,) = assembly.parts
        assert isinstance(projector, Projector)
        running = asyncio.create_task(projector.run())
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 1), raise_app_exceptions=True)
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        http = httpx.AsyncClient(transport=transport, base_url=HERE, headers=bearer)
        stranger = httpx.AsyncClient(transport=transport, base_url=HERE)
        async with http, stranger:
            try:
                yield PanelUnderTest(http, stranger, projector, bus)
            finally:
                await projector.stop()
                await running
