from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from remit.bus.clock import ManualClock
from remit.bus.memory import MemoryBus
from support.executor_world import ExecutorWorld, executor_world


@pytest.fixture
def clock() -> ManualClock:
    """The bus's clock: deliveries come back when a test moves it."""
    return ManualClock()


@pytest.fixture
async def world(clock: ManualClock, tmp_path: Path) -> AsyncIterator[ExecutorWorld]:
    async with executor_world(MemoryBus(clock=clock), tmp_path) as made:
        yield made
