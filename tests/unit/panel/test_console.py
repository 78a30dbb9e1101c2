"""Talking to the agent: the panel hands messages to the source service."""

from __future__ import annotations

from itertools import count

import httpx
import pytest

from remit.bus.clock import ManualClock
from remit.connectors.console import ConsoleMessage
from remit.panel.console_sender import ConsoleClosed, ConsoleSender


class SourceService:
    """What the source service does with a message, told in advance."""

    def __init__(self, status: int = 202, error: Exception | None = None) -> None:
        self.received: list[httpx.Request] = []
        self._status = status
        self._error = error

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.received.append(request)
        if self._error is not None:
            raise self._error
        return httpx.Response(self._status, json={"error": "the bearer token is not it"})


def sender(service: SourceService, url: str | None = "http://source/", token: str | None = "t0ken"):
    ids = (f"m{number}" for number in count(1))
    return ConsoleSender(
        httpx.AsyncClient(transport=httpx.MockTransport(service)),
        source_url=url,
        source="console",
        token=token,
        clock=ManualClock(),
        new_id=lambda: next(ids),
    )


async def test_a_message_reaches_the_console_of_the_source_service_as_it_wants_it():
    service = SourceService()
    trigger = await sender(service).say("talk", person="alice", text="Hello, 你好")
    assert trigger == "console:talk/m1"
    (request,) = service.received
    assert str(request.url) == "http://source/webhook/console"
    assert request.headers["authorization"] == "Bearer t0ken"
    message = ConsoleMessage.model_validate_json(request.content)
    assert (message.conversation, message.id, message.text) == ("talk", "m1", "Hello, 你好")
    assert (message.author.id, message.author.name) == ("alice", "alice")
    assert message.at == ManualClock().now()


async def test_without_a_token_none_is_sent():
    service = SourceService()
    await sender(service, token=None).say("talk", person="alice", text="x")
    assert "authorization" not in service.received[0].headers


@pytest.mark.parametrize(
    ("service", "away", "says"),
    [
        (SourceService(401), False, "401"),
        (SourceService(503), True, "503"),
        (SourceService(error=httpx.ConnectError("refused")), True, "http://source/webhook/console"),
        (SourceService(error=httpx.ReadTimeout("slow")), True, "ReadTimeout"),
    ],
)
async def test_a_message_that_was_not_taken_is_told_with_the_reason(service, away, says):
    with pytest.raises(ConsoleClosed, match=says) as closed:
        await sender(service).say("talk", person="alice", text="x")
    assert closed.value.away is away
    assert "t0ken" not in str(closed.value)


async def test_a_panel_that_does_not_know_the_source_service_says_which_setting_is_missing():
    console = sender(SourceService(), url=None)
    assert not console.open
    with pytest.raises(ConsoleClosed, match="REMIT_SOURCE_URL"):
        await console.say("talk", person="alice", text="x")


@pytest.mark.parametrize("name", ["a b", "x" * 129, "%0A", "ü"])
async def test_a_conversation_needs_a_plain_name(panel, name):
    answer = await panel.http.post(f"/api/console/{name}", json={"text": "hi"})
    assert answer.status_code == 422


@pytest.mark.parametrize("body", [{}, {"text": ""}, {"text": 3}, {"text": "x" * 65_537}, []])
async def test_a_message_needs_a_text_within_the_limit(panel, body):
    assert (await panel.http.post("/api/console/x", json=body)).status_code == 422


async def test_the_person_who_is_logged_in_is_the_author(services, tmp_path, monkeypatch):
    from support.panel import running_panel

    (tmp_path / "tokens").write_text("alice a-token-of-the-tests\n")
    said: list[tuple[str, str, str]] = []

    async def say(self, conversation: str, *, person: str, text: str) -> str:
        said.append((conversation, person, text))
        return f"console:{conversation}/1"

    monkeypatch.setattr(ConsoleSender, "say", say)
    async with running_panel(services.bus, tmp_path, services.clock) as panel:
        answer = await panel.http.post("/api/console/talk", json={"text": "hi"})
    assert (answer.status_code, answer.json()) == (202, {"trigger": "console:talk/1"})
    assert said == [("talk", "alice", "hi")]
