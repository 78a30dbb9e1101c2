"""The composition root of the panel."""

from __future__ import annotations

import fcntl
import uuid
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path

import httpx
from fastapi import APIRouter

from remit.bus.clock import Clock, SystemClock
from remit.bus.errors import BusError
from remit.bus.ports import Bus
from remit.panel.access.guard import Guard
from remit.panel.access.tokens import read_token, read_tokens
from remit.panel.answers.desk import Desk
from remit.panel.api.router import api_router
from remit.panel.console_sender import ConsoleSender
from remit.panel.database import Database
from remit.panel.live import Live
from remit.panel.readmodel.projections import projections
from remit.panel.readmodel.projector import Projector
from remit.panel.readmodel.schema import SCHEMA
from remit.panel.settings import PanelSettings
from remit.panel.traces.receiver import OtlpReceiver
from remit.panel.traces.store import SCHEMA as TRACES_SCHEMA
from remit.panel.traces.store import TraceStore
from remit.panel.web.login import login_router
from remit.panel.web.pages import Pages
from remit.panel.web.router import no_such_page_router, web_router
from remit.panel.web.static import Static
from remit.panel.web.words import read_words
from remit.runtime.connect import connect_bus
from remit.runtime.service import Assembly, main

NAME = "panel"
_SOURCE_SECONDS = 10.0
"""How long the source service may take to answer."""


class DataFolderInUse(Exception):
    """Another panel keeps its read model in the same folder.

    Attributes:
        path: The folder.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"another panel runs on {path}; give each its own folder (REMIT_PANEL_DATA_DIR)"
        )
        self.path = path


async def build(settings: PanelSettings, stack: AsyncExitStack) -> Assembly:
    """Connect, and put the panel together."""
    bus = await connect_bus(settings, NAME, stack)
    return await assemble(bus, settings, stack)


async def assemble(
    bus: Bus, settings: PanelSettings, stack: AsyncExitStack, clock: Clock | None = None
) -> Assembly:
    """Return the parts and the pages of a panel on ``bus``.

    Raises:
        DataFolderInUse: Another panel runs on the same folder.
        TokenFileInvalid: A token file cannot be used.
    """
    clock = clock or SystemClock()
    guard = _guard(settings, clock)
    folder = settings.panel_data_dir
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    stack.enter_context(_locked(folder))
    readmodel = await _database(Database(folder / "readmodel.sqlite", SCHEMA), stack)
    spans = await _database(Database(folder / "traces.sqlite", TRACES_SCHEMA), stack)
    traces = TraceStore(
        spans,
        most_traces=settings.panel_traces,
        most_bytes=settings.panel_traces_mb * 1_000_000,
    )
    stack.push_async_callback(traces.close)
    http = await stack.enter_async_context(httpx.AsyncClient(timeout=_SOURCE_SECONDS))
    live = Live()
    stack.callback(live.close)
    projector = Projector(bus, readmodel, live, projections(), clock)
    desk = Desk(
        readmodel,
        traces,
        live,
        projector,
        clock,
        unsettled_after=settings.panel_unsettled_after,
        console=settings.console_source,
    )
    token_file = settings.console_token_file
    console = ConsoleSender(
        http,
        source_url=settings.source_url,
        source=settings.console_source,
        token=token_file.read_text().strip() if token_file else None,
        clock=clock,
        new_id=lambda: uuid.uuid4().hex,
    )
    return Assembly(
        parts=[projector],
        routers=_routers(desk, guard, console, _receiver(settings, traces)),
        needs={"nats": bus.ready},
    )


def _routers(
    desk: Desk, guard: Guard, console: ConsoleSender, receiver: OtlpReceiver
) -> list[APIRouter]:
    static = Static()
    pages = Pages(read_words(), static, guard)
    return [
        receiver.router(),
        static.router(),
        api_router(desk, guard, console, version=version("remit-panel")),
        login_router(pages, guard),
        web_router(desk, guard, console, pages),
        no_such_page_router(pages),
    ]


def _guard(settings: PanelSettings, clock: Clock) -> Guard:
    token_file = settings.panel_token_file
    return Guard(
        read_tokens(token_file, settings.panel_person) if token_file else None,
        person=settings.panel_person,
        lasts=settings.panel_session,
        public_url=settings.panel_public_url,
        clock=clock,
    )


def _receiver(settings: PanelSettings, traces: TraceStore) -> OtlpReceiver:
    token_file = settings.panel_otlp_token_file
    return OtlpReceiver(traces, read_token(token_file) if token_file else None)


async def _database(database: Database, stack: AsyncExitStack) -> Database:
    stack.push_async_callback(database.close)
    await database.open()
    return database


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder: two panels that write one read model would both count everything."""
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise DataFolderInUse(folder) from error
        yield


def run() -> int:
    """Run the panel to its end; return its exit status."""
    settings = PanelSettings()
    return main(NAME, settings, lambda stack: build(settings, stack), away=(BusError,))
