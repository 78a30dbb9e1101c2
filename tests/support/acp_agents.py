"""Real agent processes for tests of the executor, that play plans."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

from remit.bus.clock import SystemClock
from remit.executor.agent_process import AgentCommand, AgentProcesses
from remit.executor.environment import inherited
from remit.executor.tool_server import ToolServer

SCRIPTED = Path(__file__).with_name("scripted_acp_agent.py")
Plan = list[list[dict[str, Any]]]

_tokens = count(1)


class PlannedAgents:
    """The home of agents that play one plan, and processes of them.

    Args:
        folder: Where the plan and the home are.
        plan: What the agents do.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.home = folder / "home"
        self._plan = folder / "plan.json"
        self._plan.write_text(json.dumps(plan))

    def command(
        self, *, environment: Mapping[str, str] | None = None, **fields: Any
    ) -> AgentCommand:
        """Return how such an agent is started."""
        return AgentCommand(
            name="scripted",
            command=(sys.executable, str(SCRIPTED), str(self._plan), str(self.home)),
            environment={**inherited(os.environ), **(environment or {})},
            directory=self.home,
            **{"stop_limit": 1.5, **fields},
        )

    @property
    def turns(self) -> int:
        """How many prompts came."""
        counted = self.home / "turns"
        return int(counted.read_text() or 0) if counted.exists() else 0

    @property
    def spoken(self) -> str:
        """All that the agents said."""
        spoken = self.home / "spoken"
        return spoken.read_text() if spoken.exists() else ""

    @property
    def sessions(self) -> dict[str, list[str]]:
        """What each session was told, by its own record."""
        return {
            path.stem: [json.loads(line) for line in path.read_text().splitlines()]
            for path in self.home.glob("*.jsonl")
        }

    def times_read(self, number: int) -> int:
        """Count how often an Input is on the agents' record."""
        return sum(
            text.count(f'<input number="{number}" ')
            for texts in self.sessions.values()
            for text in texts
        )

    @property
    def pid(self) -> int:
        """The process that was started last."""
        return int((self.home / "pid").read_text())

    @property
    def variables(self) -> dict[str, str]:
        """The environment of the process that was started last."""
        read: dict[str, str] = json.loads((self.home / "environment.json").read_text())
        return read

    @property
    def session_variables(self) -> dict[str, str]:
        """What the one session was given of the execution environment."""
        (meta,) = [json.loads(path.read_text()) for path in self.home.glob("*.meta.json")]
        read: dict[str, str] = meta["remit/variables"]
        return read


@asynccontextmanager
async def running_agents(
    command: AgentCommand,
) -> AsyncIterator[tuple[AgentProcesses, ToolServer]]:
    """Yield agents and the tools' server of one host."""
    agents = AgentProcesses(command, SystemClock())
    server = ToolServer(lambda: f"token-{next(_tokens)}")
    try:
        yield agents, server
    finally:
        await agents.close()
        await server.close()
