"""One NATS with every stream and one Valkey for a whole session of tests.

Tests use names of their own, so that they do not see each other. A test that stops, kills or
pauses a server starts one of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from remit.cli.embedded import NatsServer, ValkeyServer
from support.servers import running, running_nats


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running_nats(tmp_path_factory.mktemp("nats")) as server:
        yield server


@pytest.fixture(scope="session")
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    with running(ValkeyServer(data_dir=tmp_path_factory.mktemp("valkey"))) as server:
        yield server
