"""One GitHub instance over a GitHub in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from remit.connectors.github import GitHubConnector, GitHubInstance
from remit.domain.ids import SourceName
from support.fake_github import API, FakeGitHub, TestClock
from support.github_payloads import BOT, SECRET

NAME = SourceName("hub")


@pytest.fixture
def clock() -> TestClock:
    return TestClock()


@pytest.fixture
def github(clock: TestClock) -> FakeGitHub:
    return FakeGitHub(clock, BOT)


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, object]:
    token, secret = tmp_path / "token", tmp_path / "secret"
    token.write_text("ghp_token\n")
    secret.write_text(f"{SECRET}\n")
    return {
        "api_url": API,
        "token": {"file": str(token)},
        "webhook_secret": {"file": str(secret)},
        "repositories": ["acme/*"],
        "write_interval": 0,
    }


@pytest.fixture
async def instance(
    github: FakeGitHub, clock: TestClock, settings: dict[str, object]
) -> AsyncIterator[GitHubInstance]:
    connector = GitHubConnector(clock=clock, transport=github.transport)
    made = await connector.configure(NAME, settings)
    github.requests.clear()
    yield made
    await made.close()
