"""The console keeps every connector's promises."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from remit.connectors.console import (
    ConsoleConnector,
    Entry,
    InMemoryTranscript,
    TranscriptUnavailable,
)
from remit.connectors.contract import DropReason
from remit.domain.channel import Address
from remit.domain.ids import SourceName, ThreadKey
from support.contracts.connector import ConnectorContract, Failure, Rig, Sent, changed

NAME = SourceName("desk")
TOKEN = "a-long-token"


class FailingTranscript(InMemoryTranscript):
    """A transcript that fails on demand."""

    def __init__(self) -> None:
        super().__init__()
        self.failure: Failure | None = None

    async def append(self, conversation: ThreadKey, entry: Entry) -> None:
        failure, self.failure = self.failure, None
        if failure is not Failure.REFUSES_FOR_NOW:
            await super().append(conversation, entry)
        if failure is not None:
            raise TranscriptUnavailable(failure.value)


def message(**changes: Any) -> bytes:
    document = {
        "conversation": "c1",
        "id": "m1",
        "author": {"id": "ann", "name": "Ann"},
        "text": "Please fix the header.",
        "at": "2026-11-30T11:59:00Z",
    }
    return json.dumps(document | changes).encode()


def sent(**changes: Any) -> Sent:
    return Sent(
        headers={"authorization": f"Bearer {TOKEN}", "content-type": "application/json"},
        body=message(**changes),
    )


def address(conversation: str) -> Address:
    thread = ThreadKey(f"{NAME}:{conversation}")
    return Address(source=NAME, thread=thread, kind="conversation", target=conversation)


class TestConsole(ConnectorContract):
    @pytest.fixture
    async def rig(self, tmp_path: Path) -> AsyncIterator[Rig]:
        token = tmp_path / "token"
        token.write_text(f"{TOKEN}\n")
        transcript = FailingTranscript()
        connector = ConsoleConnector(transcript)
        instance = await connector.configure(NAME, {"token": {"file": str(token)}})

        async def fail(failure: Failure) -> None:
            transcript.failure = failure

        async def appeared(where: Address) -> Sequence[str]:
            return [entry.text for entry in await transcript.entries(where.thread)]

        async def pass_time(span: timedelta) -> None:
            """A transcript asks for no patience."""

        yield Rig(
            instance=instance,
            deliveries=[
                sent(),
                sent(id="m2", text="And the footer.", at="2026-11-30T11:58:00Z"),
                sent(conversation="c2", author={"id": "bob"}),
            ],
            again=lambda one: one,
            own=[sent(author={"id": "remit", "name": "Remit"})],
            dropped=[(sent(text=" \n"), DropReason.NO_CONTENT)],
            forged=[
                Sent(headers={}, body=message()),
                changed(sent(), authorization="Bearer another"),
                changed(sent(), authorization=f"Basic {TOKEN}"),
                changed(sent(), authorization="Bearer "),
            ],
            malformed=[
                Sent(headers=sent().headers, body=b"{"),
                Sent(headers=sent().headers, body=b"[]"),
                Sent(headers=sent().headers, body=b'"\xff"'),
                sent(at="yesterday"),
                sent(at="2026-11-30T11:59:00"),
                sent(author={"name": "Ann"}),
                sent(conversation="a/b"),
                sent(id=""),
            ],
            addresses=[address("c1"), address("c2")],
            appeared=appeared,
            fail=fail,
            pass_time=pass_time,
        )
        await instance.close()
