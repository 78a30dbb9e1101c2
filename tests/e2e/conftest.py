"""Servers of a test's own: end-to-end tests look at everything that is stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.cli.embedded import NatsServer, ValkeyServer
from support.servers import running, running_nats


@pytest.fixture
def own_nats(tmp_path: Path) -> Iterator[NatsServer]:
    with running_nats(tmp_path / "nats") as server:
        yield server


@pytest.fixture
def own_valkey(tmp_path: Path) -> Iterator[ValkeyServer]:
    with running(ValkeyServer(data_dir=tmp_path / "valkey")) as server:
        yield server
