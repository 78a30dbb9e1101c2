"""One emulator process for these tests, emptied before each, and every answer of it judged."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.github_emulator import GitHubEmulator, Receiver, run_emulator
from support.github_schemas import GitHubSchemas, schemas_reason

BOT_TOKEN = "ghp_thebotstoken"
ALICE_TOKEN = "ghp_alicestoken"
README = "".join(f"line {n}\n" for n in range(1, 21))


@pytest.fixture(scope="session")
def judges() -> GitHubSchemas | None:
    return None if schemas_reason() else GitHubSchemas()


@pytest.fixture
def schemas(judges: GitHubSchemas | None) -> GitHubSchemas:
    if judges is None:
        pytest.skip(schemas_reason() or "")
    return judges


@pytest.fixture(scope="module")
def running(
    tmp_path_factory: pytest.TempPathFactory, judges: GitHubSchemas | None
) -> Iterator[GitHubEmulator]:
    with run_emulator(tmp_path_factory.mktemp("emulator"), schemas=judges) as emulator:
        yield emulator


@pytest.fixture
def emulator(running: GitHubEmulator) -> GitHubEmulator:
    """An emulator with a public repository acme/shop: Alice maintains it, the bot may write."""
    running.reset()
    running.set_up("/accounts", login="acme", type="Organization", name="Acme")
    running.set_up("/accounts", login="alice", name="Alice", email="alice@example.com")
    running.set_up("/accounts", login="stranger")
    running.set_up("/accounts", login="remit-bot", email="bot@example.com")
    running.set_up("/accounts", login="ci[bot]", type="Bot")
    running.set_up("/tokens", login="remit-bot", token=BOT_TOKEN)
    running.set_up("/tokens", login="alice", token=ALICE_TOKEN)
    running.set_up(
        "/repos",
        owner="acme",
        name="shop",
        files={"README.md": README, "src/cart.py": "total = 0\n"},
        collaborators={"alice": "admin", "remit-bot": "write"},
    )
    return running


@pytest.fixture
def receiver(emulator: GitHubEmulator, judges: GitHubSchemas | None) -> Iterator[Receiver]:
    """A hook on acme/shop that takes everything; what it got is judged at the end."""
    receiver = Receiver()
    config = {"url": receiver.url, "secret": "s3cret", "content_type": "json"}
    emulator.set_up("/repos/acme/shop/hooks", config=config, events=["*"])
    yield receiver
    emulator.settle()
    receiver.close()
    if judges is not None:
        faults = [
            fault
            for it in receiver.received
            for fault in judges.faults_of_delivery(it.event, it.headers, it.payload)
        ]
        assert not faults, "\n".join(faults)
