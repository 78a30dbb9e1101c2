"""What is particular to the console."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from remit.connectors.console import ConsoleConnector, Entry, InMemoryTranscript
from remit.connectors.contract import ConfigurationInvalid, ProviderUnavailable
from remit.domain.channel import Address, ChannelWrite, PullRequest, WriteKind, WriteOutcome
from remit.domain.ids import SourceName, ThreadKey, TicketId, WriteId
from remit.domain.trigger import ActorClass, Addressing, Reception, ScopeKind, Trigger

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
NAME = SourceName("desk")
OPEN = {"open": True}


class StillClock:
    def now(self) -> datetime:
        return NOW

    async def sleep(self, seconds: float) -> None:
        raise AssertionError("the console never waits")


def message(**changes: Any) -> bytes:
    document = {
        "conversation": "c1",
        "id": "m1",
        "author": {"id": "ann@example.org", "name": "Ann"},
        "text": "See t-abcdefgh234567ab, please.",
        "at": "2026-11-30T13:59:00+02:00",
    }
    return json.dumps(document | changes).encode()


def write(kind: WriteKind, **changes: Any) -> ChannelWrite:
    thread = ThreadKey("desk:c1")
    return ChannelWrite(
        id=WriteId("t-abc-w1"),
        ticket=TicketId("t-abc"),
        address=Address(source=NAME, thread=thread, kind="conversation", target="c1"),
        kind=kind,
        body="Done.",
        requested_at=NOW,
        **changes,
    )


async def read(body: bytes, name: SourceName = NAME) -> Trigger:
    instance = await ConsoleConnector().configure(name, OPEN)
    (trigger,) = instance.source.normalise(instance.source.receive({}, body, received_at=NOW))
    assert isinstance(trigger, Trigger)
    return trigger


@pytest.mark.rule("TRG-1")
async def test_a_message_becomes_a_direct_request_of_its_author() -> None:
    trigger = await read(message())
    assert trigger.id == "desk:c1/m1"
    assert trigger.threads == ("desk:c1",)
    assert trigger.actor.id == "ann@example.org"
    assert trigger.actor.actor_class is ActorClass.PERSON
    assert trigger.actor.name == "Ann"
    assert trigger.addressing is Addressing.DIRECT
    assert trigger.scope.kind is ScopeKind.DIRECT
    assert not trigger.scope.public
    assert trigger.occurred_at == datetime(2026, 11, 30, 11, 59, tzinfo=UTC)
    assert trigger.received_at == NOW
    assert trigger.received_by is Reception.CONSOLE
    assert trigger.text == "See t-abcdefgh234567ab, please."
    assert trigger.channels[0].target == "c1"


@pytest.mark.rule("SUB-7")
async def test_a_ticket_named_in_the_text_is_pointed_at() -> None:
    assert (await read(message())).points_at == ("t-abcdefgh234567ab",)


@pytest.mark.rule("SRC-1")
async def test_two_consoles_share_no_ids() -> None:
    first, second = await read(message()), await read(message(), SourceName("other"))
    assert first.id != second.id
    assert set(first.threads).isdisjoint(second.threads)


@pytest.mark.rule("SRC-1")
async def test_two_consoles_share_no_conversation() -> None:
    transcript = InMemoryTranscript()
    connector = ConsoleConnector(transcript)
    for name in ("desk", "other"):
        instance = await connector.configure(SourceName(name), OPEN)
        await instance.channel.write(write(WriteKind.REPLY))
    assert len(await transcript.entries(ThreadKey("desk:c1"))) == 1
    assert len(await transcript.entries(ThreadKey("other:c1"))) == 1


async def test_a_reply_is_said_by_the_agent_at_the_time_of_the_clock() -> None:
    transcript = InMemoryTranscript()
    connector = ConsoleConnector(transcript, clock=StillClock())
    instance = await connector.configure(NAME, OPEN | {"agent": "helper"})
    receipt = await instance.channel.write(write(WriteKind.REPLY))
    assert receipt.outcome is WriteOutcome.ACCEPTED
    assert await transcript.entries(ThreadKey("desk:c1")) == (
        Entry(key="t-abc-w1", author="helper", text="Done.", at=NOW),
    )


@pytest.mark.parametrize("kind", [WriteKind.PULL_REQUEST, WriteKind.RESOLVE])
async def test_what_a_conversation_cannot_hold_is_refused_with_a_reason(kind: WriteKind) -> None:
    transcript = InMemoryTranscript()
    instance = await ConsoleConnector(transcript).configure(NAME, OPEN)
    pull = PullRequest(branch="work", title="Work")
    receipt = await instance.channel.write(write(kind, pull_request=pull))
    assert receipt.outcome is WriteOutcome.REFUSED
    assert receipt.reason
    assert await transcript.entries(ThreadKey("desk:c1")) == ()


async def test_a_process_without_a_transcript_does_not_pretend_to_write() -> None:
    instance = await ConsoleConnector().configure(NAME, OPEN)
    with pytest.raises(ConfigurationInvalid, match="transcript"):
        await instance.channel.write(write(WriteKind.REPLY))


async def test_there_is_nowhere_to_push_to() -> None:
    assert (await ConsoleConnector().configure(NAME, OPEN)).code_host is None


@pytest.mark.parametrize(
    ("settings", "place", "problem"),
    [
        ({}, "settings", "token"),
        ({"open": False}, "settings", "open: true"),
        ({"open": True, "token": {"env": "T"}}, "settings", "not both"),
        ({"token": "secret"}, "token", ""),
        ({"token": {"env": "T", "file": "/t"}}, "token", "never the value itself"),
        ({"open": True, "agnet": "x"}, "agnet", "known are agent, open, token"),
    ],
)
async def test_a_setting_that_will_not_do_is_named(
    settings: dict[str, Any], place: str, problem: str
) -> None:
    with pytest.raises(ConfigurationInvalid) as refused:
        await ConsoleConnector().configure(NAME, settings)
    assert refused.value.place == place
    assert problem in refused.value.problem


async def test_a_token_that_is_not_there_lets_nobody_in(tmp_path: Path) -> None:
    settings = {"token": {"file": str(tmp_path / "none")}}
    instance = await ConsoleConnector().configure(NAME, settings)
    with pytest.raises(ProviderUnavailable, match="token"):
        instance.source.receive({"authorization": "Bearer x"}, message(), received_at=NOW)
