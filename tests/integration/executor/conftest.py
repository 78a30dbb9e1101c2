from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from remit.bus.memory import MemoryBus
from support.executor_world import ExecutorWorld, executor_world


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[ExecutorWorld]:
    """Hosts on a bus in memory: what is real here are the agents and git."""
    async with executor_world(MemoryBus(), tmp_path / "tickets") as made:
        yield made
