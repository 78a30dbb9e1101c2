"""Pushing a Ticket's branch, from outside the agent's reach.

The agent's repository is the agent's: its settings and hooks may be anything. So nothing is run in
it. Its branch is fetched into a repository of the Executor's own, and pushed from there with the
code host's short-lived credential, which only that one git process gets (ENV-2).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from remit.connectors.contract import GitRemote
from remit.executor.directory import Prepared, TicketDirectory
from remit.executor.git import GitFailed, credential_for, git
from remit.executor.redaction import without


class NothingToPush(Exception):
    """The branch has no commit of its own.

    Attributes:
        branch: The branch.
    """

    def __init__(self, branch: str) -> None:
        super().__init__(f"there are no commits on {branch}")
        self.branch = branch


class PushFailed(Exception):
    """The code host did not take the branch.

    Attributes:
        branch: The branch.
        reason: What git said, without the credential.
    """

    def __init__(self, branch: str, reason: str) -> None:
        super().__init__(f"{branch} could not be pushed: {reason}")
        self.branch = branch
        self.reason = reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """A branch that is on the code host.

    Attributes:
        branch: The branch.
        commit: Where it points.
        commits: How many commits it has of its own.
    """

    branch: str
    commit: str
    commits: int


async def push_branch(directory: TicketDirectory, prepared: Prepared, remote: GitRemote) -> Pushed:
    """Push the Ticket's branch to ``remote``. Never forced: what others pushed there stays.

    Raises:
        NothingToPush: The agent has committed nothing.
        PushFailed: The code host did not take it.
        CommandMissing: There is no git.
        CommandTooSlow: git took too long.
    """
    branch, ref = prepared.branch, f"refs/heads/{prepared.branch}"
    outbox = directory.outbox
    if not outbox.exists():
        await asyncio.to_thread(outbox.mkdir, parents=True)
        await git("init", "--quiet", "--bare", cwd=outbox, action="make the outbox")
    try:
        # Only from this machine's disk: the agent's settings can send this fetch nowhere else.
        await git(
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--update-head-ok"),
            *(str(directory.work), f"+{ref}:{ref}"),
            cwd=outbox,
            action="read the branch",
            extra={"GIT_ALLOW_PROTOCOL": "file", "GIT_NO_LAZY_FETCH": "1"},
        )
    except GitFailed as error:
        raise NothingToPush(branch) from error
    commits = await _commits(prepared, directory, ref)
    if commits == 0:
        raise NothingToPush(branch)
    commit = (await git("rev-parse", ref, cwd=outbox, action="read the branch")).output
    try:
        await git(
            *("push", "--quiet", "--porcelain", remote.url, f"{ref}:{ref}"),
            cwd=outbox,
            action="push the branch",
            extra=credential_for(remote),
        )
    except GitFailed as error:
        raise PushFailed(branch, without(error.output, [remote.password])) from error
    return Pushed(branch=branch, commit=commit, commits=commits)


async def _commits(prepared: Prepared, directory: TicketDirectory, ref: str) -> int:
    """Count the commits past where the branch started; all of them where that is gone from it."""
    starts = [[f"^{prepared.base}"]] if prepared.base else []
    for start in (*starts, []):
        try:
            counted = await git(
                *("rev-list", "--count", ref, *start),
                cwd=directory.outbox,
                action="count the commits",
            )
        except GitFailed:
            continue
        return int(counted.output)
    return 0
