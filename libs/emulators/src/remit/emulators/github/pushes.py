"""Pushes: noticed by comparing git with the refs last seen, told to hooks and pull requests."""

from typing import Any

from . import webhooks
from .git import EMPTY_COMMIT, Commit
from .hub import Hub
from .issues import set_state
from .pull_events import emit_pull
from .shapes.accounts import user_json
from .shapes.repositories import repository_json
from .state import Account, Pull, Repository


async def notice_pushes(hub: Hub, repository: Repository, by: Account | None = None) -> None:
    """Compare git with the refs last seen and tell the hooks of every difference.

    Called after each push over HTTP, and before refs or pull requests are looked at, so that a
    push by file path is noticed too; that one is said to be the owner's.
    """
    async with hub.git_lock(repository):
        now_there = await hub.git.refs(hub.git_path(repository))
        before = repository.refs
        changed = {
            ref: (before.get(ref, EMPTY_COMMIT), now_there.get(ref, EMPTY_COMMIT))
            for ref in before.keys() | now_there.keys()
            if before.get(ref) != now_there.get(ref)
        }
        if not changed:
            return
        repository.refs = now_there
        repository.pushed_at = repository.updated_at = hub.now()
        sender = by or hub.owner(repository)
        for ref, (old, new) in sorted(changed.items()):
            await _tell_of_push(hub, repository, sender, ref, old, new)
            await _follow_head(hub, repository, sender, ref, old, new)
        hub.save()


async def keep_head(hub: Hub, repository: Repository, pull: Pull) -> None:
    """Keep a pull request's head reachable, as ``refs/pull/N/head``, whatever its branch does."""
    ref = f"refs/pull/{pull.number}/head"
    await hub.git.update_ref(hub.git_path(repository), ref, pull.head_sha)


async def _follow_head(
    hub: Hub, repository: Repository, by: Account, ref: str, old: str, new: str
) -> None:
    """Move the open pull requests of a pushed branch, and close those of a deleted one."""
    for pull in repository.pulls.values():
        issue = repository.issues[pull.number]
        if issue.state != "open" or ref != f"refs/heads/{pull.head_ref}":
            continue
        if new == EMPTY_COMMIT:
            await set_state(hub, repository, by, issue, "closed")
            continue
        pull.head_sha = new
        pull.base_sha = repository.refs.get(f"refs/heads/{pull.base_ref}", pull.base_sha)
        issue.updated_at = hub.now()
        await keep_head(hub, repository, pull)
        await emit_pull(hub, repository, by, "synchronize", pull, before=old, after=new)


async def _tell_of_push(
    hub: Hub, repository: Repository, by: Account, ref: str, old: str, new: str
) -> None:
    path = hub.git_path(repository)
    created, deleted = old == EMPTY_COMMIT, new == EMPTY_COMMIT
    base = repository.refs.get(f"refs/heads/{repository.default_branch}", new)
    commits: list[Commit] = []
    if not deleted:
        commits = await hub.git.commits_between(path, base if created else old, new)
    forced = not created and not deleted and not await hub.git.is_ancestor(path, old, new)
    head = None if deleted else await _pushed_commit_json(hub, repository, new)
    compare = f"/compare/{old[:12]}...{new[:12]}"
    hub.record(
        by,
        repository,
        kind="push",
        action="deleted" if deleted else "created" if created else "updated",
        id=new,
        title=ref,
        html_url=hub.web_of(repository, compare),
    )
    payload = {
        "ref": ref,
        "before": old,
        "after": new,
        "base_ref": None,
        "created": created,
        "deleted": deleted,
        "forced": forced,
        "compare": hub.web_of(repository, compare),
        "commits": [await _pushed_commit_json(hub, repository, it.sha) for it in commits],
        "head_commit": head,
        "pusher": {"name": by.login, "email": by.email},
        "repository": repository_json(hub, repository)
        | {
            "created_at": int(repository.created_at.timestamp()),
            "pushed_at": int(repository.pushed_at.timestamp()),
            "master_branch": repository.default_branch,
            "stargazers": 0,
            "owner": user_json(hub, hub.owner(repository))
            | {"name": hub.owner(repository).login, "email": hub.owner(repository).email},
        },
    }
    webhooks.emit(hub, repository, by, "push", None, payload)


async def _pushed_commit_json(hub: Hub, repository: Repository, sha: str) -> dict[str, Any]:
    path = hub.git_path(repository)
    commit = await hub.git.commit(path, sha)
    changes = await hub.git.changes_of_commit(path, commit)
    people = {
        role: {"name": who.name, "email": who.email, "date": who.at.isoformat()}
        for role, who in (("author", commit.author), ("committer", commit.committer))
    }
    return people | {
        "id": commit.sha,
        "tree_id": commit.tree,
        "distinct": True,
        "message": commit.message,
        "timestamp": commit.committer.at.isoformat(),
        "url": hub.web_of(repository, f"/commit/{commit.sha}"),
        "added": [it.path for it in changes if it.status == "added"],
        "removed": [it.path for it in changes if it.status == "removed"],
        "modified": [it.path for it in changes if it.status not in {"added", "removed"}],
    }
