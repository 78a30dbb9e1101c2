"""Faults on demand: deliveries that go astray, and requests that go wrong."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from support.github_emulator import GitHubEmulator, Receiver

SHOP = "/repos/acme/shop"


@pytest.fixture
def alice(emulator: GitHubEmulator) -> httpx.Client:
    return emulator.acting_as("alice")


@pytest.fixture
def bot(emulator: GitHubEmulator) -> httpx.Client:
    """The bot's own client, whose answers nobody judges: faults are no part of the API."""
    client = httpx.Client(
        base_url=f"{emulator.base_url}/api/v3",
        headers={"Authorization": "token ghp_thebotstoken"},
        timeout=10,
    )
    emulator.keep(client)
    return client


def opened(client: httpx.Client, *titles: str) -> None:
    for title in titles:
        assert client.post(f"{SHOP}/issues", json={"title": title}).status_code == 201


def titles(receiver: Receiver) -> list[str]:
    return [it.payload["issue"]["title"] for it in receiver.received if it.event == "issues"]


@pytest.fixture(autouse=True)
def _settled(request: pytest.FixtureRequest, emulator: GitHubEmulator) -> None:
    """Begin after the ping, which faults would otherwise meet."""
    if "receiver" in request.fixturenames:
        request.getfixturevalue("receiver")
        emulator.settle()


@pytest.mark.parametrize("same_guid", [True, False])
def test_a_delivery_is_doubled(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver, same_guid: bool
) -> None:
    emulator.set_up("/faults", kind="duplicate", copies=2, same_guid=same_guid)
    opened(alice, "a", "b")
    emulator.settle()
    assert titles(receiver) == ["a", "a", "a", "b"]
    guids = {it.guid for it in receiver.received if it.event == "issues"}
    assert len(guids) == (2 if same_guid else 4)


def test_a_delivery_is_overtaken(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    emulator.set_up("/faults", kind="delay", seconds=0.2)
    opened(alice, "a", "b")
    emulator.settle()
    assert titles(receiver) == ["b", "a"]


def test_deliveries_come_in_another_order(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    emulator.set_up("/faults", kind="reorder", window=3, times=3)
    opened(alice, "a", "b", "c", "d")
    emulator.settle()
    assert titles(receiver) == ["c", "b", "a", "d"]


def test_deliveries_held_for_another_order_come_at_last(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    emulator.set_up("/faults", kind="reorder", window=9, times=9)
    opened(alice, "a", "b")
    assert emulator.control.delete("/faults").status_code == 204
    emulator.settle()
    assert titles(receiver) == ["b", "a"]


@pytest.mark.parametrize(("hidden", "logged"), [(False, 2), (True, 1)])
def test_a_delivery_is_lost(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver, hidden: bool, logged: int
) -> None:
    emulator.set_up("/faults", kind="drop", hidden=hidden)
    opened(alice, "a")
    emulator.settle()
    assert titles(receiver) == []
    hook = alice.get(f"{SHOP}/hooks").json()[0]["id"]
    assert len(alice.get(f"{SHOP}/hooks/{hook}/deliveries").json()) == logged


def test_a_fault_may_be_meant_for_one_event(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    emulator.set_up("/faults", kind="drop", event="issue_comment")
    opened(alice, "a")
    alice.post(f"{SHOP}/issues/1/comments", json={"body": "lost"})
    alice.post(f"{SHOP}/issues/1/comments", json={"body": "there"})
    emulator.settle()
    assert receiver.titles() == ["issues.opened", "issue_comment.created"]


def test_the_next_requests_meet_a_server_error_and_do_nothing(
    emulator: GitHubEmulator, bot: httpx.Client
) -> None:
    emulator.set_up("/faults", kind="server_error", status=503, times=2, method="POST")
    assert bot.get(SHOP).status_code == 200
    wish = {"title": "x"}
    statuses = [bot.post(f"{SHOP}/issues", json=wish).status_code for _ in range(3)]
    assert statuses == [503, 503, 201]
    assert len(bot.get(f"{SHOP}/issues").json()) == 1


@pytest.mark.parametrize(
    ("fault", "status", "header"),
    [
        ({"kind": "secondary_limit"}, 403, None),
        ({"kind": "secondary_limit", "retry_after": 7}, 403, ("Retry-After", "7")),
        ({"kind": "secondary_limit", "status": 429}, 429, None),
        ({"kind": "primary_limit", "status": 429}, 429, ("X-RateLimit-Remaining", "0")),
    ],
)
def test_the_next_request_meets_a_rate_limit(
    emulator: GitHubEmulator,
    bot: httpx.Client,
    fault: dict[str, Any],
    status: int,
    header: tuple[str, str] | None,
) -> None:
    emulator.set_up("/faults", **fault)
    answer = bot.post(f"{SHOP}/issues", json={"title": "x"})
    assert answer.status_code == status
    assert "rate limit" in answer.json()["message"]
    assert answer.headers.get("Retry-After") == (
        header[1] if header and header[0] == "Retry-After" else None
    )
    if header is not None:
        assert answer.headers[header[0]] == header[1]
    assert bot.get(f"{SHOP}/issues").json() == []


def test_a_request_times_out_after_it_took_effect(
    emulator: GitHubEmulator, bot: httpx.Client, receiver: Receiver
) -> None:
    emulator.set_up("/faults", kind="time_out", seconds=30, path="/comments")
    opened(bot, "x")
    with pytest.raises(httpx.ReadTimeout):
        bot.post(f"{SHOP}/issues/1/comments", json={"body": "landed"}, timeout=0.3)
    assert [it["body"] for it in bot.get(f"{SHOP}/issues/1/comments").json()] == ["landed"]
    emulator.settle()
    assert receiver.titles() == ["issues.opened", "issue_comment.created"]


def test_a_client_that_waits_long_enough_learns_that_nobody_knows(
    emulator: GitHubEmulator, bot: httpx.Client
) -> None:
    emulator.set_up("/faults", kind="time_out", seconds=0.1)
    started = time.monotonic()
    assert bot.post(f"{SHOP}/issues", json={"title": "x"}).status_code == 504
    assert time.monotonic() - started >= 0.1
    assert len(bot.get(f"{SHOP}/issues").json()) == 1


def test_faults_are_listed_with_what_is_left_of_them(
    emulator: GitHubEmulator, bot: httpx.Client
) -> None:
    emulator.set_up("/faults", kind="server_error", times=2)
    bot.get(SHOP)
    [fault] = emulator.control.get("/faults").json()
    assert (fault["kind"], fault["times"]) == ("server_error", 1)


@pytest.mark.parametrize("wish", [{"kind": "flood"}, {"kind": "delay"}, {"kind": "drop", "x": 1}])
def test_a_fault_that_is_not_known_is_refused(
    emulator: GitHubEmulator, wish: dict[str, Any]
) -> None:
    assert emulator.control.post("/faults", json=wish).status_code == 422
