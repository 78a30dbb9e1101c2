"""PyGithub, a client that knows GitHub and not us, works against the emulator over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import github
import pytest
from github.Repository import Repository

from support.git_work import GitWork
from support.github_emulator import GitHubEmulator

TOKEN = "ghp_thebotstoken"


@pytest.fixture(params=["/api/v3", ""], ids=["below /api/v3", "at the root"])
def client(emulator: GitHubEmulator, request: pytest.FixtureRequest) -> Iterator[github.Github]:
    with github.Github(
        base_url=emulator.base_url + request.param,
        auth=github.Auth.Token(TOKEN),
        retry=None,
        seconds_between_requests=0,
        seconds_between_writes=0,
        per_page=2,
    ) as client:
        yield client


@pytest.fixture
def shop(client: github.Github) -> Repository:
    return client.get_repo("acme/shop")


def test_it_knows_who_it_is_and_what_it_may(client: github.Github, shop: Repository) -> None:
    assert client.get_user().login == "remit-bot"
    assert client.get_user("ci[bot]").type == "Bot"
    assert (shop.full_name, shop.default_branch, shop.permissions.push) == (
        "acme/shop",
        "main",
        True,
    )
    assert shop.get_collaborator_permission("alice") == "admin"
    assert shop.get_collaborator_role_name("alice") == "admin"
    assert client.get_rate_limit().rate.limit == 5000


def test_it_opens_comments_on_and_closes_an_issue(
    emulator: GitHubEmulator, shop: Repository
) -> None:
    issue = shop.create_issue("Bug", body="It fails", labels=["p1"])
    comment = issue.create_comment("On it")
    reaction = comment.create_reaction("eyes")
    assert comment.create_reaction("eyes").id == reaction.id
    comment.edit("Done")
    issue.edit(state="closed", state_reason="not_planned")
    again = shop.get_issue(issue.number)
    assert (again.state, again.state_reason, again.comments) == ("closed", "not_planned", 1)
    assert again.created_at.tzinfo is not None
    assert [(it.body, it.user.login) for it in again.get_comments()] == [("Done", "remit-bot")]
    assert again.get_comment(comment.id).reactions["eyes"] == 1
    comment.delete()
    assert list(again.get_comments()) == []
    kinds = [it["kind"] for it in emulator.written(by="remit-bot")]
    assert kinds == ["issue", "comment", "reaction", "comment", "issue", "comment"]


def test_it_walks_all_pages(shop: Repository) -> None:
    for number in range(5):
        shop.create_issue(str(number)).create_comment(f"comment {number}")
    issues = shop.get_issues(state="all", sort="created", direction="asc")
    assert [it.title for it in issues] == ["0", "1", "2", "3", "4"]
    assert issues.totalCount == 5
    since = datetime.now(UTC) - timedelta(minutes=2)
    comments = shop.get_issues_comments(sort="updated", direction="asc", since=since)
    assert [it.body for it in comments] == [f"comment {number}" for number in range(5)]


@pytest.fixture
def work(emulator: GitHubEmulator, tmp_path: Path) -> GitWork:
    url = emulator.base_url.replace("http://", f"http://x:{TOKEN}@") + "/acme/shop.git"
    work = GitWork.clone(url, tmp_path / "work")
    work.branch("fix")
    work.commit("Fix", {"src/cart.py": "total = 0\ntotal += 1\n"})
    work.push("fix")
    return work


def test_it_opens_reviews_and_merges_a_pull_request(
    emulator: GitHubEmulator, shop: Repository, work: GitWork
) -> None:
    pull = shop.create_pull(base="main", head="fix", title="Fix", body="All of it")
    assert (pull.commits, pull.additions, pull.changed_files) == (1, 1, 1)
    assert [it.number for it in shop.get_pulls(head="acme:fix")] == [pull.number]
    assert [it.filename for it in pull.get_files()] == ["src/cart.py"]
    assert [it.sha for it in pull.get_commits()] == [work.head()]
    commit = shop.get_commit(work.head())
    comment = pull.create_review_comment("why?", commit, "src/cart.py", line=2, side="RIGHT")
    reply = pull.create_review_comment_reply(comment.id, "because")
    assert reply.in_reply_to_id == comment.id
    pull.create_issue_comment("ready")
    emulator.acting_as("alice").post(
        f"/repos/acme/shop/pulls/{pull.number}/reviews", json={"event": "APPROVE"}
    )
    assert [it.state for it in pull.get_reviews()] == ["COMMENTED", "COMMENTED", "APPROVED"]
    assert [it.body for it in pull.get_review_comments()] == ["why?", "because"]
    assert [it.body for it in pull.get_issue_comments()] == ["ready"]
    pull.edit(title="Fix the total")
    assert pull.merge(merge_method="squash").merged
    assert pull.is_merged()
    assert shop.get_branch("main").commit.commit.message == f"Fix the total (#{pull.number})"
    assert shop.get_git_ref("heads/fix").object.sha == work.head()


def test_it_sees_hooks_and_deliveries(emulator: GitHubEmulator, client: github.Github) -> None:
    role = emulator.control.put("/repos/acme/shop/collaborators/remit-bot", json={"role": "admin"})
    role.raise_for_status()
    shop = client.get_repo("acme/shop")
    config = {"url": "http://127.0.0.1:9/hook", "content_type": "json"}
    hook = shop.create_hook("web", config, events=["issues"])
    shop.create_issue("Bug")
    emulator.settle()
    rows = list(shop.get_hook_deliveries(hook.id))
    assert [it.event for it in rows] == ["issues", "ping"]
    assert rows[0].id is not None
    request = shop.get_hook_delivery(hook.id, rows[0].id).request
    assert request is not None
    assert request.payload is not None
    assert request.payload["action"] == "opened"


@pytest.mark.parametrize(
    ("token", "error"),
    [("wrong", github.BadCredentialsException), (TOKEN, github.UnknownObjectException)],
)
def test_it_understands_the_refusals(
    emulator: GitHubEmulator, token: str, error: type[Exception]
) -> None:
    auth = github.Auth.Token(token)
    with (
        github.Github(base_url=emulator.base_url, auth=auth, retry=None) as client,
        pytest.raises(error),
    ):
        client.get_repo("acme/none")


def test_it_understands_what_is_wrong_with_a_request(shop: Repository) -> None:
    with pytest.raises(github.GithubException) as refused:
        shop.create_pull(base="main", head="none", title="x")
    assert refused.value.status == 422
    assert refused.value.data["errors"][0]["field"] == "head"


def test_it_waits_for_the_limit_that_the_emulator_names(
    emulator: GitHubEmulator, client: github.Github
) -> None:
    emulator.set_up("/faults", kind="primary_limit", status=403)
    with pytest.raises(github.RateLimitExceededException):
        client.get_repo("acme/shop")
