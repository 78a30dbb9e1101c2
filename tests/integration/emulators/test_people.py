"""What a person sees: the pages, the journal of what was written, and a restart."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from support.git_work import GitWork
from support.github_emulator import GitHubEmulator, Receiver, run_emulator

SHOP = "/repos/acme/shop"
NASTY = '<script>alert("x")</script> & <img src=x>'


def page(emulator: GitHubEmulator, path: str) -> str:
    answer = httpx.get(f"{emulator.base_url}{path}")
    assert answer.status_code == 200
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    return answer.text


def test_an_issue_has_a_page_with_all_that_was_said(emulator: GitHubEmulator) -> None:
    alice = emulator.acting_as("alice")
    alice.post(f"{SHOP}/issues", json={"title": "Bug", "body": "It fails"})
    comment = alice.post(f"{SHOP}/issues/1/comments", json={"body": "请看看"}).json()
    alice.post(f"{SHOP}/issues/1/reactions", json={"content": "eyes"})
    shown = page(emulator, "/acme/shop/issues/1")
    for text in ("Bug #1", "It fails", "请看看", "alice reacted with eyes"):
        assert text in shown
    assert f'id="{comment["html_url"].split("#")[1]}"' in shown
    assert "Bug" in page(emulator, "/acme/shop")
    assert "acme/shop" in page(emulator, "/")


def test_a_pull_request_has_a_page_with_its_difference(
    emulator: GitHubEmulator, tmp_path: Path
) -> None:
    work = GitWork.clone(f"{emulator.base_url}/acme/shop.git", tmp_path / "work")
    work.branch("fix")
    work.commit("Fix", {"src/cart.py": "total = 1 < 2\n"})
    path = emulator.control.get("/").json()["repositories"]["acme/shop"]
    work.git("push", "-q", path, "fix")
    alice = emulator.acting_as("alice")
    alice.post(f"{SHOP}/pulls", json={"title": "Fix", "head": "fix", "base": "main"})
    line = {"path": "src/cart.py", "line": 1, "body": "why?"}
    verdict = {"event": "COMMENT", "body": "Nearly", "comments": [line]}
    emulator.acting_as("remit-bot").post(f"{SHOP}/pulls/1/reviews", json=verdict)
    shown = page(emulator, "/acme/shop/pull/1")
    for text in ("merge fix into main", "Nearly", "why?", "+total = 1 &lt; 2", "(modified, +1"):
        assert text in shown


def test_what_people_write_is_shown_and_never_run(emulator: GitHubEmulator) -> None:
    alice = emulator.acting_as("alice")
    alice.post(f"{SHOP}/issues", json={"title": NASTY, "body": NASTY})
    alice.post(f"{SHOP}/issues/1/comments", json={"body": NASTY})
    for path in ("/acme/shop/issues/1", "/acme/shop"):
        shown = page(emulator, path)
        assert "<script" not in shown
        assert "<img" not in shown
        assert "&lt;script&gt;" in shown


@pytest.mark.parametrize("path", ["/acme/none", "/acme/shop/issues/9", "/nobody/none/pull/1"])
def test_a_page_that_is_not_there_says_so(emulator: GitHubEmulator, path: str) -> None:
    assert httpx.get(f"{emulator.base_url}{path}").status_code == 404


def test_everything_written_is_listed_in_order(emulator: GitHubEmulator) -> None:
    alice, bot = emulator.acting_as("alice"), emulator.client("ghp_thebotstoken")
    alice.post(f"{SHOP}/issues", json={"title": "Bug"})
    first = bot.post(f"{SHOP}/issues/1/comments", json={"body": "On it"}).json()
    bot.post(f"{SHOP}/issues/1/reactions", json={"content": "eyes"})
    bot.patch(f"{SHOP}/issues/comments/{first['id']}", json={"body": "Done"})
    rows = emulator.written()
    assert [(it["by"], it["kind"], it["action"]) for it in rows] == [
        ("alice", "issue", "opened"),
        ("remit-bot", "comment", "created"),
        ("remit-bot", "reaction", "created"),
        ("remit-bot", "comment", "edited"),
    ]
    comments = emulator.written(by="remit-bot", kind="comment")
    assert [it["body"] for it in comments] == ["On it", "Done"]
    assert comments[0]["html_url"] == first["html_url"]
    assert emulator.written(after="3") == rows[3:]


def test_a_login_is_given_once_and_must_be_one(emulator: GitHubEmulator) -> None:
    again = emulator.control.post("/accounts", json={"login": "Alice"})
    assert again.json()["login"] == "alice"
    for login in ("", "a b", "-x", "../x", "repos", "a/b"):
        assert emulator.control.post("/accounts", json={"login": login}).status_code == 422


def test_a_fresh_token_works_at_once(emulator: GitHubEmulator) -> None:
    token = emulator.set_up("/tokens", login="alice")["token"]
    assert token.startswith("ghp_")
    assert emulator.client(token).get("/user").json()["login"] == "alice"


def test_acting_as_nobody_is_refused(emulator: GitHubEmulator) -> None:
    assert emulator.acting_as("nobody").get("/user").status_code == 404
    assert emulator.control.get("/as/alice").status_code == 404


def test_everything_is_there_again_after_a_restart(tmp_path: Path) -> None:
    receiver = Receiver()
    with run_emulator(tmp_path, state=True) as emulator:
        emulator.set_up("/accounts", login="alice")
        emulator.set_up("/repos", owner="alice", name="shop", files={"a": "1"})
        emulator.set_up("/tokens", login="alice", token="ghp_alicestoken")
        config = {"url": receiver.url, "content_type": "json"}
        emulator.set_up("/repos/alice/shop/hooks", config=config, events=["*"])
        alice = emulator.client("ghp_alicestoken")
        alice.post("/repos/alice/shop/issues", json={"title": "Bug"})
        emulator.settle()
        # Held back, so that it is still waiting when the process ends.
        emulator.set_up("/faults", kind="delay", seconds=60)
        alice.post("/repos/alice/shop/issues/1/comments", json={"body": "still there?"})
        assert receiver.titles() == ["issues.opened"]
    with run_emulator(tmp_path, state=True) as emulator:
        alice = emulator.client("ghp_alicestoken")
        comments = alice.get("/repos/alice/shop/issues/1/comments").json()
        assert [it["body"] for it in comments] == ["still there?"]
        assert alice.get("/repos/alice/shop/branches/main").status_code == 200
        alice.post("/repos/alice/shop/issues", json={"title": "Another"})
        emulator.settle()
        assert receiver.titles() == ["issues.opened", "issue_comment.created", "issues.opened"]
        assert len({it.guid for it in receiver.received}) == 4
        assert [it["kind"] for it in emulator.written()] == ["issue", "comment", "issue"]
    receiver.close()


def run_briefly(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "remit.emulators.github", *arguments],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )


def test_a_state_file_that_cannot_be_read_is_named_and_kept(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text('{"version": 1, "accounts": 7}')
    ended = run_briefly("--git-root", str(tmp_path / "git"), "--state", str(state))
    assert ended.returncode == 1
    assert f"{state} cannot be read (accounts:" in ended.stderr
    assert state.read_text() == '{"version": 1, "accounts": 7}'


def test_it_listens_on_this_machine_alone(tmp_path: Path) -> None:
    ended = run_briefly("--git-root", str(tmp_path), "--host", "0.0.0.0")
    assert ended.returncode == 2
    assert "not a loopback address" in ended.stderr
