"""`remit up`: run everything on this machine until told to stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from remit.cli.deployment import Deployment, Options
from remit.cli.supervisor import State
from remit.cli.view import View

READY_WITHIN = 60.0
"""Seconds that everything has to become ready where that is all that is asked for."""


async def up(options: Options, view: View, *, once: bool = False) -> int:
    """Run a deployment; return the exit status.

    Args:
        options: What a person said.
        view: Where what happens is shown.
        once: Stop again once everything was ready: 0 if it was in time, else 1.
    """
    stopping = asyncio.Event()
    deployment = Deployment(options, view)

    def on_signal() -> None:
        if stopping.is_set():
            deployment.stop_at_once()
        else:
            view.say("stopping; Ctrl-C again leaves at once")
            stopping.set()

    with view, signals(on_signal):
        async with deployment:
            view.say(f"panel  {deployment.panel_link}")
            ready = await _ready_or_stopped(deployment, stopping, READY_WITHIN if once else None)
            if ready:
                view.say("everything is ready")
            if once:
                if not ready:
                    view.say(f"not ready within {READY_WITHIN:g} s: {', '.join(late(deployment))}")
                return 0 if ready else 1
            await stopping.wait()
    return 0


async def _ready_or_stopped(
    deployment: Deployment, stopping: asyncio.Event, within: float | None
) -> bool:
    ready = asyncio.create_task(deployment.supervisor.all_ready())
    stopped = asyncio.create_task(stopping.wait())
    await asyncio.wait({ready, stopped}, timeout=within, return_when=asyncio.FIRST_COMPLETED)
    for task in (ready, stopped):
        task.cancel()
    return ready.done() and not ready.cancelled()


def late(deployment: Deployment) -> list[str]:
    """Return which services are not ready, with what is known of each."""
    return [
        f"{one.name} is {one.state.value}{f' ({one.detail})' if one.detail else ''}"
        for one in deployment.supervisor.status().values()
        if one.state is not State.READY
    ]


@contextmanager
def signals(on_signal: Callable[[], None]) -> Iterator[None]:
    """Call ``on_signal`` for Ctrl-C and for a request to stop."""
    loop = asyncio.get_running_loop()
    caught = (signal.SIGINT, signal.SIGTERM)
    for number in caught:
        loop.add_signal_handler(number, on_signal)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
