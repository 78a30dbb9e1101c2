"""The judges of the emulator's answers are awake, and judge the examples of GitHub's community."""

from __future__ import annotations

import pytest

from support.github_emulator import GitHubEmulator, Receiver
from support.github_schemas import GitHubSchemas

SHOP = "/repos/acme/shop"


@pytest.fixture
def issue(emulator: GitHubEmulator) -> dict[str, object]:
    wish = {"title": "x", "body": "y"}
    created = emulator.acting_as("alice").post(f"{SHOP}/issues", json=wish)
    body: dict[str, object] = created.json()
    return body


def test_an_answer_that_github_describes_passes(
    schemas: GitHubSchemas, issue: dict[str, object]
) -> None:
    assert schemas.faults_of_answer("GET", f"{SHOP}/issues/1", 200, issue) == []
    assert schemas.faults_of_answer("GET", f"{SHOP}/issues", 200, [issue]) == []


@pytest.mark.parametrize(
    "change",
    [
        {"number": "1"},
        {"user": {"login": "alice"}},
        {"created_at": "yesterday"},
        {"html_url": "not an address"},
        {"author_association": "FRIEND"},
        {"title": None},
        {"surprise": 1},
    ],
)
def test_an_answer_that_github_would_not_give_is_found_out(
    schemas: GitHubSchemas, issue: dict[str, object], change: dict[str, object]
) -> None:
    assert schemas.faults_of_answer("GET", f"{SHOP}/issues/1", 200, issue | change)


def test_addresses_and_statuses_that_github_does_not_have_are_found_out(
    schemas: GitHubSchemas, issue: dict[str, object]
) -> None:
    assert schemas.faults_of_answer("GET", "/repos/acme/shop/tickets", 200, issue)
    assert schemas.faults_of_answer("GET", f"{SHOP}/issues/1", 202, issue)
    assert schemas.faults_of_answer("DELETE", f"{SHOP}/issues/comments/1", 204, issue)


def test_a_delivery_that_github_would_not_make_is_found_out(
    schemas: GitHubSchemas, emulator: GitHubEmulator, receiver: Receiver
) -> None:
    emulator.acting_as("alice").post(f"{SHOP}/issues", json={"title": "x"})
    emulator.settle()
    good = receiver.last("issues.opened")
    assert schemas.faults_of_delivery("issues", good.headers, good.payload) == []
    unsigned = {key: it for key, it in good.headers.items() if "signature" not in key}
    assert schemas.faults_of_delivery("issues", unsigned, good.payload)
    assert schemas.faults_of_delivery("issues", good.headers, good.payload | {"issue": {}})
    assert schemas.faults_of_delivery("issues", good.headers, good.payload | {"action": "sang"})
