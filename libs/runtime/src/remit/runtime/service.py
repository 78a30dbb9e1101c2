"""The life of a service process: start, serve, stop, in an order that loses nothing.

Health is served from the first moment. What the service needs is then built, and built again with
back-off while a neighbour is away. On SIGTERM or SIGINT: not ready, stop taking work, finish or put
back what is in hand, flush, close, exit; a second signal leaves at once (field report D11).
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Protocol

import uvicorn
import uvloop
from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from remit.runtime.backoff import delays
from remit.runtime.health import Health
from remit.runtime.settings import ServiceSettings
from remit.telemetry import logs, metrics, tracing

LEFT_AT_ONCE = 130
"""Exit status after a second signal."""


class Part(Protocol):
    """Something that a service runs from start to stop, such as a worker."""

    @property
    def name(self) -> str:
        """What it is called in health answers and logs."""
        ...

    async def run(self) -> None:
        """Work until stopped."""
        ...

    async def stop(self) -> None:
        """Take nothing new, finish or put back what is in hand, and let `run` return."""
        ...

    def progressing(self) -> bool:
        """Say whether it made progress lately; false means that it is stuck."""
        ...


@dataclass
class Assembly:
    """What a service is made of.

    Attributes:
        parts: What runs.
        routers: Its own HTTP, beside health.
        needs: What must hold for it to take work, by name.
    """

    parts: Sequence[Part] = ()
    routers: Sequence[APIRouter] = ()
    needs: dict[str, Callable[[], bool]] = field(default_factory=dict)


Build = Callable[[AsyncExitStack], Awaitable[Assembly]]
"""Builds a service's parts; what has to be closed goes on the stack. Called again after a failure."""


class Service:
    """One service process.

    Args:
        name: The service, such as ``ticket``.
        settings: Its settings.
        build: Builds its parts.
        away: Errors of ``build`` that mean that a neighbour is away.
    """

    def __init__(
        self,
        name: str,
        settings: ServiceSettings,
        build: Build,
        *,
        away: tuple[type[Exception], ...] = (),
    ) -> None:
        self.name = name
        self.health = Health()
        self._settings = settings
        self._build = build
        self._away = away
        self._stop = asyncio.Event()
        self._log = logs.logger(f"remit.{name}")

    async def run(self) -> int:
        """Serve until a signal; return the exit status."""
        app = FastAPI(title=f"remit {self.name}", docs_url=None, redoc_url=None, openapi_url=None)
        app.include_router(self.health.router())
        app.router.default = self._not_found
        server = _Server(app)
        listener = _listen(self._settings.host, self._settings.port)
        port = listener.getsockname()[1]
        self._log.info("serving", host=self._settings.host, port=port, pid=os.getpid())
        serving = asyncio.create_task(server.serve(sockets=[listener]), name="http")
        try:
            with self._signals():
                async with AsyncExitStack() as stack:
                    assembly = await self._build_until_there(stack)
                    if assembly is None:
                        return 0
                    for router in assembly.routers:
                        app.include_router(router)
                    return await self._run_parts(assembly)
        finally:
            server.should_exit = True
            await serving
            self._log.info("stopped")

    async def _not_found(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for what is not there: not yet, while the service starts, or not at all.

        A provider that reads 404 may think that its hook is gone for good.
        """
        if self.health.starting:
            problem = {"error": f"not ready: {self.health.starting}"}
            answer = JSONResponse(problem, 503, headers={"Retry-After": "5"})
        else:
            answer = JSONResponse({"error": "there is nothing here"}, 404)
        await answer(scope, receive, send)

    async def _build_until_there(self, stack: AsyncExitStack) -> Assembly | None:
        waiting_for = ""
        for delay in delays():
            attempt = AsyncExitStack()
            try:
                assembly = await self._build(attempt)
            except self._away as error:
                await attempt.aclose()
                if str(error) != waiting_for:
                    waiting_for = str(error)
                    self._log.warning("waiting", reason=waiting_for)
                self.health.starting = waiting_for
            except BaseException:
                await attempt.aclose()
                raise
            else:
                await stack.enter_async_context(attempt)
                return assembly
            if await self._stopped_within(delay):
                return None
        return None

    async def _stopped_within(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self._stop.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _run_parts(self, assembly: Assembly) -> int:
        self.health.needs.update(assembly.needs)
        self.health.beats.update({part.name: part.progressing for part in assembly.parts})
        running = {asyncio.create_task(part.run(), name=part.name) for part in assembly.parts}
        stopping = asyncio.create_task(self._stop.wait(), name="stop")
        _spare_the_collector()
        self.health.starting = ""
        self._log.info("ready")
        await asyncio.wait({*running, stopping}, return_when=asyncio.FIRST_COMPLETED)
        self.health.stopping = True
        broken = self._broken({task for task in running if task.done()})
        await self._stop_parts(assembly.parts)
        stopping.cancel()
        left = {task for task in running if not task.done()}
        if left:
            await asyncio.wait(left, timeout=self._settings.drain_seconds)
            for task in left:
                task.cancel()
        await asyncio.gather(*running, stopping, return_exceptions=True)
        return 1 if broken else 0

    def _broken(self, ended: set[asyncio.Task[None]]) -> bool:
        """Whether a part ended by itself, which none should: the process goes, and comes again."""
        for task in ended:
            error = task.exception() if not task.cancelled() else None
            self._log.error("a part ended by itself", part=task.get_name(), exc_info=error)
        return bool(ended)

    async def _stop_parts(self, parts: Sequence[Part]) -> None:
        async def stop(part: Part) -> None:
            try:
                await asyncio.wait_for(part.stop(), self._settings.drain_seconds)
            except TimeoutError:
                self._log.warning("a part did not stop in time", part=part.name)

        await asyncio.gather(*(stop(part) for part in parts))

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()

        def on_signal() -> None:
            if self._stop.is_set():
                os._exit(LEFT_AT_ONCE)
            self._log.info("stopping")
            self.health.stopping = True
            self._stop.set()

        caught = (signal.SIGTERM, signal.SIGINT)
        for number in caught:
            loop.add_signal_handler(number, on_signal)
        try:
            yield
        finally:
            for number in caught:
                loop.remove_signal_handler(number)


class _Server(uvicorn.Server):
    """Uvicorn without signal handling of its own: the service decides the order of a stop."""

    def __init__(self, app: FastAPI) -> None:
        super().__init__(
            uvicorn.Config(
                app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=2
            )
        )

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


def _spare_the_collector() -> None:
    """Keep the garbage collector from walking what stays: a sixth of a busy service's time.

    What was made by now lives as long as the process; most of what a message makes is gone by
    its last reference, and cycles are rare enough to be looked for seldom.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named so that accepted connections send small answers at once (TCP_NODELAY).
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.set_inheritable(True)
    return listener


def main(
    name: str,
    settings: ServiceSettings,
    build: Build,
    *,
    away: tuple[type[Exception], ...] = (),
    loop: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop,
) -> int:
    """Run a service process to its end; return its exit status.

    Args:
        name: The service, such as ``ticket``.
        settings: Its settings.
        build: Builds its parts.
        away: Errors of ``build`` that mean that a neighbour is away.
        loop: Makes the event loop. The fast one raises errors of its own kind where a child's
            pipe is closed, so a service that runs children takes the standard one.
    """
    service = f"remit-{name}"
    release = version(service)
    logs.configure(service=service, instance=settings.instance, level=settings.log_level)
    traces = tracing.install(
        service=service,
        instance=settings.instance,
        version=release,
        endpoint=settings.traces_endpoint,
        sample=settings.trace_sample,
    )
    meter = metrics.install(
        service=service,
        instance=settings.instance,
        version=release,
        endpoint=settings.otlp_endpoint,
    )

    async def run() -> int:
        return await Service(name, settings, build, away=away).run()

    try:
        with asyncio.Runner(loop_factory=loop) as runner:
            return runner.run(run())
    finally:
        traces.shutdown()
        meter.shutdown()
