"""What people see on GitHub when the agent is at work there, and what it sees of them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from remit.connectors import markers
from remit.connectors.contract import Drop, DropReason, GitRemote, ProviderUnavailable
from remit.connectors.github import GitHubInstance
from remit.domain.channel import Address, ChannelWrite, PullRequest, WriteKind, WriteOutcome
from remit.domain.ids import TicketId, WriteId
from remit.domain.trigger import Addressing, Trigger
from support.contracts.connector import Sent
from support.github_emulator import GitHubEmulator, Receiver
from support.github_reading import read_one

SHOP = "/repos/acme/shop"
Push = Callable[[GitRemote, str], None]
Misbehave = Callable[..., None]
Configured = Callable[..., Awaitable[GitHubInstance]]


def write(address: Address, body: str = "Done.", number: int = 1, **changes: Any) -> ChannelWrite:
    fields: dict[str, Any] = {
        "id": WriteId(f"t-abc-w{number}"),
        "ticket": TicketId("t-abc"),
        "address": address,
        "kind": WriteKind.REPLY,
        "body": body,
        "requested_at": datetime.now(UTC),
    }
    return ChannelWrite(**(fields | changes))


def read_all(instance: GitHubInstance, receiver: Receiver) -> list[Trigger | Drop]:
    return [read_one(instance, Sent(headers=it.headers, body=it.body)) for it in receiver.received]


def triggers_in(instance: GitHubInstance, receiver: Receiver) -> list[Trigger]:
    return [one for one in read_all(instance, receiver) if isinstance(one, Trigger)]


@pytest.fixture
def issue(alice: httpx.Client) -> int:
    answer = alice.post(f"{SHOP}/issues", json={"title": "Broken", "body": "@remit-bot please"})
    number: int = answer.json()["number"]
    return number


@pytest.mark.rule("CHN-3")
@pytest.mark.field("B10")
async def test_a_write_that_timed_out_after_github_took_it_appears_once(
    configured: Configured,
    misbehave: Misbehave,
    emulator: GitHubEmulator,
    issue: int,
    conversation: Callable[[int], Address],
) -> None:
    instance = await configured(timeout=0.5)
    misbehave("time_out", seconds=30, method="POST", path="/comments")
    wanted = write(conversation(issue))
    with pytest.raises(ProviderUnavailable, match="ReadTimeout"):
        await instance.channel.write(wanted)
    receipt = await instance.channel.write(wanted)
    (comment,) = emulator.written(by="remit-bot", kind="comment")
    assert receipt.outcome is WriteOutcome.ACCEPTED
    assert receipt.object_id == str(comment["id"])
    assert receipt.url == comment["html_url"]


@pytest.mark.rule("CHN-4")
@pytest.mark.field("C21")
@pytest.mark.parametrize("hint", [{"retry_after": 1}, {}])
async def test_a_secondary_limit_delays_a_write_and_loses_none(
    configured: Configured,
    misbehave: Misbehave,
    emulator: GitHubEmulator,
    issue: int,
    conversation: Callable[[int], Address],
    hint: dict[str, int],
) -> None:
    # Without a hint GitHub wants a minute; the cap makes that a moment here.
    instance = await configured(longest_wait=1)
    misbehave("secondary_limit", method="POST", **hint)
    wanted = write(conversation(issue))
    with pytest.raises(ProviderUnavailable) as delayed:
        await instance.channel.write(wanted)
    assert delayed.value.retry_after == timedelta(seconds=1)
    with pytest.raises(ProviderUnavailable):
        await instance.channel.write(wanted)
    await asyncio.sleep(1.1)
    receipt = await instance.channel.write(wanted)
    assert receipt.outcome is WriteOutcome.ACCEPTED
    assert len(emulator.written(by="remit-bot", kind="comment")) == 1


@pytest.mark.field("C21")
async def test_a_reset_that_is_an_hour_away_is_not_waited_for_at_once(
    instance: GitHubInstance,
    misbehave: Misbehave,
    issue: int,
    conversation: Callable[[int], Address],
) -> None:
    misbehave("primary_limit", resets_in=3600)
    with pytest.raises(ProviderUnavailable) as delayed:
        await instance.channel.write(write(conversation(issue)))
    assert delayed.value.retry_after == timedelta(minutes=15)


@pytest.mark.rule("SRC-3")
async def test_what_the_agent_writes_comes_back_and_is_dropped(
    instance: GitHubInstance,
    emulator: GitHubEmulator,
    receiver: Receiver,
    issue: int,
    conversation: Callable[[int], Address],
) -> None:
    await instance.channel.write(write(conversation(issue), "On it: @remit-bot please"))
    emulator.settle()
    assert receiver.titles() == ["issues.opened", "issue_comment.created"]
    ping, request, own = read_all(instance, receiver)
    assert isinstance(request, Trigger)
    assert request.addressing is Addressing.MENTION
    assert ping == Drop(DropReason.UNKNOWN_EVENT, "ping")
    assert isinstance(own, Drop)
    assert own.reason is DropReason.OWN_MESSAGE


@pytest.mark.rule("CHN-1")
async def test_the_answer_goes_where_the_trigger_says(
    instance: GitHubInstance, emulator: GitHubEmulator, receiver: Receiver, issue: int
) -> None:
    emulator.settle()
    (request,) = triggers_in(instance, receiver)
    await instance.channel.write(write(request.channels[0]))
    (comment,) = emulator.written(by="remit-bot", kind="comment")
    assert comment["number"] == issue


@pytest.mark.rule("CHN-2")
@pytest.mark.field("C12")
async def test_a_pull_request_is_opened_reviewed_and_answered_in_its_review_threads(
    instance: GitHubInstance,
    emulator: GitHubEmulator,
    receiver: Receiver,
    alice: httpx.Client,
    issue: int,
    conversation: Callable[[int], Address],
    push: Push,
    misbehave: Misbehave,
) -> None:
    where = conversation(issue)
    await asyncio.to_thread(push, await instance.code_host.remote(where), "remit/t-abc")
    pull = PullRequest(branch="remit/t-abc", title="Mend it")
    wanted = write(where, f"Fixes #{issue}", kind=WriteKind.PULL_REQUEST, pull_request=pull)
    misbehave("time_out", seconds=0, method="POST", path="/pulls")
    with pytest.raises(ProviderUnavailable):
        await instance.channel.write(wanted)
    opened = await instance.channel.write(wanted)
    assert len(emulator.written(kind="pull")) == 1
    assert opened.outcome is WriteOutcome.ACCEPTED
    number = int(opened.object_id or 0)

    review = {
        "event": "COMMENT",
        "comments": [{"path": "README.md", "line": 1, "body": "Why, @remit-bot?"}],
    }
    reviewed = await asyncio.to_thread(alice.post, f"{SHOP}/pulls/{number}/reviews", json=review)
    assert reviewed.is_success
    emulator.settle()
    (question,) = [
        one
        for one in triggers_in(instance, receiver)
        if one.kind == "pull_request_review_comment.created"
    ]
    assert question.home == opened.thread
    assert question.addressing is Addressing.MENTION

    receipt = await instance.channel.write(write(question.channels[0], "Because.", 2))
    assert receipt.outcome is WriteOutcome.ACCEPTED
    shown = await asyncio.to_thread(alice.get, f"{SHOP}/pulls/{number}/comments")
    asked, answer = shown.json()
    assert answer["in_reply_to_id"] == asked["id"]
    assert markers.strip(answer["body"]) == "Because."
    assert emulator.written(by="remit-bot", kind="comment") == []


@pytest.mark.rule("SRC-3")
@pytest.mark.rule("SRC-6")
async def test_a_merge_by_the_agent_is_kept_and_its_push_is_not(
    instance: GitHubInstance,
    emulator: GitHubEmulator,
    receiver: Receiver,
    issue: int,
    conversation: Callable[[int], Address],
    push: Push,
) -> None:
    where = conversation(issue)
    await asyncio.to_thread(push, await instance.code_host.remote(where), "remit/t-abc")
    pull = PullRequest(branch="remit/t-abc", title="Mend it")
    wanted = write(where, "Done", kind=WriteKind.PULL_REQUEST, pull_request=pull)
    opened = await instance.channel.write(wanted)
    bot = emulator.acting_as("remit-bot")
    assert bot.put(f"{SHOP}/pulls/{opened.object_id}/merge", json={}).is_success
    emulator.settle()
    kinds = [one.kind for one in triggers_in(instance, receiver)]
    assert "pull_request.merged" in kinds
    assert "pull_request.opened" not in kinds


@pytest.mark.rule("SRC-7")
@pytest.mark.field("B1")
def test_duplicated_and_reordered_deliveries_give_each_trigger_once(
    instance: GitHubInstance,
    emulator: GitHubEmulator,
    receiver: Receiver,
    alice: httpx.Client,
    misbehave: Misbehave,
) -> None:
    misbehave("duplicate", copies=2, same_guid=False, times=2)
    misbehave("reorder", window=3, times=3)
    alice.post(f"{SHOP}/issues", json={"title": "One"})
    for number in range(4):
        alice.post(f"{SHOP}/issues/1/comments", json={"body": f"Remark {number}"})
    emulator.control.delete("/faults").raise_for_status()
    emulator.settle()
    found = triggers_in(instance, receiver)
    assert len(found) > 5
    assert len({one.id for one in found}) == 5


async def test_an_issue_that_is_gone_is_a_refusal(
    instance: GitHubInstance, conversation: Callable[[int], Address]
) -> None:
    long_ago = datetime.now(UTC) - timedelta(hours=1)
    receipt = await instance.channel.write(write(conversation(99), requested_at=long_ago))
    assert receipt.outcome is WriteOutcome.REFUSED
    assert receipt.reason == "GitHub answered 404: Not Found"


async def test_a_token_that_was_revoked_puts_a_write_off_until_it_is_replaced(
    instance: GitHubInstance,
    emulator: GitHubEmulator,
    settings: dict[str, Any],
    issue: int,
    conversation: Callable[[int], Address],
) -> None:
    emulator.control.delete("/tokens/ghp_thebotstoken").raise_for_status()
    with pytest.raises(ProviderUnavailable, match="put a valid token in its place"):
        await instance.channel.write(write(conversation(issue)))
    emulator.set_up("/tokens", login="remit-bot", token="ghp_anothertoken")
    await asyncio.to_thread(Path(settings["token"]["file"]).write_text, "ghp_anothertoken")
    receipt = await instance.channel.write(write(conversation(issue)))
    assert receipt.outcome is WriteOutcome.ACCEPTED
