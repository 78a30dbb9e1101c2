"""Pull requests and reviews on the emulator, over real branches of a real repository."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from support.git_work import GitWork
from support.github_emulator import GitHubEmulator, Receiver

SHOP = "/repos/acme/shop"
TOKEN = "ghp_thebotstoken"


@pytest.fixture
def work(emulator: GitHubEmulator, tmp_path: Path) -> GitWork:
    """The bot's clone, with a branch `fix` pushed."""
    url = emulator.base_url.replace("http://", f"http://remit-bot:{TOKEN}@")
    work = GitWork.clone(f"{url}/acme/shop.git", tmp_path / "work")
    work.branch("fix")
    work.commit("Fix the total", {"src/cart.py": "total = 0\ntotal += 1\n", "new.txt": "new\n"})
    work.push("fix")
    return work


@pytest.fixture
def bot(emulator: GitHubEmulator) -> httpx.Client:
    return emulator.client(TOKEN)


@pytest.fixture
def alice(emulator: GitHubEmulator) -> httpx.Client:
    return emulator.acting_as("alice")


def made(response: httpx.Response, status: int = 201) -> dict[str, Any]:
    assert response.status_code == status, response.text
    body: dict[str, Any] = response.json()
    return body


@pytest.fixture
def pull(work: GitWork, bot: httpx.Client) -> dict[str, Any]:
    """The pull request of `fix`, opened by the bot."""
    wish = {"title": "Fix", "head": "fix", "base": "main", "body": "All of it"}
    return made(bot.post(f"{SHOP}/pulls", json=wish))


def test_a_pull_request_shows_what_its_branch_changes(
    pull: dict[str, Any], work: GitWork, bot: httpx.Client
) -> None:
    assert (pull["number"], pull["state"], pull["user"]["login"]) == (1, "open", "remit-bot")
    assert (pull["head"]["label"], pull["head"]["sha"]) == ("acme:fix", work.head())
    counts = [pull[it] for it in ("commits", "changed_files", "additions", "deletions")]
    assert counts == [1, 2, 2, 0]
    assert (pull["mergeable"], pull["mergeable_state"]) == (True, "clean")
    files = {it["filename"]: it for it in bot.get(f"{SHOP}/pulls/1/files").json()}
    assert {name: it["status"] for name, it in files.items()} == {
        "new.txt": "added",
        "src/cart.py": "modified",
    }
    assert files["src/cart.py"]["patch"] == "@@ -1 +1,2 @@\n total = 0\n+total += 1"
    commits = bot.get(f"{SHOP}/pulls/1/commits").json()
    assert [it["commit"]["message"] for it in commits] == ["Fix the total"]


def test_a_pull_request_is_an_issue_with_another_id(
    pull: dict[str, Any], bot: httpx.Client
) -> None:
    issue = bot.get(f"{SHOP}/issues/1").json()
    assert issue["pull_request"]["html_url"] == pull["html_url"]
    assert issue["node_id"] != pull["node_id"]
    made(bot.post(f"{SHOP}/issues", json={"title": "an issue"}))
    assert bot.get(f"{SHOP}/pulls/2").status_code == 404


def test_a_second_pull_request_of_a_branch_is_refused(
    pull: dict[str, Any], bot: httpx.Client
) -> None:
    wish = {"title": "Again", "head": "acme:fix", "base": "main"}
    answer = bot.post(f"{SHOP}/pulls", json=wish)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["message"] == "A pull request already exists for acme:fix."
    assert bot.post(f"{SHOP}/pulls", json=wish | {"head": "other:fix"}).status_code == 501


def test_pull_requests_are_found_by_head_and_state(
    pull: dict[str, Any], bot: httpx.Client, alice: httpx.Client
) -> None:
    def numbers(**wanted: str) -> list[int]:
        return [it["number"] for it in bot.get(f"{SHOP}/pulls", params=wanted).json()]

    assert numbers(head="acme:fix") == [1]
    assert numbers(head="acme:other") == []
    assert numbers(base="main") == [1]
    made(alice.patch(f"{SHOP}/pulls/1", json={"state": "closed"}), 200)
    assert numbers() == []
    assert numbers(state="all") == [1]
    assert made(alice.patch(f"{SHOP}/pulls/1", json={"state": "open"}), 200)["state"] == "open"


def test_a_push_moves_the_pull_request(
    pull: dict[str, Any], work: GitWork, bot: httpx.Client, receiver: Receiver
) -> None:
    work.commit("More", {"new.txt": "newer\n"})
    work.push("fix")
    shown = bot.get(f"{SHOP}/pulls/1").json()
    assert (shown["head"]["sha"], shown["commits"]) == (work.head(), 2)


def test_a_push_by_file_path_is_noticed_at_the_next_look(
    emulator: GitHubEmulator, pull: dict[str, Any], work: GitWork, bot: httpx.Client
) -> None:
    path = emulator.control.get("/").json()["repositories"]["acme/shop"]
    work.commit("More", {"new.txt": "newer\n"})
    work.git("push", "-q", path, "fix")
    assert bot.get(f"{SHOP}/pulls/1").json()["head"]["sha"] == work.head()
    assert bot.get(f"{SHOP}/git/ref/heads/fix").json()["object"]["sha"] == work.head()


def test_deleting_the_branch_closes_the_pull_request_and_keeps_its_commits(
    pull: dict[str, Any], work: GitWork, bot: httpx.Client
) -> None:
    work.git("push", "-q", "origin", "--delete", "fix")
    shown = bot.get(f"{SHOP}/pulls/1").json()
    assert (shown["state"], shown["merged"], shown["commits"]) == ("closed", False, 1)
    reopen = bot.patch(f"{SHOP}/pulls/1", json={"state": "open"})
    assert reopen.status_code == 422


@pytest.mark.parametrize(("method", "parents"), [("merge", 2), ("squash", 1)])
def test_a_merge_moves_the_base_and_closes_what_the_text_names(
    work: GitWork, bot: httpx.Client, alice: httpx.Client, method: str, parents: int
) -> None:
    made(alice.post(f"{SHOP}/issues", json={"title": "Bug"}))
    wish = {"title": "Fix", "head": "fix", "base": "main", "body": "Fixes #1"}
    made(bot.post(f"{SHOP}/pulls", json=wish))
    assert bot.get(f"{SHOP}/pulls/2/merge").status_code == 404
    merged = made(bot.put(f"{SHOP}/pulls/2/merge", json={"merge_method": method}), 200)
    assert merged["merged"] is True
    assert bot.get(f"{SHOP}/pulls/2/merge").status_code == 204
    shown = bot.get(f"{SHOP}/pulls/2").json()
    assert (shown["state"], shown["merged"]) == ("closed", True)
    assert (shown["merge_commit_sha"], shown["merged_by"]["login"]) == (merged["sha"], "remit-bot")
    main = bot.get(f"{SHOP}/branches/main").json()["commit"]
    assert (main["sha"], len(main["parents"])) == (merged["sha"], parents)
    assert bot.get(f"{SHOP}/issues/1").json()["state"] == "closed"
    work.git("pull", "-q", "origin", "main", "--no-rebase")
    assert (work.folder / "new.txt").read_text() == "new\n"


def test_a_merge_that_is_not_possible_is_refused(
    emulator: GitHubEmulator, pull: dict[str, Any], work: GitWork, bot: httpx.Client
) -> None:
    path = f"{SHOP}/pulls/1/merge"
    assert bot.put(path, json={"sha": "0" * 40}).status_code == 409
    assert bot.put(path, json={"merge_method": "rebase"}).status_code == 405
    assert emulator.acting_as("stranger").put(path, json={}).status_code == 403
    work.git("checkout", "-q", "main")
    work.commit("Clash", {"src/cart.py": "total = 9\n"})
    work.push("main")
    # As GitHub does, the pull request still shows the base that it was opened on.
    assert bot.put(path, json={}).status_code == 405
    assert bot.get(f"{SHOP}/pulls/1").json()["merged"] is False


def test_branches_and_refs_are_those_of_git(work: GitWork, bot: httpx.Client) -> None:
    names = [it["name"] for it in bot.get(f"{SHOP}/branches").json()]
    assert names == ["fix", "main"]
    assert bot.get(f"{SHOP}/branches/fix").json()["commit"]["sha"] == work.head()
    assert bot.get(f"{SHOP}/commits/fix").json()["sha"] == work.head()
    assert bot.get(f"{SHOP}/branches/none").status_code == 404
    assert bot.get(f"{SHOP}/git/ref/heads/none").status_code == 404
    assert bot.get(f"{SHOP}/commits/none").status_code == 422
    refs = bot.get(f"{SHOP}/git/matching-refs/heads/f").json()
    assert [it["ref"] for it in refs] == ["refs/heads/fix"]


def review(client: httpx.Client, **wish: Any) -> dict[str, Any]:
    return made(client.post(f"{SHOP}/pulls/1/reviews", json=wish), 200)


def test_a_review_comes_as_one_event_and_one_for_each_comment(
    pull: dict[str, Any], emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    lines = [{"path": "src/cart.py", "line": 2, "body": f"remark {n}"} for n in range(3)]
    review(alice, event="REQUEST_CHANGES", body="Please change", comments=lines)
    emulator.settle()
    assert receiver.titles() == [
        "pull_request_review.submitted",
        *["pull_request_review_comment.created"] * 3,
    ]
    assert receiver.last("pull_request_review.submitted").payload["review"]["state"] == (
        "changes_requested"
    )
    bodies = [it.payload["comment"]["body"] for it in receiver.received if "comment" in it.payload]
    assert bodies == ["remark 0", "remark 1", "remark 2"]


def test_a_comment_made_alone_comes_with_a_review_without_a_body(
    pull: dict[str, Any], emulator: GitHubEmulator, alice: httpx.Client, receiver: Receiver
) -> None:
    wish = {"path": "src/cart.py", "line": 2, "side": "RIGHT", "body": "why?"}
    comment = made(
        alice.post(f"{SHOP}/pulls/1/comments", json=wish | {"commit_id": pull["head"]["sha"]})
    )
    emulator.settle()
    assert receiver.titles() == [
        "pull_request_review.submitted",
        "pull_request_review_comment.created",
    ]
    assert receiver.last("pull_request_review.submitted").payload["review"]["body"] is None
    assert comment["diff_hunk"] == "@@ -1 +1,2 @@\n total = 0\n+total += 1"
    assert (comment["position"], comment["line"]) == (2, 2)


def test_answers_stay_in_the_thread_of_its_first_comment(
    pull: dict[str, Any], bot: httpx.Client, alice: httpx.Client
) -> None:
    review(alice, event="COMMENT", comments=[{"path": "new.txt", "position": 1, "body": "?"}])
    [root] = bot.get(f"{SHOP}/pulls/1/comments").json()
    path = f"{SHOP}/pulls/1/comments"
    first = made(bot.post(f"{path}/{root['id']}/replies", json={"body": "one"}))
    second = made(bot.post(path, json={"body": "two", "in_reply_to": first["id"]}))
    assert {first["in_reply_to_id"], second["in_reply_to_id"]} == {root["id"]}
    assert (first["path"], first["line"]) == (root["path"], root["line"])
    refused = bot.post(f"{path}/{first['id']}/replies", json={"body": "x"})
    assert refused.status_code == 422
    assert [it["body"] for it in bot.get(path).json()] == ["?", "one", "two"]
    newest = bot.get(f"{SHOP}/pulls/comments", params={"direction": "desc"}).json()
    assert [it["body"] for it in newest] == ["two", "one", "?"]
    assert bot.get(f"{SHOP}/pulls/1").json()["review_comments"] == 3


def test_a_review_comment_is_changed_reacted_to_and_removed(
    pull: dict[str, Any], bot: httpx.Client, alice: httpx.Client
) -> None:
    review(alice, event="COMMENT", comments=[{"path": "new.txt", "line": 1, "body": "?"}])
    [root] = bot.get(f"{SHOP}/pulls/1/comments").json()
    path = f"{SHOP}/pulls/comments/{root['id']}"
    made(bot.post(f"{path}/reactions", json={"content": "eyes"}))
    assert made(alice.patch(path, json={"body": "!"}), 200)["reactions"]["eyes"] == 1
    assert [it["content"] for it in bot.get(f"{path}/reactions").json()] == ["eyes"]
    assert alice.delete(path).status_code == 204
    assert bot.get(path).status_code == 404


def test_a_pending_review_is_seen_by_its_author_until_it_is_submitted(
    pull: dict[str, Any], bot: httpx.Client, alice: httpx.Client
) -> None:
    pending = review(alice, body="hm", comments=[{"path": "new.txt", "line": 1, "body": "?"}])
    path = f"{SHOP}/pulls/1/reviews"
    assert (pending["state"], "submitted_at" in pending) == ("PENDING", False)
    assert bot.get(path).json() == []
    assert bot.get(f"{path}/{pending['id']}").status_code == 404
    assert bot.get(f"{SHOP}/pulls/1/comments").json() == []
    assert [it["id"] for it in alice.get(path).json()] == [pending["id"]]
    made(alice.post(f"{path}/{pending['id']}/events", json={"event": "APPROVE"}), 200)
    assert [it["state"] for it in bot.get(path).json()] == ["APPROVED"]
    assert len(bot.get(f"{SHOP}/pulls/1/comments").json()) == 1
    again = alice.post(f"{path}/{pending['id']}/events", json={"event": "APPROVE"})
    assert again.status_code == 422
    dismissed = alice.put(f"{path}/{pending['id']}/dismissals", json={"message": "stale"})
    assert made(dismissed, 200)["state"] == "DISMISSED"


@pytest.mark.parametrize(
    "wish",
    [
        pytest.param({"event": "COMMENT"}, id="an empty comment"),
        pytest.param({"event": "REQUEST_CHANGES", "body": " "}, id="changes without a word"),
        pytest.param({"event": "LIKE"}, id="a strange verdict"),
        pytest.param({"event": "COMMENT", "body": "x" * 65537}, id="a long body"),
        pytest.param(
            {"event": "COMMENT", "comments": [{"path": "no.txt", "line": 1, "body": "?"}]},
            id="a file outside the difference",
        ),
        pytest.param(
            {"event": "COMMENT", "comments": [{"path": "new.txt", "line": 9, "body": "?"}]},
            id="a line outside the difference",
        ),
        pytest.param(
            {"event": "COMMENT", "comments": [{"path": "new.txt", "body": "?"}]}, id="no line"
        ),
    ],
)
def test_a_review_that_github_would_refuse_is_refused_whole(
    pull: dict[str, Any], alice: httpx.Client, wish: dict[str, Any]
) -> None:
    assert alice.post(f"{SHOP}/pulls/1/reviews", json=wish).status_code == 422
    assert alice.get(f"{SHOP}/pulls/1/reviews").json() == []
    assert alice.get(f"{SHOP}/pulls/1/comments").json() == []


def test_nobody_approves_their_own_pull_request(pull: dict[str, Any], bot: httpx.Client) -> None:
    answer = bot.post(f"{SHOP}/pulls/1/reviews", json={"event": "APPROVE"})
    assert answer.status_code == 422
    assert answer.json()["errors"] == ["Can not approve your own pull request"]
