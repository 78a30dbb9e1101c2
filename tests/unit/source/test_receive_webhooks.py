"""Webhooks: stored before they are answered; what is refused is counted."""

from __future__ import annotations

import httpx
import pytest
from fastapi import FastAPI

from remit.bus.clock import ManualClock
from remit.bus.errors import BusUnavailable
from remit.bus.memory import MemoryBus
from remit.bus.message import Message, Stored
from remit.domain.messages import EventDropped
from remit.source.drops import Drops
from remit.source.inbox import unpack
from remit.source.receive_webhooks import ReceiveWebhooks
from support.domain import GITHUB
from support.instances import SECRET, FakeInstance

SIGNED = {"x-secret": SECRET, "x-delivery": "d-1"}


class AwayBus(MemoryBus):
    async def publish(self, message: Message) -> Stored:
        raise BusUnavailable("store a message")


def client(bus: MemoryBus, limit: int = 1000) -> httpx.AsyncClient:
    app = FastAPI()
    webhooks = ReceiveWebhooks(
        {GITHUB: FakeInstance()}, bus, Drops(bus), ManualClock(), max_body_bytes=limit
    )
    app.include_router(webhooks.router())
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://remit")


async def drops(bus: MemoryBus) -> list[str]:
    found = [d async for d in bus.history("DROP", "drop.>")]
    return [EventDropped.model_validate_json(d.message.data).reason for d in found]


async def test_a_signed_delivery_is_in_the_inbox_when_the_answer_comes():
    bus = MemoryBus()
    async with client(bus) as http:
        answer = await http.post("/webhook/github", content=b"[1]", headers=SIGNED)
    assert answer.status_code == 202
    stored = await bus.last("INBOX", "inbox.>")
    assert stored is not None
    raw = unpack(stored)
    assert (raw.source, raw.delivery, raw.event, raw.body) == (GITHUB, "d-1", "numbers", b"[1]")


async def test_the_bytes_are_kept_as_they_came():
    bus = MemoryBus()
    body = b"[ 1,\r\n 2 ]\n"
    async with client(bus) as http:
        await http.post("/webhook/github", content=body, headers=SIGNED)
    stored = await bus.last("INBOX", "inbox.>")
    assert stored is not None
    assert stored.message.data == body


@pytest.mark.parametrize(
    ("headers", "body", "status", "reason"),
    [
        ({"x-delivery": "d"}, b"[1]", 401, "bad_signature"),
        ({"x-delivery": "d", "x-secret": "wrong"}, b"[1]", 401, "bad_signature"),
        (SIGNED, b"{", 400, "malformed"),
        (SIGNED, b"x" * 1001, 413, "too_large"),
    ],
)
async def test_what_is_refused_is_answered_with_why_and_counted(headers, body, status, reason):
    bus = MemoryBus()
    async with client(bus) as http:
        answer = await http.post("/webhook/github", content=body, headers=headers)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert await drops(bus) == [reason]
    assert await bus.last("INBOX", "inbox.>") is None


async def test_a_body_that_does_not_say_how_long_it_is_is_cut_off_at_the_limit():
    async def endless():
        for _ in range(100):
            yield b"x" * 100

    bus = MemoryBus()
    async with client(bus) as http:
        answer = await http.post("/webhook/github", content=endless(), headers=SIGNED)
    assert answer.status_code == 413


async def test_an_unknown_source_is_not_found():
    async with client(MemoryBus()) as http:
        answer = await http.post("/webhook/gitlab", content=b"[1]", headers=SIGNED)
    assert answer.status_code == 404
    assert "gitlab" in answer.json()["error"]


async def test_while_the_bus_is_away_the_provider_is_asked_to_come_again():
    async with client(AwayBus()) as http:
        answer = await http.post("/webhook/github", content=b"[1]", headers=SIGNED)
    assert answer.status_code == 503
    assert answer.headers["retry-after"]
