"""The GitHub connector keeps every connector's promises on a GitHub over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import httpx
import pytest

from remit.connectors.contract import DropReason
from remit.connectors.github import GitHubInstance
from remit.connectors.markers import strip
from remit.domain.channel import Address
from support.contracts.connector import ConnectorContract, Failure, Rig, Sent, changed
from support.github_emulator import GitHubEmulator, Receiver

SHOP = "/repos/acme/shop"


class TestGitHubOverHttp(ConnectorContract):
    @pytest.fixture
    def rig(
        self,
        instance: GitHubInstance,
        emulator: GitHubEmulator,
        receiver: Receiver,
        alice: httpx.Client,
        conversation: Callable[[int], Address],
        misbehave: Callable[..., None],
    ) -> Rig:
        bot = emulator.acting_as("remit-bot")
        for title in ("The header is broken", "So is the footer"):
            alice.post(f"{SHOP}/issues", json={"title": title, "body": "@remit-bot please"})
        comment = alice.post(f"{SHOP}/issues/1/comments", json={"body": "And soon."}).json()
        path = f"{SHOP}/issues/comments/{comment['id']}"
        alice.patch(path, json={"body": "And soon, @remit-bot."})
        alice.patch(f"{SHOP}/issues/2", json={"labels": ["bug"]})
        # The agent speaks elsewhere, so that the places to write to are empty.
        bot.post(f"{SHOP}/issues", json={"title": "What I found"})
        bot.post(f"{SHOP}/issues/3/comments", json={"body": "More of it."})
        emulator.settle()

        def came(title: str, nth: int = 0) -> Sent:
            found = [one for one in receiver.received if one.title == title]
            return Sent(headers=found[nth].headers, body=found[nth].body)

        faults: dict[Failure, dict[str, Any]] = {
            Failure.REFUSES_FOR_NOW: {"kind": "server_error"},
            Failure.LOSES_THE_ANSWER: {"kind": "time_out", "seconds": 0},
        }

        async def fail(failure: Failure) -> None:
            fault = {"method": "POST", "path": "/comments"} | faults[failure]
            await asyncio.to_thread(misbehave, **fault)

        async def appeared(address: Address) -> Sequence[str]:
            written = await asyncio.to_thread(emulator.written, by="remit-bot", kind="comment")
            number = int(address.target.partition("#")[2])
            return [strip(row["body"]) for row in written if row["number"] == number]

        async def pass_time(span: timedelta) -> None:
            """The emulator sets no limit here, so there is nothing to wait for."""

        opened = came("issues.opened")
        return Rig(
            instance=instance,
            deliveries=[
                opened,
                came("issues.opened", 1),
                came("issue_comment.created"),
                came("issue_comment.edited"),
            ],
            again=lambda one: changed(one, x_github_delivery="another"),
            own=[came("issues.opened", 2), came("issue_comment.created", 1)],
            dropped=[
                (came("issues.labeled"), DropReason.UNHANDLED_ACTION),
                (came("ping"), DropReason.UNKNOWN_EVENT),
            ],
            forged=[changed(opened, x_hub_signature_256="sha256=" + "0" * 64)],
            malformed=[changed(opened, x_github_event="")],
            addresses=[conversation(1), conversation(2)],
            appeared=appeared,
            fail=fail,
            pass_time=pass_time,
        )
