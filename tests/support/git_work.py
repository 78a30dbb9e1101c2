"""A git work tree that a test works in, free of the machine's own git settings."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class GitWork:
    """A work tree.

    Args:
        folder: Where it is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def clone(cls, url: str, folder: Path) -> GitWork:
        """Clone a repository."""
        work = cls(folder)
        work._run(folder.parent, "clone", "-q", url, str(folder))
        return work

    def git(self, *arguments: str) -> str:
        """Run git and return what it prints.

        Raises:
            subprocess.CalledProcessError: It failed.
        """
        return self._run(self.folder, *arguments)

    def branch(self, name: str) -> None:
        """Start a branch here."""
        self.git("checkout", "-q", "-b", name)

    def commit(self, message: str, files: dict[str, str]) -> str:
        """Commit files by path and return the commit."""
        for path, text in files.items():
            file = self.folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        self.git("add", "--all")
        self.git("commit", "-q", "-m", message)
        return self.head()

    def push(self, branch: str, *options: str) -> None:
        """Push a branch to where this was cloned from."""
        self.git("push", "-q", *options, "origin", branch)

    def head(self) -> str:
        """Return the commit that is checked out."""
        return self.git("rev-parse", "HEAD").strip()

    def _run(self, folder: Path, *arguments: str) -> str:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        person = {"NAME": "Pat", "EMAIL": "pat@example.com"}
        environment = kept | {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            **{f"GIT_AUTHOR_{key}": value for key, value in person.items()},
            **{f"GIT_COMMITTER_{key}": value for key, value in person.items()},
        }
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout
