"""The documents of the demo's deployment: its Sources, its Policy and its Executor."""

from __future__ import annotations

import shutil
import sys
from importlib.resources import files
from pathlib import Path

import yaml

from remit.cli.demo import story
from remit.cli.layout import DataFolder, write_secret

SOURCE = "github"
"""The name of the Source instance."""


def write_documents(folder: DataFolder, github_url: str, cast: story.Cast) -> None:
    """Write what the services read at their start."""
    write_secret(folder.secrets / "github-token", cast.token)
    script = folder.root / "script.yaml"
    script.write_text(files(__package__).joinpath("script.yaml").read_text())
    _write(
        folder.sources,
        {
            "sources": {
                SOURCE: {
                    "kind": "github",
                    "api_url": f"{github_url}/api/v3",
                    "git_url": github_url,
                    "repositories": [story.FULL_NAME],
                    "token": {"file": "secrets/github-token"},
                    "webhook_secret": {
                        "file": str(folder.secret("webhook-secret").relative_to(folder.root))
                    },
                    "write_interval": 0,
                },
                "console": {"kind": "console", "token": {"file": "secrets/console-token"}},
            }
        },
    )
    _write(
        folder.policy,
        {
            "accept": "auto",
            "rules": [
                {
                    "id": "change-on-request",
                    "text": "A person on the list asks for a change to the code.",
                    "scope": "The change that was asked for, on a branch, as a pull request.",
                }
            ],
            "sources": {SOURCE: {"allowed": [cast.person]}, "console": {"allowed": ["local"]}},
        },
    )
    _write(
        folder.executor,
        {
            "agent": {
                "command": [agent_program(), "--model-kind", "scripted", "--script", str(script)],
                "variables": {"REMIT_AGENT_HOME": str(folder.agent.absolute())},
            },
            # The demo's directory is its own, and so is all that the script runs in it.
            "permissions": {"allow": ["read", "search", "edit", "execute", "other"]},
            "prepare": {
                "command": ["git", "clone", "--quiet", "$REMIT_REPOSITORY_URL", "."],
                "credential": True,
            },
        },
    )


def agent_program() -> str:
    """Return `remit-agent`, from beside this Python first."""
    beside = Path(sys.executable).parent / "remit-agent"
    return str(beside) if beside.exists() else shutil.which("remit-agent") or "remit-agent"


def _write(path: Path, document: object) -> None:
    path.write_text(yaml.safe_dump(document, sort_keys=False, allow_unicode=True))
