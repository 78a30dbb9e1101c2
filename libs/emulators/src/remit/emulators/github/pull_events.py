"""Telling the hooks about a pull request."""

from typing import Any

from . import webhooks
from .git import Comparison
from .hub import Hub
from .shapes.pulls import whole_pull_json
from .state import Account, Pull, Repository


async def compare(hub: Hub, repository: Repository, pull: Pull) -> Comparison:
    """Return how far a pull request's head is from its base."""
    return await hub.git.compare(hub.git_path(repository), pull.base_sha, pull.head_sha)


async def emit_pull(
    hub: Hub,
    repository: Repository,
    by: Account,
    action: str,
    pull: Pull,
    **extra: Any,
) -> None:
    """Tell the hooks about a pull request."""
    compared = await compare(hub, repository, pull)
    payload = {
        "number": pull.number,
        "pull_request": whole_pull_json(hub, repository, pull, compared),
        **extra,
    }
    webhooks.emit(hub, repository, by, "pull_request", action, payload)
