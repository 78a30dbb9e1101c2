"""Pushing a Ticket's branch with a credential that nobody else sees, from a hostile repository."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from remit.connectors.contract import GitRemote
from remit.domain.ids import TicketId
from remit.executor.directory import Prepared, TicketDirectory
from remit.executor.push_branch import NothingToPush, PushFailed, push_branch
from support.git_work import GitWork
from support.github_emulator import GitHubEmulator, run_emulator

TOKEN = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
TICKET = TicketId("t-push")
BRANCH = "remit/t-push"


@pytest.fixture(scope="module")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHubEmulator]:
    with run_emulator(tmp_path_factory.mktemp("github")) as emulator:
        yield emulator


@pytest.fixture
def remote(emulator: GitHubEmulator) -> GitRemote:
    emulator.reset()
    for login in ("acme", "remit-bot"):
        kind = "Organization" if login == "acme" else "User"
        emulator.set_up("/accounts", login=login, type=kind)
    emulator.set_up(
        "/repos",
        owner="acme",
        name="shop",
        files={"README.md": "# shop\n"},
        collaborators={"remit-bot": "write"},
    )
    emulator.set_up("/tokens", login="remit-bot", token=TOKEN)
    url = f"{emulator.base_url}/acme/shop.git"
    return GitRemote(url=url, username="x-access-token", password=TOKEN)


@pytest.fixture
def directory(remote: GitRemote, tmp_path: Path) -> TicketDirectory:
    directory = TicketDirectory(tmp_path / "tickets", TICKET)
    directory.root.mkdir(parents=True)
    return directory


@pytest.fixture
def work(remote: GitRemote, directory: TicketDirectory) -> GitWork:
    work = GitWork.clone(remote.url, directory.work)
    work.branch(BRANCH)
    return work


@pytest.fixture
def prepared(work: GitWork) -> Prepared:
    return Prepared(at=datetime.now(UTC), branch=BRANCH, base=work.head())


def heads(remote: GitRemote, tmp_path: Path) -> str:
    return GitWork(tmp_path).git("ls-remote", "--heads", remote.url)


async def test_commits_arrive_on_the_branch(
    remote: GitRemote,
    directory: TicketDirectory,
    work: GitWork,
    prepared: Prepared,
    tmp_path: Path,
) -> None:
    first = work.commit("One", {"one.txt": "1\n"})
    pushed = await push_branch(directory, prepared, remote)
    assert (pushed.branch, pushed.commit, pushed.commits) == (BRANCH, first, 1)
    second = work.commit("Two", {"two.txt": "2\n"})
    pushed = await push_branch(directory, prepared, remote)
    assert (pushed.commit, pushed.commits) == (second, 2)
    assert f"{second}\trefs/heads/{BRANCH}" in heads(remote, tmp_path)


async def test_nothing_is_pushed_where_nothing_was_committed(
    remote: GitRemote, directory: TicketDirectory, work: GitWork, prepared: Prepared, tmp_path: Path
) -> None:
    (work.folder / "loose.txt").write_text("not committed")
    with pytest.raises(NothingToPush):
        await push_branch(directory, prepared, remote)
    assert BRANCH not in heads(remote, tmp_path)


async def test_nothing_is_pushed_from_a_directory_without_a_repository(
    remote: GitRemote, directory: TicketDirectory
) -> None:
    directory.work.mkdir()
    with pytest.raises(NothingToPush):
        await push_branch(directory, Prepared(at=datetime.now(UTC), branch=BRANCH), remote)


@pytest.mark.rule("ENV-2")
async def test_a_wrong_credential_is_refused_and_told_without_it(
    remote: GitRemote, directory: TicketDirectory, work: GitWork, prepared: Prepared
) -> None:
    work.commit("One", {"one.txt": "1\n"})
    wrong = GitRemote(url=remote.url, username="x", password="ghp_wrong")
    with pytest.raises(PushFailed) as refused:
        await push_branch(directory, prepared, wrong)
    assert "Authentication failed" in refused.value.reason
    assert "ghp_wrong" not in str(refused.value)


async def test_what_others_pushed_to_the_branch_is_not_overwritten(
    remote: GitRemote, directory: TicketDirectory, work: GitWork, prepared: Prepared, tmp_path: Path
) -> None:
    work.commit("One", {"one.txt": "1\n"})
    await push_branch(directory, prepared, remote)
    url = remote.url.replace("http://", f"http://x:{TOKEN}@")
    person = GitWork.clone(url, tmp_path / "person")
    person.git("checkout", "-q", BRANCH)
    theirs = person.commit("A person's", {"theirs.txt": "theirs\n"})
    person.push(BRANCH)
    work.commit("Two", {"two.txt": "2\n"})
    with pytest.raises(PushFailed):
        await push_branch(directory, prepared, remote)
    assert theirs in heads(remote, tmp_path)


@pytest.mark.rule("ENV-2")
async def test_nothing_of_the_agents_repository_runs_or_sees_the_credential(
    remote: GitRemote, directory: TicketDirectory, work: GitWork, prepared: Prepared, tmp_path: Path
) -> None:
    """The agent may have written anything into its repository's settings and hooks."""
    work.commit("One", {"one.txt": "1\n"})
    loot = tmp_path / "loot"
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\nenv >> {loot}\nexit 0\n")
    spy.chmod(0o755)
    for hook in ("pre-push", "post-checkout", "reference-transaction", "post-index-change"):
        (work.folder / ".git" / "hooks" / hook).write_bytes(spy.read_bytes())
        (work.folder / ".git" / "hooks" / hook).chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.sshCommand",
        "credential.helper",
        "core.askPass",
        "uploadpack.packObjectsHook",
        "core.alternateRefsCommand",
    ):
        work.git("config", key, str(spy))
    work.git("config", f"url.{tmp_path}/elsewhere.insteadOf", remote.url)
    work.git("config", "http.proxy", "http://127.0.0.1:9")
    pushed = await push_branch(directory, prepared, remote)
    assert pushed.commits == 1
    assert not loot.exists()
    written = [
        path
        for path in directory.root.rglob("*")
        if path.is_file() and TOKEN.encode() in path.read_bytes()
    ]
    assert written == []
