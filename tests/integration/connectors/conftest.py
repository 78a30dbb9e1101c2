"""A GitHub instance at work on the emulator: Alice maintains acme/shop, and the bot may write."""

from __future__ import annotations

import os
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from remit.connectors.contract import GitRemote
from remit.connectors.github import GitHubConnector, GitHubInstance
from remit.domain.channel import Address
from remit.domain.ids import SourceName, ThreadKey
from support.github_emulator import GitHubEmulator, Receiver, run_emulator

NAME = SourceName("hub")
TOKEN = "ghp_thebotstoken"
SECRET = "s3cret"
Configured = Callable[..., Awaitable[GitHubInstance]]

README = "".join(f"line {n}\n" for n in range(1, 21))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHubEmulator]:
    with run_emulator(tmp_path_factory.mktemp("emulator")) as emulator:
        yield emulator


@pytest.fixture
def emulator(running: GitHubEmulator) -> GitHubEmulator:
    running.reset()
    running.control.delete("/faults").raise_for_status()
    running.set_up("/accounts", login="acme", type="Organization")
    for login in ("alice", "remit-bot"):
        running.set_up("/accounts", login=login)
    running.set_up("/tokens", login="remit-bot", token=TOKEN)
    running.set_up(
        "/repos",
        owner="acme",
        name="shop",
        files={"README.md": README},
        collaborators={"alice": "admin", "remit-bot": "write"},
    )
    return running


@pytest.fixture
def receiver(emulator: GitHubEmulator) -> Iterator[Receiver]:
    receiver = Receiver()
    config = {"url": receiver.url, "secret": SECRET, "content_type": "json"}
    emulator.set_up("/repos/acme/shop/hooks", config=config, events=["*"])
    yield receiver
    emulator.settle()
    receiver.close()


@pytest.fixture
def alice(emulator: GitHubEmulator) -> httpx.Client:
    return emulator.acting_as("alice")


@pytest.fixture
def settings(emulator: GitHubEmulator, tmp_path: Path) -> dict[str, Any]:
    for name, value in (("token", TOKEN), ("secret", SECRET)):
        (tmp_path / name).write_text(value)
    return {
        "api_url": f"{emulator.base_url}/api/v3",
        "git_url": emulator.base_url,
        "token": {"file": str(tmp_path / "token")},
        "webhook_secret": {"file": str(tmp_path / "secret")},
        "repositories": ["acme/*"],
        "write_interval": 0,
    }


@pytest.fixture
async def configured(settings: dict[str, Any]) -> AsyncIterator[Configured]:
    """Return an instance with some settings changed."""
    async with AsyncExitStack() as stack:

        async def with_changes(**changes: Any) -> GitHubInstance:
            instance = await GitHubConnector().configure(NAME, settings | changes)
            stack.push_async_callback(instance.close)
            return instance

        yield with_changes


@pytest.fixture
async def instance(configured: Configured) -> GitHubInstance:
    return await configured()


@pytest.fixture
def misbehave(emulator: GitHubEmulator) -> Callable[..., None]:
    """Put a fault of the emulator in force."""

    def fault(kind: str, **facts: Any) -> None:
        emulator.control.post("/faults", json={"kind": kind} | facts).raise_for_status()

    return fault


@pytest.fixture
def push(instance: GitHubInstance, tmp_path: Path) -> Callable[[GitRemote, str], None]:
    """Push a branch with one change, with the credential of a remote."""

    def git(*arguments: str) -> None:
        environment = {key: value for key, value in os.environ.items() if key[:4] != "GIT_"}
        identity = ("-c", "user.name=Remit", "-c", "user.email=remit@example.org")
        subprocess.run(
            ["git", *identity, *arguments], check=True, capture_output=True, env=environment
        )

    def pushed(remote: GitRemote, branch: str) -> None:
        folder = tmp_path / branch.replace("/", "-")
        url = httpx.URL(remote.url).copy_with(username=remote.username, password=remote.password)
        git("clone", "-q", str(url), str(folder))
        (folder / "README.md").write_text(f"{branch}\n{README}")
        git("-C", str(folder), "commit", "-qam", "Change the first line")
        git("-C", str(folder), "push", "-q", "origin", f"HEAD:refs/heads/{branch}")

    return pushed


@pytest.fixture
def conversation(emulator: GitHubEmulator) -> Callable[[int], Address]:
    return lambda number: Address(
        source=NAME,
        thread=ThreadKey(f"hub:x/issue/{number}"),
        kind="issue",
        target=f"acme/shop#{number}",
    )
