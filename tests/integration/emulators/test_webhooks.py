"""The emulator's webhooks: what they say, how they are signed, and the log of deliveries."""

from __future__ import annotations

import hashlib
import hmac
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from support.github_emulator import GitHubEmulator, Receiver

SHOP = "/repos/acme/shop"
HOOKS = f"{SHOP}/hooks"


@pytest.fixture
def alice(emulator: GitHubEmulator) -> httpx.Client:
    return emulator.acting_as("alice")


def made(response: httpx.Response, status: int = 201) -> dict[str, Any]:
    assert response.status_code == status, response.text
    body: dict[str, Any] = response.json()
    return body


def test_a_new_hook_is_pinged(emulator: GitHubEmulator, receiver: Receiver) -> None:
    emulator.settle()
    [ping] = receiver.received
    assert ping.event == "ping"
    assert ping.payload["hook"]["config"]["url"] == receiver.url
    assert "s3cret" not in ping.body.decode()


def test_a_delivery_carries_githubs_headers_and_a_signature_over_its_bytes(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    made(alice.post(f"{SHOP}/issues", json={"title": "请看 🙏"}))
    emulator.settle()
    delivery = receiver.last("issues.opened")
    signature = hmac.new(b"s3cret", delivery.body, hashlib.sha256).hexdigest()
    assert delivery.headers["x-hub-signature-256"] == f"sha256={signature}"
    assert delivery.headers["content-type"] == "application/json"
    assert delivery.headers["user-agent"].startswith("GitHub-Hookshot/")
    assert len(delivery.guid.split("-")) == 5
    assert delivery.headers["x-github-hook-id"].isdecimal()
    assert delivery.headers["x-github-hook-installation-target-type"] == "repository"
    assert delivery.payload["repository"]["full_name"] == "acme/shop"
    assert delivery.payload["organization"]["login"] == "acme"


def test_without_a_secret_nothing_is_signed(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    plain = Receiver()
    emulator.set_up(HOOKS, config={"url": plain.url, "content_type": "form"}, events=["issues"])
    made(alice.post(f"{SHOP}/issues", json={"title": "x"}))
    made(alice.post(f"{SHOP}/issues/1/comments", json={"body": "y"}))
    emulator.settle()
    plain.close()
    events = [it.event for it in plain.received]
    assert events == ["ping", "issues"]
    assert not [it for it in plain.received[1].headers if "signature" in it]
    assert '"title":"x"' in parse_qs(plain.received[1].body.decode())["payload"][0]


def test_everything_that_happens_to_an_issue_is_told(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    made(alice.post(f"{SHOP}/issues", json={"title": "Bug", "labels": ["p1"]}))
    made(alice.patch(f"{SHOP}/issues/1", json={"title": "Bug!", "body": "b"}), 200)
    made(alice.patch(f"{SHOP}/issues/1", json={"assignees": ["remit-bot"]}), 200)
    made(alice.patch(f"{SHOP}/issues/1", json={"assignees": [], "labels": []}), 200)
    made(alice.patch(f"{SHOP}/issues/1", json={"state": "closed"}), 200)
    made(alice.patch(f"{SHOP}/issues/1", json={"state": "closed"}), 200)
    made(alice.patch(f"{SHOP}/issues/1", json={"state": "open"}), 200)
    comment = made(alice.post(f"{SHOP}/issues/1/comments", json={"body": "one"}))
    path = f"{SHOP}/issues/comments/{comment['id']}"
    made(alice.patch(path, json={"body": "two"}), 200)
    assert alice.delete(path).status_code == 204
    emulator.settle()
    assert receiver.titles() == [
        "issues.opened",
        "issues.labeled",
        "issues.edited",
        "issues.assigned",
        "issues.unlabeled",
        "issues.unassigned",
        "issues.closed",
        "issues.reopened",
        "issue_comment.created",
        "issue_comment.edited",
        "issue_comment.deleted",
    ]
    assert receiver.last("issues.edited").payload["changes"]["title"] == {"from": "Bug"}
    assert receiver.last("issue_comment.edited").payload["changes"]["body"] == {"from": "one"}
    assert receiver.last("issues.opened").payload["sender"]["login"] == "alice"


def test_what_the_agent_writes_comes_back_to_its_hook(
    emulator: GitHubEmulator, receiver: Receiver
) -> None:
    bot = emulator.client("ghp_thebotstoken")
    made(bot.post(f"{SHOP}/issues", json={"title": "x"}))
    emulator.settle()
    assert receiver.last("issues.opened").payload["sender"]["login"] == "remit-bot"


def test_a_bot_account_shows_its_type(emulator: GitHubEmulator, receiver: Receiver) -> None:
    made(emulator.acting_as("ci[bot]").post(f"{SHOP}/issues", json={"title": "x"}))
    emulator.settle()
    assert receiver.last("issues.opened").payload["sender"]["type"] == "Bot"


def test_a_delivery_that_failed_is_logged_and_not_sent_again(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    emulator.settle()
    receiver.answers.append(503)
    made(alice.post(f"{SHOP}/issues", json={"title": "x"}))
    emulator.settle()
    assert receiver.titles() == ["issues.opened"]
    hook = alice.get(HOOKS).json()[0]["id"]
    [failed] = alice.get(f"{HOOKS}/{hook}/deliveries", params={"status": "failure"}).json()
    assert (failed["status_code"], failed["event"], failed["action"]) == (503, "issues", "opened")
    whole = alice.get(f"{HOOKS}/{hook}/deliveries/{failed['id']}").json()
    assert whole["request"]["payload"] == receiver.received[-1].payload
    assert whole["request"]["headers"]["X-GitHub-Delivery"] == failed["guid"]
    assert whole["response"]["payload"] == "ok"


def test_a_redelivery_keeps_the_guid_and_the_bytes(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    made(alice.post(f"{SHOP}/issues", json={"title": "x"}))
    emulator.settle()
    hook = alice.get(HOOKS).json()[0]["id"]
    first = alice.get(f"{HOOKS}/{hook}/deliveries").json()[0]
    path = f"{HOOKS}/{hook}/deliveries/{first['id']}/attempts"
    assert alice.post(path).status_code == 202
    emulator.settle()
    one, two = receiver.received[-2:]
    assert (one.guid, one.body) == (two.guid, two.body)
    again = alice.get(f"{HOOKS}/{hook}/deliveries").json()[0]
    assert (again["guid"], again["redelivery"]) == (first["guid"], True)
    assert again["id"] != first["id"]


def test_the_delivery_log_is_read_by_cursor(
    emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    for number in range(4):
        made(alice.post(f"{SHOP}/issues", json={"title": str(number)}))
    emulator.settle()
    hook = alice.get(HOOKS).json()[0]["id"]
    answer = alice.get(f"{HOOKS}/{hook}/deliveries", params={"per_page": 2})
    pages = [answer.json()]
    while "next" in answer.links:
        answer = alice.get(answer.links["next"]["url"])
        pages.append(answer.json())
    assert [len(it) for it in pages] == [2, 2, 1]
    ids = [row["id"] for page in pages for row in page]
    assert ids == sorted(set(ids), reverse=True)


def test_hooks_are_an_admins_business(emulator: GitHubEmulator, alice: httpx.Client) -> None:
    bot = emulator.client("ghp_thebotstoken")
    assert bot.get(HOOKS).status_code == 404
    hook = made(alice.post(HOOKS, json={"config": {"url": "http://127.0.0.1:9/x", "secret": "s"}}))
    assert hook["config"]["secret"] == "********"
    assert hook["events"] == ["push"]
    again = alice.post(HOOKS, json={"config": {"url": "http://127.0.0.1:9/x"}})
    assert again.status_code == 422
    assert alice.post(HOOKS, json={"config": {}}).status_code == 422
    emulator.settle()
    assert alice.get(f"{HOOKS}/{hook['id']}").json()["last_response"]["code"] == 502
    assert alice.delete(f"{HOOKS}/{hook['id']}").status_code == 204
    assert alice.get(f"{HOOKS}/{hook['id']}").status_code == 404
