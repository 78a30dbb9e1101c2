"""The emulator's REST API: what clients may do, what they see, and how they are refused."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from support.github_emulator import GitHubEmulator

SHOP = "/repos/acme/shop"


@pytest.fixture
def bot(emulator: GitHubEmulator) -> httpx.Client:
    return emulator.client("ghp_thebotstoken")


@pytest.fixture
def alice(emulator: GitHubEmulator) -> httpx.Client:
    return emulator.acting_as("alice")


def made(response: httpx.Response, status: int = 201) -> dict[str, Any]:
    assert response.status_code == status, response.text
    body: dict[str, Any] = response.json()
    return body


@pytest.mark.parametrize("prefix", ["", "/api/v3"])
def test_the_api_answers_at_the_root_and_below_api_v3(
    emulator: GitHubEmulator, prefix: str
) -> None:
    client = emulator.client("ghp_thebotstoken", prefix=prefix)
    me = client.get("/user").json()
    assert (me["login"], me["type"]) == ("remit-bot", "User")
    assert client.get("/users/ci[bot]").json()["type"] == "Bot"
    assert client.get(SHOP).json()["permissions"]["push"] is True


@pytest.mark.parametrize(
    "authorization",
    ["token ghp_thebotstoken", "Bearer ghp_thebotstoken", "Basic eDpnaHBfdGhlYm90c3Rva2Vu"],
)
def test_a_token_is_taken_in_every_form(emulator: GitHubEmulator, authorization: str) -> None:
    answer = emulator.client().get("/user", headers={"Authorization": authorization})
    assert answer.json()["login"] == "remit-bot"
    assert answer.headers["X-OAuth-Scopes"] == "repo, notifications, read:org"


def test_a_token_that_is_not_known_is_refused_even_for_reading(emulator: GitHubEmulator) -> None:
    answer = emulator.client("wrong").get(SHOP)
    assert answer.status_code == 401
    assert answer.json()["message"] == "Bad credentials"


def test_a_revoked_token_is_refused(emulator: GitHubEmulator, bot: httpx.Client) -> None:
    assert bot.get("/user").status_code == 200
    emulator.control.delete("/tokens/ghp_thebotstoken").raise_for_status()
    assert bot.get("/user").status_code == 401


def test_without_a_token_one_reads_public_things_and_writes_nothing(
    emulator: GitHubEmulator,
) -> None:
    anonymous = emulator.client()
    assert anonymous.get(SHOP).status_code == 200
    assert anonymous.post(f"{SHOP}/issues", json={"title": "x"}).status_code == 401
    assert anonymous.get("/user").status_code == 401


def test_a_private_repository_is_not_there_for_others(emulator: GitHubEmulator) -> None:
    emulator.set_up(
        "/repos", owner="acme", name="secret", private=True, collaborators={"alice": "read"}
    )
    assert emulator.acting_as("alice").get("/repos/acme/secret").status_code == 200
    assert emulator.acting_as("stranger").get("/repos/acme/secret").status_code == 404
    assert emulator.client().get("/repos/acme/secret").status_code == 404


def test_a_client_must_name_itself_and_a_known_version(bot: httpx.Client) -> None:
    assert bot.get(SHOP, headers={"User-Agent": ""}).status_code == 403
    assert bot.get(SHOP, headers={"X-GitHub-Api-Version": "2026-03-10"}).status_code == 200
    assert bot.get(SHOP, headers={"X-GitHub-Api-Version": "1999-01-01"}).status_code == 400


def test_an_issue_is_opened_read_changed_and_closed(bot: httpx.Client, alice: httpx.Client) -> None:
    issue = made(alice.post(f"{SHOP}/issues", json={"title": "Bug", "body": "It *fails*"}))
    assert (issue["number"], issue["state"], issue["user"]["login"]) == (1, "open", "alice")
    assert issue["author_association"] == "COLLABORATOR"
    assert bot.get(f"{SHOP}/issues/1").json() == issue
    changed = made(alice.patch(f"{SHOP}/issues/1", json={"title": "Bug!"}), 200)
    assert (changed["title"], changed["body"]) == ("Bug!", "It *fails*")
    closed = made(alice.patch(f"{SHOP}/issues/1", json={"state": "closed"}), 200)
    assert closed["closed_by"]["login"] == "alice"
    assert (closed["state"], closed["state_reason"]) == ("closed", "completed")
    reopened = made(alice.patch(f"{SHOP}/issues/1", json={"state": "open"}), 200)
    assert (reopened["closed_at"], reopened["state_reason"]) == (None, "reopened")


def test_labels_and_assignees_are_kept_by_those_who_may(
    emulator: GitHubEmulator, alice: httpx.Client
) -> None:
    wish = {"title": "x", "labels": ["bug", {"name": "p1"}], "assignees": ["remit-bot"]}
    issue = made(alice.post(f"{SHOP}/issues", json=wish))
    assert [it["name"] for it in issue["labels"]] == ["bug", "p1"]
    assert issue["assignee"]["login"] == "remit-bot"
    theirs = made(emulator.acting_as("stranger").post(f"{SHOP}/issues", json=wish))
    assert (theirs["labels"], theirs["assignees"]) == ([], [])
    again = made(alice.patch(f"{SHOP}/issues/1", json={"labels": ["p1"], "assignees": []}), 200)
    assert ([it["name"] for it in again["labels"]], again["assignees"]) == (["p1"], [])


def test_strangers_may_write_but_not_change_what_others_wrote(
    emulator: GitHubEmulator, alice: httpx.Client
) -> None:
    stranger = emulator.acting_as("stranger")
    made(alice.post(f"{SHOP}/issues", json={"title": "Bug"}))
    comment = made(alice.post(f"{SHOP}/issues/1/comments", json={"body": "hi"}))
    assert made(stranger.post(f"{SHOP}/issues/1/comments", json={"body": "me"}))["id"]
    path = f"{SHOP}/issues/comments/{comment['id']}"
    assert stranger.patch(path, json={"body": "no"}).status_code == 403
    assert stranger.delete(path).status_code == 403
    assert stranger.patch(f"{SHOP}/issues/1", json={"state": "closed"}).status_code == 403


def test_issues_are_listed_by_state_time_and_page(emulator: GitHubEmulator) -> None:
    alice, stranger = emulator.acting_as("alice"), emulator.acting_as("stranger")
    for number in range(1, 6):
        made(alice.post(f"{SHOP}/issues", json={"title": f"Issue {number}"}))
    made(stranger.post(f"{SHOP}/issues", json={"title": "Theirs"}))
    made(alice.patch(f"{SHOP}/issues/2", json={"state": "closed"}), 200)

    def numbers(**wanted: str) -> list[int]:
        return [it["number"] for it in alice.get(f"{SHOP}/issues", params=wanted).json()]

    assert numbers() == [6, 5, 4, 3, 1]
    assert numbers(state="closed") == [2]
    assert numbers(state="all", direction="asc") == [1, 2, 3, 4, 5, 6]
    assert numbers(creator="stranger") == [6]
    assert numbers(state="all", since="2999-01-01T00:00:00Z") == []
    assert numbers(state="all", per_page="4", page="2") == [2, 1]
    made(alice.post(f"{SHOP}/issues/1/comments", json={"body": "x"}))
    assert numbers(sort="comments")[0] == 1


def test_pages_name_each_other(alice: httpx.Client) -> None:
    for number in range(5):
        made(alice.post(f"{SHOP}/issues", json={"title": str(number)}))
    first = alice.get(f"{SHOP}/issues", params={"per_page": 2, "state": "all"})
    assert set(first.links) == {"next", "last"}
    second = alice.get(first.links["next"]["url"])
    assert set(second.links) == {"prev", "first", "next", "last"}
    last = alice.get(second.links["last"]["url"])
    assert [it["number"] for it in last.json()] == [1]
    assert set(last.links) == {"prev", "first"}


def test_comments_are_listed_for_an_issue_and_for_the_repository(
    emulator: GitHubEmulator, bot: httpx.Client, alice: httpx.Client
) -> None:
    for title in ("a", "b"):
        made(alice.post(f"{SHOP}/issues", json={"title": title}))
    made(alice.post(f"{SHOP}/issues/1/comments", json={"body": "one"}))
    made(bot.post(f"{SHOP}/issues/2/comments", json={"body": "two"}))
    made(bot.post(f"{SHOP}/issues/1/comments", json={"body": "three"}))

    def bodies(path: str, **wanted: str) -> list[str]:
        return [it["body"] for it in bot.get(path, params=wanted).json()]

    assert bodies(f"{SHOP}/issues/1/comments") == ["one", "three"]
    assert bodies(f"{SHOP}/issues/comments") == ["one", "two", "three"]
    assert bodies(f"{SHOP}/issues/comments", direction="desc") == ["three", "two", "one"]
    assert bodies(f"{SHOP}/issues/comments", since="2999-01-01T00:00:00Z") == []
    assert bot.get(f"{SHOP}/issues/1").json()["comments"] == 2


def test_a_comment_is_changed_and_removed(bot: httpx.Client, alice: httpx.Client) -> None:
    made(alice.post(f"{SHOP}/issues", json={"title": "a"}))
    comment = made(bot.post(f"{SHOP}/issues/1/comments", json={"body": "one"}))
    path = f"{SHOP}/issues/comments/{comment['id']}"
    assert made(bot.patch(path, json={"body": "two"}), 200)["body"] == "two"
    assert bot.delete(path).status_code == 204
    assert bot.get(path).status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        pytest.param("/issues", {}, 422, "missing_field", id="an issue without a title"),
        pytest.param("/issues", {"title": " "}, 422, "missing_field", id="a blank title"),
        pytest.param("/issues", {"title": "x" * 257}, 422, "custom", id="a long title"),
        pytest.param("/issues", {"title": 7}, 422, None, id="a title of another type"),
        pytest.param(
            "/issues", {"title": "x", "body": "x" * 65537}, 422, "custom", id="a long body"
        ),
        pytest.param("/issues/1/comments", {}, 422, "missing_field", id="an empty comment"),
        pytest.param(
            "/issues/1/comments", {"body": "é" * 65537}, 422, "custom", id="a long comment"
        ),
        pytest.param(
            "/issues/9/comments", {"body": "x"}, 404, None, id="an issue that is not there"
        ),
        pytest.param(
            "/issues/1/reactions", {"content": "wave"}, 422, None, id="a strange reaction"
        ),
        pytest.param("/issues/1/reactions", {}, 422, None, id="an empty reaction"),
        pytest.param("/pulls", {"title": "x", "base": "main"}, 422, "missing_field", id="no head"),
        pytest.param(
            "/pulls", {"title": "x", "base": "main", "head": "no"}, 422, "invalid", id="a lost head"
        ),
        pytest.param(
            "/pulls", {"title": "x", "base": "no", "head": "main"}, 422, "invalid", id="a lost base"
        ),
        pytest.param(
            "/pulls", {"title": "x", "base": "main", "head": "main"}, 422, "custom", id="no commits"
        ),
    ],
)
def test_what_github_would_refuse_is_refused_with_its_reason(
    bot: httpx.Client, path: str, body: dict[str, Any], status: int, code: str | None
) -> None:
    made(bot.post(f"{SHOP}/issues", json={"title": "there"}))
    answer = bot.post(f"{SHOP}{path}", json=body)
    assert answer.status_code == status
    errors = answer.json().get("errors")
    assert (errors[0]["code"] if errors else None) == code
    assert len(bot.get(f"{SHOP}/issues").json()) == 1


def test_a_body_of_exactly_the_limit_is_taken(bot: httpx.Client) -> None:
    made(bot.post(f"{SHOP}/issues", json={"title": "x" * 256, "body": "é" * 65536}))


def test_what_is_not_json_is_refused(bot: httpx.Client) -> None:
    answer = bot.post(f"{SHOP}/issues", content=b"{")
    assert (answer.status_code, answer.json()["message"]) == (400, "Problems parsing JSON")


def test_what_the_emulator_does_not_do_it_says(bot: httpx.Client) -> None:
    answer = bot.get(f"{SHOP}/issues", params={"milestone": "1"})
    assert answer.status_code == 501
    assert bot.get("/search/issues").status_code == 404
    assert bot.post("/graphql", json={}).status_code == 404


def test_a_reaction_is_given_once(emulator: GitHubEmulator, bot: httpx.Client) -> None:
    made(bot.post(f"{SHOP}/issues", json={"title": "x"}))
    comment = made(bot.post(f"{SHOP}/issues/1/comments", json={"body": "y"}))
    for path in (f"{SHOP}/issues/1", f"{SHOP}/issues/comments/{comment['id']}"):
        first = made(bot.post(f"{path}/reactions", json={"content": "eyes"}))
        assert made(bot.post(f"{path}/reactions", json={"content": "eyes"}), 200) == first
        made(emulator.acting_as("alice").post(f"{path}/reactions", json={"content": "eyes"}))
        assert bot.get(path).json()["reactions"]["eyes"] == 2
        assert bot.delete(f"{path}/reactions/{first['id']}").status_code == 204
        assert [it["user"]["login"] for it in bot.get(f"{path}/reactions").json()] == ["alice"]


@pytest.mark.parametrize(
    ("login", "role", "permission", "role_name"),
    [
        ("alice", "admin", "admin", "admin"),
        ("alice", "maintain", "write", "maintain"),
        ("alice", "write", "write", "write"),
        ("alice", "triage", "read", "triage"),
        ("stranger", None, "read", "read"),
    ],
)
def test_a_role_is_shown_in_full_beside_its_old_form(
    emulator: GitHubEmulator,
    bot: httpx.Client,
    login: str,
    role: str | None,
    permission: str,
    role_name: str,
) -> None:
    emulator.control.put(
        f"/repos/acme/shop/collaborators/{login}", json={"role": role}
    ).raise_for_status()
    shown = bot.get(f"{SHOP}/collaborators/{login}/permission").json()
    assert (shown["permission"], shown["role_name"]) == (permission, role_name)


def test_a_bot_and_a_nobody_have_no_permission_to_look_up(
    emulator: GitHubEmulator, bot: httpx.Client
) -> None:
    assert bot.get(f"{SHOP}/collaborators/ci[bot]/permission").status_code == 404
    assert bot.get(f"{SHOP}/collaborators/nobody/permission").status_code == 404
    stranger = emulator.acting_as("stranger")
    assert stranger.get(f"{SHOP}/collaborators/alice/permission").status_code == 403


def test_objects_of_different_kinds_share_their_numbers(
    bot: httpx.Client, alice: httpx.Client
) -> None:
    issue = made(alice.post(f"{SHOP}/issues", json={"title": "x"}))
    comment = made(bot.post(f"{SHOP}/issues/1/comments", json={"body": "y"}))
    assert issue["id"] == comment["id"]
    assert issue["node_id"] != comment["node_id"]


def test_an_answer_that_did_not_change_costs_nothing(bot: httpx.Client) -> None:
    made(bot.post(f"{SHOP}/issues", json={"title": "x"}))
    first = bot.get(f"{SHOP}/issues/1")
    again = bot.get(f"{SHOP}/issues/1", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["X-RateLimit-Used"] == first.headers["X-RateLimit-Used"]
    made(bot.post(f"{SHOP}/issues/1/comments", json={"body": "y"}))
    changed = bot.get(f"{SHOP}/issues/1", headers={"If-None-Match": first.headers["ETag"]})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != first.headers["ETag"]


def test_the_rate_limit_is_counted_and_ends(emulator: GitHubEmulator, bot: httpx.Client) -> None:
    emulator.control.put("/accounts/remit-bot/rate_limit", json={"limit": 2}).raise_for_status()
    assert bot.get(SHOP).headers["X-RateLimit-Remaining"] == "1"
    assert bot.get(SHOP).headers["X-RateLimit-Remaining"] == "0"
    over = bot.get(SHOP)
    assert (over.status_code, over.headers["X-RateLimit-Remaining"]) == (403, "0")
    assert over.json()["message"].startswith("API rate limit exceeded for user ID")
    shown = bot.get("/rate_limit").json()["resources"]["core"]
    assert (shown["limit"], shown["used"], shown["remaining"]) == (2, 2, 0)
    assert emulator.client("ghp_alicestoken").get(SHOP).status_code == 200


def test_each_answer_has_an_id_of_its_own(bot: httpx.Client) -> None:
    ids = {bot.get(SHOP).headers["X-GitHub-Request-Id"] for _ in range(3)}
    assert len(ids) == 3
