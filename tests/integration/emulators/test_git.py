"""Clone, fetch, and push against the emulator with the real git command."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.git_work import GitWork
from support.github_emulator import GitHubEmulator, Receiver


def url_of(emulator: GitHubEmulator, credentials: str = "", name: str = "shop") -> str:
    return emulator.base_url.replace("http://", f"http://{credentials}") + f"/acme/{name}.git"


def refusal(work: GitWork, url: str) -> str:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        work.git("push", url, "fix")
    return str(refused.value.stderr)


@pytest.fixture
def work(emulator: GitHubEmulator, tmp_path: Path) -> GitWork:
    work = GitWork.clone(url_of(emulator), tmp_path / "work")
    work.branch("fix")
    work.commit("Fix", {"new.txt": "new\n"})
    return work


def test_a_public_repository_is_cloned_without_a_token(work: GitWork) -> None:
    assert (work.folder / "src" / "cart.py").read_text() == "total = 0\n"
    assert work.git("log", "--format=%s", "main").split("\n")[0] == "Initial commit"


def test_a_push_without_a_token_is_refused(emulator: GitHubEmulator, work: GitWork) -> None:
    assert "could not read Username" in refusal(work, url_of(emulator))
    assert "Authentication failed" in refusal(work, url_of(emulator, "remit-bot:wrong@"))


def test_a_push_needs_write_access(emulator: GitHubEmulator, work: GitWork) -> None:
    emulator.set_up("/tokens", login="stranger", token="ghp_strangerstoken")
    assert "403" in refusal(work, url_of(emulator, "x:ghp_strangerstoken@"))
    emulator.control.put("/repos/acme/shop/collaborators/stranger", json={"role": "write"})
    work.git("push", "-q", url_of(emulator, "x:ghp_strangerstoken@"), "fix")


def test_a_private_repository_is_hidden_from_others(
    emulator: GitHubEmulator, tmp_path: Path
) -> None:
    emulator.set_up(
        "/repos",
        owner="acme",
        name="secret",
        private=True,
        files={"a": "1"},
        collaborators={"remit-bot": "read"},
    )
    emulator.set_up("/tokens", login="stranger", token="ghp_strangerstoken")
    with pytest.raises(subprocess.CalledProcessError) as refused:
        GitWork.clone(url_of(emulator, name="secret"), tmp_path / "anonymous")
    assert "could not read Username" in str(refused.value.stderr)
    with pytest.raises(subprocess.CalledProcessError) as refused:
        GitWork.clone(url_of(emulator, "x:ghp_strangerstoken@", "secret"), tmp_path / "stranger")
    assert "not found" in str(refused.value.stderr)
    GitWork.clone(url_of(emulator, "x:ghp_thebotstoken@", "secret"), tmp_path / "bot")


def test_a_push_tells_the_hooks_what_came(
    emulator: GitHubEmulator, work: GitWork, receiver: Receiver
) -> None:
    remote = url_of(emulator, "x:ghp_thebotstoken@")
    before = work.head()
    work.git("push", "-q", remote, "fix")
    after = work.commit("Change", {"new.txt": "newer\n", "README.md": "short\n"})
    work.git("push", "-q", remote, "fix")
    work.git("commit", "-q", "--amend", "-m", "Changed")
    work.git("push", "-q", "--force", remote, "fix")
    work.git("push", "-q", remote, "--delete", "fix")
    emulator.settle()
    pushes = [it.payload for it in receiver.received if it.event == "push"]
    assert [(it["created"], it["forced"], it["deleted"]) for it in pushes] == [
        (True, False, False),
        (False, False, False),
        (False, True, False),
        (False, False, True),
    ]
    second = pushes[1]
    assert (second["ref"], second["before"], second["after"]) == ("refs/heads/fix", before, after)
    assert second["pusher"]["name"] == "remit-bot"
    assert [it["message"] for it in second["commits"]] == ["Change"]
    assert second["head_commit"]["modified"] == ["README.md", "new.txt"]


def test_a_push_larger_than_one_chunk_arrives_whole(
    emulator: GitHubEmulator, work: GitWork, tmp_path: Path
) -> None:
    text = "".join(f"{number * 7919:x}\n" for number in range(300_000))
    work.commit("Much", {"much.txt": text})
    work.git("push", "-q", url_of(emulator, "x:ghp_thebotstoken@"), "fix")
    again = GitWork.clone(url_of(emulator), tmp_path / "again")
    again.git("checkout", "-q", "fix")
    assert (again.folder / "much.txt").read_text() == text


def test_a_seed_folder_becomes_the_first_commit(emulator: GitHubEmulator, tmp_path: Path) -> None:
    seed = tmp_path / "seed"
    (seed / "docs").mkdir(parents=True)
    (seed / "docs" / "a.md").write_text("# a\n")
    (seed / ".gitignore").write_text("*.log\n")
    (seed / "noise.log").write_text("no\n")
    emulator.set_up("/repos", owner="acme", name="seeded", seed=str(seed), default_branch="trunk")
    work = GitWork.clone(url_of(emulator, name="seeded"), tmp_path / "seeded")
    assert work.git("ls-files").split() == [".gitignore", "docs/a.md"]
    assert work.git("branch", "--show-current").strip() == "trunk"


@pytest.mark.parametrize(
    "wish",
    [
        {"name": "../x"},
        {"name": ".."},
        {"name": "shop"},
        {"name": "x", "files": {"../../x": "out"}},
        {"name": "x", "seed": "no/such/folder"},
        {"name": "x", "sed": "a typing error"},
    ],
)
def test_a_repository_that_cannot_be_is_refused(
    emulator: GitHubEmulator, wish: dict[str, object]
) -> None:
    answer = emulator.control.post("/repos", json={"owner": "acme"} | wish)
    assert answer.status_code == 422
    assert answer.json()["message"]
