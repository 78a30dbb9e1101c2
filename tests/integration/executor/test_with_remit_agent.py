"""The whole of a piece of work with remit-agent: clone, edit, commit, push, propose, report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.bus.clock import SystemClock
from remit.connectors.contract import GitRemote
from remit.domain.assignment import AssignmentState
from remit.domain.channel import Address, Receipt, WriteKind, WriteOutcome
from remit.domain.ids import write_id_for
from remit.domain.ticket import Ticket
from remit.executor.app import agent_command, prepare_part, registered
from remit.executor.configuration import ExecutorDocument
from remit.executor.preparation import Preparation
from remit.executor.settings import ExecutorSettings
from support.acp_agents import running_agents
from support.domain import trigger
from support.executor_world import ExecutorWorld
from support.git_work import GitWork
from support.github_emulator import GitHubEmulator, run_emulator

TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
SCRIPT = """
values:
  ticket: {from: tool, tool: shell, pattern: 'ticket=(\\S+)'}
turns:
  - steps:
      - tools:
          - {name: write, args: {file_path: NEWS.md, content: "Fixed.\\n"}}
          - name: shell
            args:
              command: |
                echo "ticket=$REMIT_TICKET_ID"
                git add NEWS.md
                git commit --quiet --message 'Fix the typo'
                env > ../seen-by-agent
      - tools:
          - name: mcp__remit__propose_pull_request
            args: {title: 'Fix {{ticket}}', body: 'As asked.'}
      - tools:
          - {name: mcp__remit__report, args: {kind: ready, text: 'Have a look.'}}
      - text: That is all.
  - when: looks good
    steps:
      - tools:
          - {name: mcp__remit__report, args: {kind: ready, text: 'Done.', final: true}}
      - text: Bye.
"""


class OneRepository:
    """A code host with one repository."""

    def __init__(self, remote: GitRemote) -> None:
        self._remote = remote

    async def remote(self, address: Address) -> GitRemote | None:
        return self._remote


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[GitRemote]:
    with run_emulator(tmp_path / "github") as emulator:
        yield _set_up(emulator)


def _set_up(emulator: GitHubEmulator) -> GitRemote:
    emulator.set_up("/accounts", login="acme", type="Organization")
    emulator.set_up("/accounts", login="remit-bot")
    emulator.set_up("/tokens", login="remit-bot", token=TOKEN)
    emulator.set_up(
        "/repos",
        owner="acme",
        name="shop",
        private=True,
        files={"README.md": "# shop\n"},
        collaborators={"remit-bot": "write"},
    )
    url = f"{emulator.base_url}/acme/shop.git"
    return GitRemote(url=url, username="x-access-token", password=TOKEN)


def is_over(ticket: Ticket) -> bool:
    return ticket.assignment is not None and ticket.assignment.state is AssignmentState.ENDED


@pytest.mark.rule("ENV-1")
@pytest.mark.rule("ENV-2")
@pytest.mark.rule("TKT-4")
async def test_a_request_becomes_a_pull_request_and_a_report(
    world: ExecutorWorld, remote: GitRemote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMIT_NATS_URL", "nats://secret@nowhere")
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT)
    document = ExecutorDocument.model_validate(
        {
            "agent": {
                "variables": {
                    "REMIT_AGENT_MODEL_KIND": "scripted",
                    "REMIT_AGENT_SCRIPT": str(script),
                    "REMIT_AGENT_PERMISSION_MODE": "danger-full-access",
                }
            },
            "prepare": {
                "command": ["git", "clone", "--quiet", "$REMIT_REPOSITORY_URL", "."],
                "credential": True,
            },
        }
    )
    settings = ExecutorSettings(work_root=world.work_root)
    environment = registered(document, settings)
    hosts = OneRepository(remote)
    world.preparation = Preparation(
        prepare_part(document, settings), environment, hosts, SystemClock()
    )
    command = agent_command(document, environment, settings)
    async with running_agents(command) as (agents, server):
        world.start_with(agents, server, code_hosts=hosts)
        ticket = await world.open()
        proposed = await world.until(
            ticket, lambda t: any(w.kind is WriteKind.PULL_REQUEST for w in t.unsettled)
        )
        number = next(w.number for w in proposed.unsettled if w.kind is WriteKind.PULL_REQUEST)
        receipt = Receipt(
            write=write_id_for(ticket, number),
            outcome=WriteOutcome.ACCEPTED,
            url="https://code.example/pull/1",
        )
        await world.settle(ticket, receipt)
        told = await world.until(ticket, lambda t: t.report is not None)
        assert told.report is not None
        assert told.report.text == "Have a look."
        write = next(w for w in await world.writes(ticket) if w.pull_request is not None)
        assert write.pull_request is not None
        assert write.pull_request.title == f"Fix {ticket}"
        await world.write(ticket, trigger(2, text="looks good"))
        await world.until(ticket, is_over)
        await world.left()
        await world.stop()
    work = GitWork(world.work_root / ticket / "work")
    assert work.git("log", "-1", "--format=%an|%s").strip() == "Remit|Fix the typo"
    url = remote.url.replace("http://", f"http://x:{TOKEN}@")
    assert f"refs/heads/remit/{ticket}" in work.git("ls-remote", "--heads", url)
    seen = (world.work_root / ticket / "seen-by-agent").read_text()
    assert f"REMIT_TICKET_ID={ticket}" in seen
    assert TOKEN not in seen
    assert "REMIT_NATS_URL" not in seen
    kept = [path for path in world.work_root.rglob("*") if path.is_file()]
    assert not [path for path in kept if TOKEN.encode() in path.read_bytes()]
