"""git, as the Executor runs it: with no settings but those named here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from remit.connectors.contract import GitRemote
from remit.executor.commands import Ran, run_command
from remit.executor.environment import inherited

LIMIT = 120.0
"""Seconds that one git command may take."""


class GitFailed(Exception):
    """git ended with an error.

    Attributes:
        action: What it was to do.
        output: The end of what it said.
    """

    def __init__(self, action: str, output: str) -> None:
        super().__init__(f"git could not {action}: {output}")
        self.action = action
        self.output = output


async def git(
    *arguments: str, cwd: Path, action: str, extra: Mapping[str, str] | None = None
) -> Ran:
    """Run git in ``cwd`` and return how it ended.

    No settings of the machine or of a user, no hooks, no questions.

    Args:
        arguments: What follows ``git``.
        cwd: Where it runs.
        action: What it is to do, in words that follow "could not".
        extra: Further variables for git alone, such as those of `credential_for`.

    Raises:
        GitFailed: It ended with an error.
        CommandMissing: There is no git.
        CommandTooSlow: It took longer than `LIMIT`.
    """
    environment = {
        **inherited(os.environ),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        **(extra or {}),
    }
    command = ["git", "-c", f"core.hooksPath={os.devnull}", *arguments]
    ran = await run_command(command, cwd=cwd, env=environment, limit=LIMIT)
    if ran.status != 0:
        raise GitFailed(action, ran.output)
    return ran


def credential_for(remote: GitRemote) -> dict[str, str]:
    """Return variables by which git can push to ``remote``; empty where it needs no credential.

    The credential is in the environment of git alone: on no command line, in no file. It is offered
    to this repository's URL only, and no redirection is followed with it.
    """
    if not remote.password:
        return {}
    answer = (
        '!f() { test "$1" = get && '
        'printf "username=%s\\npassword=%s\\n" "$REMIT_GIT_USERNAME" "$REMIT_GIT_PASSWORD"; }; f'
    )
    settings: Sequence[tuple[str, str]] = (
        ("credential.helper", ""),
        (f"credential.{remote.url}.helper", answer),
        ("credential.useHttpPath", "true"),
        ("http.followRedirects", "false"),
    )
    variables = {
        "GIT_CONFIG_COUNT": str(len(settings)),
        "REMIT_GIT_USERNAME": remote.username,
        "REMIT_GIT_PASSWORD": remote.password,
        "GIT_TERMINAL_PROMPT": "0",
    }
    for place, (key, value) in enumerate(settings):
        variables[f"GIT_CONFIG_KEY_{place}"] = key
        variables[f"GIT_CONFIG_VALUE_{place}"] = value
    return variables
