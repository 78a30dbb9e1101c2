"""All of GitHub's example payloads, signed and posted twice, shuffled, services killed in between.

Each ends as a Trigger with a Disposition, or as a counted drop with a reason.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import random
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from remit.bus.nats import NatsBus
from remit.cli.embedded import NatsServer, ValkeyServer
from remit.connectors.configuration import configure, connectors, read_sources
from remit.connectors.github import GitHubInstance
from remit.domain.disposition import Disposition
from remit.domain.ids import SourceName, ticket_id_for
from remit.domain.messages import EventDropped, PolicyInForce
from remit.domain.policy import AcceptMode, AdmissionRow, Audience, Policy, SourcePart
from remit.domain.trigger import Trigger
from remit.runtime.wire import message_of
from support.deployment import Deployment, deployed
from support.domain import rule
from support.webhook_examples import Example, webhook_examples

SECRET = b"it is a secret"
SETTLED_WITHIN = 90.0
EVERYBODY = Policy(
    accept=AcceptMode.AUTO,
    rules=(rule(inferred=True),),
    sources={
        SourceName("github"): SourcePart(
            allowed=frozenset({"21031067"}),
            admission=(
                AdmissionRow(
                    listen=Audience.EVERYONE,
                    others_unaddressed="candidate",
                    others_addressed="candidate",
                    allowed_unaddressed="request",
                ),
            ),
        )
    },
)


def delivery_of(number: int, name: str, payload: dict) -> tuple[dict[str, str], bytes]:
    body = json.dumps(payload).encode()
    signature = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
    headers = {
        "X-GitHub-Event": name,
        "X-GitHub-Delivery": f"00000000-0000-0000-0000-{number:012d}",
        "X-Hub-Signature-256": f"sha256={signature}",
        "Content-Type": "application/json",
    }
    return headers, body


def sources(folder: Path) -> Path:
    (folder / "secret").write_bytes(SECRET)
    (folder / "token").write_text("a token")
    document = folder / "sources.yaml"
    document.write_text(
        f"""
sources:
  github:
    kind: github
    repositories: ["*/*"]
    bot: {{id: 999999999, login: remit-bot}}
    token: {{file: {folder}/token}}
    webhook_secret: {{file: {folder}/secret}}
"""
    )
    return document


async def post_until_taken(
    http: httpx.AsyncClient, deployment: Deployment, number: int, example: Example
) -> int:
    """Post one delivery as a provider's redelivery would: until it is taken. Return what it got."""
    headers, body = delivery_of(number, *example)
    for _ in range(200):
        url = f"{deployment.services['source'].url}/webhook/github"
        try:
            answer = await http.post(url, headers=headers, content=body)
        except httpx.TransportError:
            await asyncio.sleep(0.1)
            continue
        if answer.status_code != 503:
            return answer.status_code
        await asyncio.sleep(0.1)
    raise AssertionError(f"delivery {number} was never taken")


async def payloads(bus: NatsBus, stream: str, model: type) -> list:
    return [model.model_validate_json(one.message.data) async for one in bus.history(stream, ">")]


async def until_settled(bus: NatsBus, posted: int) -> None:
    """Wait until the queues are empty and every Trigger has a Disposition."""
    deadline = time.monotonic() + SETTLED_WITHIN
    while time.monotonic() < deadline:
        triggers = {t.id for t in await payloads(bus, "TRIGGER", Trigger)}
        settled = {d.trigger for d in await payloads(bus, "DISPOSITION", Disposition)}
        drops = {(d.delivery, d.event) for d in await payloads(bus, "DROP", EventDropped)}
        waiting = await bus.next("INBOX", ">", after=0)
        if waiting is None and triggers <= settled and len(triggers) + len(drops) >= posted:
            return
        await asyncio.sleep(0.5)
    raise AssertionError(
        f"{len(triggers - settled)} Triggers without a Disposition; "
        f"inbox {'empty' if waiting is None else 'not empty'}"
    )


@pytest.mark.slow
@pytest.mark.timeout(240)
@pytest.mark.rule("SRC-2")
@pytest.mark.rule("SRC-4")
@pytest.mark.rule("SRC-7")
@pytest.mark.rule("TRG-3")
@pytest.mark.rule("TRG-4")
@pytest.mark.field("B1")
@pytest.mark.field("C12")
async def test_every_example_is_accounted_for_once(
    own_nats: NatsServer, own_valkey: ValkeyServer, tmp_path: Path
) -> None:
    examples = webhook_examples()
    assert len(examples) == 329
    environment = {
        "REMIT_NATS_URL": own_nats.url,
        "REMIT_REDIS_URL": own_valkey.url,
        "REMIT_SOURCES_FILE": str(sources(tmp_path)),
        "REMIT_HORIZON": "P10000D",  # The examples are years old.
    }
    bus = await NatsBus.connect(own_nats.url, name="test")
    applied = PolicyInForce(
        policy=EVERYBODY, text="", applied_at=datetime.now(UTC), applied_by="a test"
    )
    await bus.publish(message_of(applied, id="policy", source="test"))
    rng = random.Random(329)
    twice = [(number, example) for number, example in enumerate(examples)] * 2
    rng.shuffle(twice)
    async with deployed(tmp_path, environment, "source", "ticket", "eval") as deployment:

        async def kill_now_and_then() -> None:
            for name in ("ticket", "source", "eval", "ticket"):
                await asyncio.sleep(1.0)
                await deployment.kill(name)
                await deployment.services[name].until("ready")

        killing = asyncio.create_task(kill_now_and_then())
        statuses: Counter[int] = Counter()
        waiting = list(twice)

        async def post() -> None:
            async with httpx.AsyncClient(timeout=30) as http:
                while waiting:
                    number, example = waiting.pop()
                    status = await post_until_taken(http, deployment, number, example)
                    statuses[status] += 1
                    await asyncio.sleep(0.03)

        await asyncio.gather(*(post() for _ in range(4)))
        await killing
        assert statuses == {202: 658}, "no example is refused, none is answered with 5xx"
        await until_settled(bus, posted=0)

    triggers = await payloads(bus, "TRIGGER", Trigger)
    dispositions = await payloads(bus, "DISPOSITION", Disposition)
    drops = await payloads(bus, "DROP", EventDropped)
    ids = [trigger.id for trigger in triggers]
    assert len(ids) == len(set(ids)), "no Trigger twice"
    assert {d.trigger for d in dispositions} == set(ids), "each Trigger has its Disposition"
    document = read_sources(tmp_path / "sources.yaml")
    [instance] = (await configure(document, connectors())).values()
    assert isinstance(instance, GitHubInstance)
    dropped = {(drop.event, drop.delivery) for drop in drops}
    expected: set[str] = set()
    for number, (name, payload) in enumerate(examples):
        became = trigger_ids_of(instance, name, payload)
        expected |= became
        delivery = delivery_of(number, name, payload)[0]["X-GitHub-Delivery"]
        assert became or (name, delivery) in dropped, f"{name} {number} is unaccounted for"
    assert set(ids) == expected
    tickets = [one.message.subject async for one in bus.history("TICKET", ">")]
    opened = {subject.rpartition(".")[2] for subject in tickets}
    assert opened <= {ticket_id_for(one) for one in ids}, "no Ticket but of a Trigger"
    assert len(opened) >= 5, "the history is no trivial one"
    assert await bus.next("DEADLETTER", ">", after=0) is None
    await bus.close()


def trigger_ids_of(instance: GitHubInstance, name: str, payload: dict) -> set[str]:
    """What the pure normaliser makes of one example."""
    headers, body = delivery_of(0, name, payload)
    lowered = {key.lower(): value for key, value in headers.items()}
    raw = instance.source.receive(lowered, body, received_at=datetime.now(UTC))
    return {one.id for one in instance.source.normalise(raw) if isinstance(one, Trigger)}
