"""Running the demo: the stage, the deployment, the story, and what came of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import httpx
from rich.console import Console

from remit.bus.clock import SystemClock
from remit.bus.errors import BusError
from remit.bus.nats import NatsBus
from remit.cli.demo import github, show, story
from remit.cli.demo.documents import SOURCE, write_documents
from remit.cli.demo.gather import Places, gather
from remit.cli.demo.hops import Hop, Stage
from remit.cli.demo.travel import Travel
from remit.cli.demo.verify import Check, Evidence, checks, first_result_is_there, settled
from remit.cli.deployment import Deployment, Options
from remit.cli.layout import DataFolder, Ports
from remit.cli.panel_client import panel_at
from remit.cli.processes import spawn
from remit.cli.supervisor import State, Status, Supervisor
from remit.cli.up import late, signals
from remit.cli.view import LineView

ISSUE = 1
_LOOK_EVERY = 0.5


@dataclass(frozen=True, slots=True)
class Mishap:
    """Something that goes wrong on purpose.

    Attributes:
        stage: When.
        service: Which service is killed; None empties Valkey.
    """

    stage: Stage
    service: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoOptions:
    """What a person may say about the demo.

    Attributes:
        folder: Where its data is; empty before.
        once: End when everything was checked.
        mishaps: What goes wrong on purpose.
        limit: Seconds until the story must have come to its end.
    """

    folder: DataFolder
    once: bool = False
    mishaps: Sequence[Mishap] = ()
    limit: float = 120.0


class Demo:
    """One run of the demo.

    Args:
        options: What a person said.
        console: Where it is shown.
    """

    def __init__(self, options: DemoOptions, console: Console) -> None:
        self._options = options
        self._console = console
        self._mishaps = list(options.mishaps)
        self._killed: set[str] = set()
        self._began = datetime.now(UTC)
        self._stopping = asyncio.Event()
        self._deployment: Deployment | None = None

    async def run(self) -> int:
        """Play it; return 0 only if everything that it promises is true."""
        with signals(self._on_signal):
            async with self._stage() as (hub, cast), self._deployed(hub, cast) as deployment:
                self._deployment = deployment
                async with self._places(deployment, hub) as places:
                    result = await self._play(deployment, places)
                if not self._options.once and not self._stopping.is_set():
                    self._say("\nEverything keeps running: look around. Ctrl-C ends it.")
                    await self._stopping.wait()
                return result

    # -- set-up -----------------------------------------------------------------------------

    @asynccontextmanager
    async def _stage(self) -> AsyncIterator[tuple[github.LocalGitHub, story.Cast]]:
        """Start the local GitHub and put the story's people and files there."""
        self._options.folder.create()
        port = Ports(self._options.folder.ports).of("github")
        folder = self._options.folder.root / "github"
        folder.mkdir(exist_ok=True)
        running = Supervisor(
            [github.program(folder, port)],
            spawn=spawn,
            clock=SystemClock(),
            on_line=lambda _, line: _append(folder / "github.log", line),
        )
        running.start()
        hub = github.LocalGitHub(f"http://{github.HOST}:{port}")
        try:
            async with asyncio.timeout(30):
                await hub.until_there()
            cast = await hub.set_stage()
            self._say(f"a local GitHub with {story.FULL_NAME} is at {hub.url}/{story.FULL_NAME}")
            yield hub, cast
        finally:
            await hub.close()
            await running.stop()

    @asynccontextmanager
    async def _deployed(
        self, hub: github.LocalGitHub, cast: story.Cast
    ) -> AsyncIterator[Deployment]:
        write_documents(self._options.folder, hub.url, cast)
        view = _Quiet(self._say)
        options = Options(folder=self._options.folder, policy=self._options.folder.policy)
        async with Deployment(options, view) as deployment:
            began = time.monotonic()
            try:
                async with asyncio.timeout(60):
                    await deployment.supervisor.all_ready()
            except TimeoutError:
                self._say(f"not ready within 60 s: {'; '.join(late(deployment))}")
                raise
            self._say(f"every service is ready after {time.monotonic() - began:.1f} s")
            secret = deployment.folder.secret("webhook-secret").read_text()
            await hub.deliver_to(f"{deployment.wiring.source_url}/webhook/{SOURCE}", secret)
            yield deployment

    @asynccontextmanager
    async def _places(
        self, deployment: Deployment, hub: github.LocalGitHub
    ) -> AsyncIterator[Places]:
        token = deployment.folder.secret("panel-token").read_text()
        bus = await NatsBus.connect([deployment.wiring.nats_url], name="remit-demo")
        try:
            async with panel_at(deployment.wiring.panel_url, token) as panel:
                yield Places(bus=bus, github=hub, panel=panel, folder=deployment.folder)
        finally:
            await bus.close()

    # -- the story --------------------------------------------------------------------------

    async def _play(self, deployment: Deployment, places: Places) -> int:
        travel = asyncio.create_task(Travel(places.bus, self._on_hop).follow())
        try:
            evidence = await self._tell_story(places)
        finally:
            travel.cancel()
            await asyncio.gather(travel, return_exceptions=True)
        found = checks(evidence)
        self._show_result(deployment, evidence, found)
        return 0 if all(check.holds for check in found) and not self._mishaps else 1

    async def _tell_story(self, places: Places) -> Evidence:
        deadline = time.monotonic() + self._options.limit
        hub = places.github
        self._began = datetime.now(UTC)
        await self._comment(hub, story.STRANGER, story.STRANGERS_REQUEST)
        await self._comment(hub, story.PERSON, story.REQUEST)
        evidence = await self._until(places, first_result_is_there, deadline)
        if first_result_is_there(evidence):
            await self._comment(hub, story.PERSON, story.FOLLOW_UP)
            evidence = await self._until(places, settled, deadline)
        return evidence

    async def _comment(self, hub: github.LocalGitHub, login: str, text: str) -> None:
        self._hop(datetime.now(UTC), login, f"writes on issue #{ISSUE}: {text}")
        await hub.comment(login, ISSUE, text)

    async def _until(
        self, places: Places, holds: Callable[[Evidence], bool], deadline: float
    ) -> Evidence:
        """Look again and again until ``holds``, the time is over, or somebody stops it."""
        evidence = Evidence()
        while not self._stopping.is_set():
            try:
                for event in await places.github.deliver_again():
                    self._hop(datetime.now(UTC), "demo", f"{event} was not taken: sent again")
                found = await gather(places, issue=ISSUE)
                evidence = replace(found, killed=frozenset(self._killed))
            except (BusError, httpx.HTTPError) as away:
                self._hop(datetime.now(UTC), "demo", f"cannot look just now: {away}")
            if holds(evidence) or time.monotonic() > deadline:
                break
            await asyncio.sleep(_LOOK_EVERY)
        return evidence

    async def _on_hop(self, hop: Hop) -> None:
        self._hop(hop.at, hop.part, hop.what)
        due = [one for one in self._mishaps if one.stage is hop.stage]
        for mishap in due:
            self._mishaps.remove(mishap)
            await self._let_happen(mishap)

    async def _let_happen(self, mishap: Mishap) -> None:
        deployment = self._deployment
        assert deployment is not None
        if mishap.service is None:
            await deployment.forget_coordination()
            self._hop(datetime.now(UTC), "demo", "Valkey is emptied")
            return
        self._killed.add(mishap.service)
        pid = deployment.supervisor.kill(mishap.service)
        self._hop(datetime.now(UTC), "demo", f"{mishap.service} is killed (process {pid})")

    # -- showing ----------------------------------------------------------------------------

    def _show_result(
        self, deployment: Deployment, evidence: Evidence, found: Sequence[Check]
    ) -> None:
        for part in show.result(evidence, deployment.folder, deployment.panel_link):
            self._console.print(part)
        self._console.print(show.verdict(found))
        for mishap in self._mishaps:
            self._say(f"never happened: {mishap.service or 'emptying Valkey'} at {mishap.stage}")

    def _hop(self, at: datetime, part: str, what: str) -> None:
        self._console.print(show.hop(at - self._began, part, what), soft_wrap=True)

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def _on_signal(self) -> None:
        if self._stopping.is_set() and self._deployment is not None:
            self._deployment.stop_at_once()
        self._stopping.set()


class _Quiet(LineView):
    """Tells of what went wrong and was put right, and of nothing else."""

    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__(say)

    def change(self, status: Status) -> None:
        """Show a death, and what came back after one."""
        again = status.starts > 1 and status.state is State.READY
        if status.state is State.DIED or again:
            super().change(status)


def _append(path: Path, line: bytes) -> None:
    with path.open("ab") as file:
        file.write(line)
