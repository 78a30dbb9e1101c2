"""Everything that GitHub's own examples show ends as a Trigger or as a counted drop."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from remit.connectors.contract import Drop, DropReason
from remit.connectors.github import GitHubConnector, GitHubInstance
from remit.domain.ids import SourceName
from remit.domain.trigger import Trigger
from support.contracts.connector import RECEIVED
from support.github_payloads import signed
from support.webhook_examples import webhook_examples

COUNT = 329


@pytest.fixture
async def everywhere(settings: dict[str, object]) -> AsyncIterator[GitHubInstance]:
    """An instance that listens to every repository, and knows who it is without asking."""
    wide = settings | {"repositories": ["*/*"], "bot": {"id": 900, "login": "remit"}}
    instance = await GitHubConnector().configure(SourceName("hub"), wide)
    yield instance
    await instance.close()


def read(instance: GitHubInstance, name: str, body: bytes, delivery: int) -> Trigger | Drop:
    sent = signed(name, body, delivery=str(delivery))
    received = RECEIVED + timedelta(seconds=delivery)
    raw = instance.source.receive(sent.headers, sent.body, received_at=received)
    (one,) = instance.source.normalise(raw)
    assert isinstance(one, Trigger | Drop)
    return one


@pytest.mark.rule("SRC-4")
@pytest.mark.field("C12")
def test_every_example_is_accounted_for(everywhere: GitHubInstance) -> None:
    examples = webhook_examples()
    assert len(examples) == COUNT
    fates: Counter[str] = Counter()
    for number, (name, payload) in enumerate(examples):
        one = read(everywhere, name, json.dumps(payload).encode(), number)
        fates["trigger" if isinstance(one, Trigger) else one.reason] += 1
    assert fates == {
        "trigger": 38,
        DropReason.UNHANDLED_ACTION: 35,
        DropReason.NO_CONTENT: 3,
        DropReason.UNKNOWN_EVENT: 253,
    }


@pytest.mark.rule("SRC-7")
@pytest.mark.rule("TRG-3")
def test_examples_sent_twice_and_shuffled_give_the_same_triggers(
    everywhere: GitHubInstance,
) -> None:
    bodies = [(name, json.dumps(payload).encode()) for name, payload in webhook_examples()]
    chaos = random.Random(7)
    seen: list[set[str]] = []
    for stream in (bodies, chaos.sample(bodies * 2, len(bodies) * 2)):
        found = (read(everywhere, name, body, n) for n, (name, body) in enumerate(stream))
        seen.append({one.id for one in found if isinstance(one, Trigger)})
    assert seen[0] == seen[1]
