"""The real git repositories behind the emulator, read and written by the git command.

Nothing of the machine's own git settings bears on them, and commits made here take their time
from the emulator's clock, so that the same steps give the same commit ids.
"""

import asyncio
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

EMPTY_COMMIT = "0" * 40
_UNKNOWN_OPTION = 129


class GitError(Exception):
    """A git command failed.

    Attributes:
        arguments: The command's arguments.
        code: Its exit code.
        output: What it said on standard error.
    """

    def __init__(self, arguments: tuple[str, ...], code: int, output: str) -> None:
        super().__init__(f"git {' '.join(arguments)} failed with {code}: {output.strip()}")
        self.arguments = arguments
        self.code = code
        self.output = output


@dataclass(frozen=True)
class Signature:
    """Who made a commit, and when."""

    name: str
    email: str
    at: datetime


@dataclass(frozen=True)
class Commit:
    """A commit as the API shows it."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Signature
    committer: Signature
    message: str


@dataclass(frozen=True)
class FileChange:
    """One file of a difference; `patch` is empty for a binary file."""

    path: str
    previous_path: str | None
    status: str
    blob: str
    additions: int
    deletions: int
    patch: str


@dataclass(frozen=True)
class Comparison:
    """How far a head is from a base: commits, changed files and lines, and whether it merges.

    `mergeable` is empty where the installed git cannot tell (before 2.38).
    """

    commits: int
    additions: int
    deletions: int
    changed_files: int
    mergeable: bool | None


_STATUSES = {"A": "added", "D": "removed", "M": "modified", "R": "renamed", "C": "copied"}


class Git:
    """Runs git in the bare repositories under one folder."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, owner: str, name: str) -> Path:
        """Return the folder of a repository, whether it exists or not."""
        return self._root / owner / f"{name}.git"

    @property
    def root(self) -> Path:
        """The folder that holds every repository."""
        return self._root

    def environment(self) -> dict[str, str]:
        """Return the environment for a git command: the machine's, without its git settings."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        return kept | {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }

    async def run(
        self,
        repository: Path,
        *arguments: str,
        environment: Mapping[str, str] | None = None,
        allowed: tuple[int, ...] = (0,),
    ) -> tuple[int, str]:
        """Run git in a repository and return its exit code and output.

        Raises:
            GitError: The exit code is not among `allowed`.
        """
        process = await asyncio.create_subprocess_exec(
            "git",
            f"--git-dir={repository}",
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=self.environment() | dict(environment or {}),
        )
        output, errors = await process.communicate()
        code = process.returncode or 0
        if code not in allowed:
            raise GitError(arguments, code, errors.decode(errors="replace"))
        return code, output.decode(errors="replace")

    async def create(
        self, repository: Path, *, default_branch: str, seed: Path, by: Signature
    ) -> None:
        """Make a bare repository whose first commit holds the files of a folder.

        A `.git` folder inside the seed is left out; an empty seed gives a repository without
        commits.
        """
        await asyncio.to_thread(repository.mkdir, parents=True)
        await self.run(
            repository, "init", "--quiet", "--bare", f"--initial-branch={default_branch}"
        )
        # Commits that only a pull request still names must outlive the branch.
        await self.run(repository, "config", "gc.auto", "0")
        index = {"GIT_INDEX_FILE": str(repository / "seed-index")}
        await self.run(
            repository,
            "-c",
            "core.bare=false",
            f"--work-tree={seed}",
            "add",
            "--all",
            str(seed),
            environment=index,
        )
        _, listed = await self.run(repository, "ls-files", environment=index)
        if listed:
            _, tree = await self.run(repository, "write-tree", environment=index)
            commit = await self.commit_tree(
                repository, tree.strip(), parents=(), message="Initial commit", by=by
            )
            await self.update_ref(repository, f"refs/heads/{default_branch}", commit)
        (repository / "seed-index").unlink(missing_ok=True)

    async def create_from_files(
        self,
        repository: Path,
        *,
        default_branch: str,
        files: Mapping[str, str],
        by: Signature,
    ) -> None:
        """Make a bare repository whose first commit holds the given texts by path.

        Raises:
            ValueError: A path leads out of the repository.
        """
        with tempfile.TemporaryDirectory(prefix="remit-seed-") as folder:
            seed = _write_files(Path(folder), files)
            await self.create(repository, default_branch=default_branch, seed=seed, by=by)

    def remove(self, repository: Path) -> None:
        """Delete a repository's folder."""
        shutil.rmtree(repository, ignore_errors=True)

    async def refs(self, repository: Path) -> dict[str, str]:
        """Return branches and tags with their commits, by full name."""
        _, output = await self.run(
            repository,
            "for-each-ref",
            "--format=%(objectname) %(*objectname) %(refname)",
            "refs/heads",
            "refs/tags",
        )
        found = {}
        for line in output.splitlines():
            name_at_end = line.split(" ")
            found[name_at_end[-1]] = name_at_end[1] or name_at_end[0]
        return found

    async def update_ref(self, repository: Path, ref: str, commit: str) -> None:
        """Point a ref at a commit."""
        await self.run(repository, "update-ref", ref, commit)

    async def commit(self, repository: Path, commit: str) -> Commit:
        """Return one commit.

        Raises:
            GitError: There is no such commit.
        """
        found = await self._log(repository, "--max-count=1", f"{commit}^{{commit}}")
        return found[0]

    async def commits_between(self, repository: Path, base: str, head: str) -> list[Commit]:
        """Return the commits of `head` that `base` lacks, oldest first."""
        return await self._log(repository, "--reverse", f"{base}..{head}")

    async def _log(self, repository: Path, *arguments: str) -> list[Commit]:
        fields = "%x1e%H%x1f%T%x1f%P%x1f%an%x1f%ae%x1f%at%x1f%cn%x1f%ce%x1f%ct%x1f%B"
        _, output = await self.run(repository, "log", f"--format={fields}", *arguments)
        commits = []
        for record in output.split("\x1e")[1:]:
            sha, tree, parents, an, ae, at, cn, ce, ct, message = record.split("\x1f")
            commits.append(
                Commit(
                    sha=sha,
                    tree=tree,
                    parents=tuple(parents.split()),
                    author=Signature(an, ae, datetime.fromtimestamp(int(at), UTC)),
                    committer=Signature(cn, ce, datetime.fromtimestamp(int(ct), UTC)),
                    message=message.rstrip("\n"),
                )
            )
        return commits

    async def is_ancestor(self, repository: Path, older: str, newer: str) -> bool:
        """Tell whether `older` is reachable from `newer`."""
        code, _ = await self.run(
            repository, "merge-base", "--is-ancestor", older, newer, allowed=(0, 1)
        )
        return code == 0

    async def merged_tree(self, repository: Path, base: str, head: str) -> str | None:
        """Return the tree that merging `head` into `base` gives, or nothing on a conflict.

        Raises:
            GitError: The installed git is too old to merge without a work tree.
        """
        if await self.is_ancestor(repository, base, head):
            return (await self.commit(repository, head)).tree
        code, output = await self.run(
            repository, "merge-tree", "--write-tree", base, head, allowed=(0, 1)
        )
        return output.splitlines()[0] if code == 0 else None

    async def commit_tree(
        self,
        repository: Path,
        tree: str,
        *,
        parents: tuple[str, ...],
        message: str,
        by: Signature,
    ) -> str:
        """Make a commit of a tree and return its id; no ref moves."""
        when = f"{int(by.at.timestamp())} +0000"
        arguments = ["commit-tree", tree, "-m", message]
        for parent in parents:
            arguments += ["-p", parent]
        _, output = await self.run(
            repository,
            *arguments,
            environment={
                "GIT_AUTHOR_NAME": by.name,
                "GIT_AUTHOR_EMAIL": by.email,
                "GIT_AUTHOR_DATE": when,
                "GIT_COMMITTER_NAME": by.name,
                "GIT_COMMITTER_EMAIL": by.email,
                "GIT_COMMITTER_DATE": when,
            },
        )
        return output.strip()

    async def compare(self, repository: Path, base: str, head: str) -> Comparison:
        """Count what a pull request of `head` into `base` changes."""
        _, counted = await self.run(repository, "rev-list", "--count", f"{base}..{head}")
        _, numbers = await self.run(repository, "diff", "--numstat", f"{base}...{head}")
        rows = [line.split("\t")[:2] for line in numbers.splitlines()]
        try:
            mergeable: bool | None = await self.merged_tree(repository, base, head) is not None
        except GitError as error:
            if error.code != _UNKNOWN_OPTION:
                raise
            mergeable = None
        return Comparison(
            commits=int(counted),
            additions=sum(int(added) for added, _ in rows if added != "-"),
            deletions=sum(int(removed) for _, removed in rows if removed != "-"),
            changed_files=len(rows),
            mergeable=mergeable,
        )

    async def changes(self, repository: Path, base: str, head: str) -> list[FileChange]:
        """Return the files that a pull request of `head` into `base` changes, by path."""
        return await self._changes(repository, f"{base}...{head}")

    async def changes_of_commit(self, repository: Path, commit: Commit) -> list[FileChange]:
        """Return the files a commit changes against its first parent."""
        parent = commit.parents[0] if commit.parents else _EMPTY_TREE
        return await self._changes(repository, parent, commit.sha)

    async def _changes(self, repository: Path, *between: str) -> list[FileChange]:
        _, raw = await self.run(
            repository, "diff", "--raw", "-z", "--no-abbrev", "--find-renames", *between
        )
        changes = []
        parts = iter(raw.split("\0"))
        for head in parts:
            if not head:
                continue
            _, _, before, after, letter = head.split(" ")
            first = next(parts)
            moved = letter[0] in "RC"
            path = next(parts) if moved else first
            paths = (first, path) if moved else (path,)
            _, patch = await self.run(repository, "diff", "--find-renames", *between, "--", *paths)
            body = patch[start.start() :] if (start := _HUNK.search(patch)) else ""
            lines = body.splitlines()
            changes.append(
                FileChange(
                    path=path,
                    previous_path=first if moved else None,
                    status=_STATUSES.get(letter[0], "changed"),
                    blob=before if letter == "D" else after,
                    additions=sum(line.startswith("+") for line in lines),
                    deletions=sum(line.startswith("-") for line in lines),
                    patch=body.removesuffix("\n"),
                )
            )
        return changes


def _write_files(folder: Path, files: Mapping[str, str]) -> Path:
    seed = folder.resolve()
    for path, text in files.items():
        file = (seed / path).resolve()
        if not file.is_relative_to(seed):
            raise ValueError(f"the path {path!r} leads out of the repository")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return seed


_HUNK = re.compile(r"^@@ ", re.MULTILINE)
_EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
