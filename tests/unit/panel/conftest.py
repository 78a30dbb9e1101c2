from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support.memory_services import MemoryServices
from support.panel import PanelUnderTest, running_panel


@pytest.fixture
async def services() -> MemoryServices:
    services = MemoryServices()
    await services.apply()
    return services


@pytest.fixture
async def panel(services: MemoryServices, tmp_path: Path) -> AsyncIterator[PanelUnderTest]:
    """A panel on the bus of `services`, with their clock."""
    async with running_panel(services.bus, tmp_path, services.clock) as panel:
        yield panel
