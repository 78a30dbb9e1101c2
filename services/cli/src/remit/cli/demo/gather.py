"""Looking at what is really there: on the provider, in git, on the bus and in the panel."""

from __future__ import annotations

import asyncio
import json
import sys
import tarfile
import tempfile
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

from remit.bus import subjects
from remit.bus.ports import Bus
from remit.cli.demo import story
from remit.cli.demo.github import LocalGitHub, PullRequest
from remit.cli.demo.verify import Evidence
from remit.cli.layout import DataFolder
from remit.cli.panel_client import PanelClient, PanelProblem
from remit.cli.traces import Span
from remit.domain.disposition import Disposition
from remit.domain.ids import TriggerId
from remit.domain.ticket import Ticket
from remit.domain.trigger import Trigger
from remit.runtime.wire import read, trace_of
from remit.telemetry.tracing import trace_id_of

_COMMAND_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look.

    Attributes:
        bus: The bus.
        github: The provider.
        panel: The panel.
        folder: The deployment's data.
    """

    bus: Bus
    github: LocalGitHub
    panel: PanelClient
    folder: DataFolder


async def gather(places: Places, *, issue: int) -> Evidence:
    """Return everything that there is to see now.

    Raises:
        BusUnavailable: The bus does not answer.
        httpx.HTTPError: The provider does not answer.
    """
    triggers, trace_ids = await _triggers(places.bus)
    tickets = await _tickets(places.bus)
    pulls = await places.github.pull_requests()
    ticket = tickets[0] if len(tickets) == 1 else None
    dispositions, fate_traces = await _dispositions(places.bus)
    evidence = Evidence(
        triggers=triggers,
        dispositions=dispositions,
        tickets=tickets,
        commits=await _commits(places.folder, ticket),
        pull_requests=tuple(pulls),
        comments=tuple(await places.github.comments(issue)),
        tests_pass=await _tests_pass(places.github, pulls),
        panel_answers=await _panel_shows(places.panel, ticket),
    )
    asked = evidence.trigger_saying(story.REQUEST)
    trace_id = trace_ids.get(asked.id) if asked else None
    if asked is None or trace_id is None:
        return evidence
    return replace(
        evidence,
        trace_id=trace_id,
        trace=await _trace(places.panel, trace_id),
        fate_trace_id=fate_traces.get(asked.id),
    )


async def _triggers(bus: Bus) -> tuple[tuple[Trigger, ...], dict[TriggerId, str]]:
    found: list[Trigger] = []
    traces: dict[TriggerId, str] = {}
    async for delivery in bus.history("TRIGGER", subjects.TRIGGERS):
        trigger = read(delivery, Trigger)
        found.append(trigger)
        if trace_id := trace_id_of(trace_of(delivery)):
            traces[trigger.id] = trace_id
    return tuple(found), traces


async def _dispositions(
    bus: Bus,
) -> tuple[dict[TriggerId, tuple[Disposition, ...]], dict[TriggerId, str]]:
    found: defaultdict[TriggerId, list[Disposition]] = defaultdict(list)
    traces: dict[TriggerId, str] = {}
    async for delivery in bus.history("DISPOSITION", subjects.DISPOSITIONS):
        disposition = read(delivery, Disposition)
        found[disposition.trigger].append(disposition)
        if trace_id := trace_id_of(trace_of(delivery)):
            traces[disposition.trigger] = trace_id
    return {trigger: tuple(fate) for trigger, fate in found.items()}, traces


async def _tickets(bus: Bus) -> tuple[Ticket, ...]:
    """Return each Ticket as its last commit left it."""
    last: dict[str, bytes] = {}
    async for delivery in bus.history("TICKET", subjects.TICKETS):
        last[delivery.message.subject] = delivery.message.data
    return tuple(_state(data) for data in last.values())


def _state(commit: bytes) -> Ticket:
    return Ticket.model_validate(json.loads(commit)["state"])


async def _commits(folder: DataFolder, ticket: Ticket | None) -> tuple[str, ...]:
    """Return the subjects of the commits that the agent made, the oldest first."""
    work = folder.tickets / ticket.id / "work" if ticket else None
    if work is None or not work.is_dir():
        return ()
    since = f"origin/{story.BRANCH}..HEAD"
    said = await _run("git", "log", "--reverse", "--format=%s", since, "--", cwd=work)
    return tuple(said.output.splitlines()) if said.status == 0 else ()


async def _tests_pass(github: LocalGitHub, pulls: list[PullRequest]) -> bool | None:
    """Run the repository's tests on the pull request's newest commit, in a copy of it."""
    if len(pulls) != 1:
        return None
    repository = await github.repository_folder()
    with tempfile.TemporaryDirectory() as copy:
        archive = Path(copy) / "tree.tar"
        wrote = await _run(
            *("git", "archive", "--format=tar", f"--output={archive}", pulls[0].head),
            cwd=repository,
        )
        if wrote.status != 0:
            return None
        with tarfile.open(archive) as tar:
            tar.extractall(copy, filter="data")
        tests = await _run(sys.executable, *story.TEST_COMMAND, cwd=Path(copy))
        return tests.status == 0


async def _panel_shows(panel: PanelClient, ticket: Ticket | None) -> bool:
    if ticket is None:
        return False
    try:
        shown = await panel.get(f"tickets/{ticket.id}")
    except PanelProblem:
        return False
    return bool(shown.get("id") == ticket.id)


async def _trace(panel: PanelClient, trace_id: str) -> tuple[Span, ...]:
    try:
        return await panel.trace(trace_id)
    except PanelProblem:
        return ()


@dataclass(frozen=True, slots=True)
class _Ran:
    status: int
    output: str


async def _run(*command: str, cwd: Path) -> _Ran:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    async with asyncio.timeout(_COMMAND_SECONDS):
        output, _ = await process.communicate()
    return _Ran(process.returncode or 0, output.decode(errors="replace"))
