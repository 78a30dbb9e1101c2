"""Pull requests from a branch of the same repository: opening, changing, merging."""

import re
from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, StrictBool, StrictStr

from .accounts import Access, AccessOf
from .errors import (
    ApiError,
    InvalidError,
    NotEmulatedError,
    NotFoundError,
    custom,
    invalid,
    missing,
)
from .git import GitError, Signature
from .hub import Hub
from .issues import edit_text, find_issue, may_change, new_issue, set_state
from .listing import Direction, PagingOf
from .pull_events import compare, emit_pull
from .pushes import keep_head, notice_pushes
from .shapes.issues import issue_page
from .shapes.pulls import file_json, pull_json, whole_pull_json
from .shapes.repositories import commit_json
from .state import Account, Pull, Repository
from .text import check_body, check_title

router = APIRouter()

_CLOSES = re.compile(r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):? +#(\d+)", re.IGNORECASE)


class NewPull(BaseModel):
    """A pull request to open; `head` is ``branch`` or ``owner:branch`` of the same owner."""

    title: StrictStr | None = None
    head: StrictStr | None = None
    base: StrictStr | None = None
    body: StrictStr | None = None
    draft: StrictBool = False
    maintainer_can_modify: StrictBool = True
    issue: int | None = None
    head_repo: StrictStr | None = None


class PullChange(BaseModel):
    """What to change of a pull request; what is not given stays."""

    title: StrictStr | None = None
    body: StrictStr | None = None
    state: Literal["open", "closed"] | None = None
    base: StrictStr | None = None
    maintainer_can_modify: StrictBool | None = None


class MergeWish(BaseModel):
    """How to merge, and the head that the caller has seen."""

    commit_title: StrictStr | None = None
    commit_message: StrictStr | None = None
    sha: StrictStr | None = None
    merge_method: Literal["merge", "squash", "rebase"] = "merge"


def find_pull(repository: Repository, number: int) -> Pull:
    """Return a pull request.

    Raises:
        NotFoundError: The number is free or an issue's.
    """
    try:
        return repository.pulls[number]
    except KeyError:
        raise NotFoundError from None


async def _whole(access: Access, pull: Pull) -> dict[str, Any]:
    compared = await compare(access.hub, access.repository, pull)
    return whole_pull_json(access.hub, access.repository, pull, compared)


def _head_branch(access: Access, head: str) -> str:
    owner, separator, branch = head.rpartition(":")
    if separator and owner.casefold() != access.hub.owner(access.repository).login.casefold():
        raise NotEmulatedError("open a pull request from a fork")
    return branch


@router.post("/repos/{owner}/{repo}/pulls", status_code=201)
async def create_pull(access: AccessOf, wanted: NewPull) -> dict[str, Any]:
    """Open a pull request for a branch that git has."""
    by = access.writer()
    hub, repository = access.hub, access.repository
    if wanted.issue is not None or wanted.head_repo is not None:
        raise NotEmulatedError("open a pull request from an issue or from another repository")
    title = check_title("PullRequest", wanted.title)
    check_body("PullRequest", wanted.body)
    if not wanted.head or not wanted.base:
        raise InvalidError(missing("PullRequest", "base" if wanted.head else "head"))
    head = _head_branch(access, wanted.head)
    await notice_pushes(hub, repository)
    shas = {
        field: repository.refs.get(f"refs/heads/{branch}")
        for field, branch in (("head", head), ("base", wanted.base))
    }
    head_sha, base_sha = shas["head"], shas["base"]
    if head_sha is None or base_sha is None:
        raise InvalidError(*(invalid("PullRequest", it) for it, sha in shas.items() if sha is None))
    label = f"{hub.owner(repository).login}:{head}"
    for other in repository.pulls.values():
        if repository.issues[other.number].state == "open" and (other.head_ref, other.base_ref) == (
            head,
            wanted.base,
        ):
            raise InvalidError(custom("PullRequest", f"A pull request already exists for {label}."))
    path = hub.git_path(repository)
    if not await hub.git.commits_between(path, base_sha, head_sha):
        raise InvalidError(custom("PullRequest", f"No commits between {wanted.base} and {head}"))
    issue = new_issue(hub, repository, by, title=title, body=wanted.body, is_pull=True)
    pull = Pull(
        id=hub.state.next_id("pull"),
        number=issue.number,
        head_ref=head,
        head_sha=head_sha,
        base_ref=wanted.base,
        base_sha=base_sha,
        draft=wanted.draft,
        maintainer_can_modify=False,
    )
    repository.pulls[pull.number] = pull
    await keep_head(hub, repository, pull)
    hub.record(
        by,
        repository,
        kind="pull",
        action="opened",
        number=pull.number,
        id=pull.id,
        title=issue.title,
        body=issue.body,
        html_url=issue_page(hub, repository, issue),
    )
    await emit_pull(hub, repository, by, "opened", pull)
    return await _whole(access, pull)


@router.get("/repos/{owner}/{repo}/pulls")
async def list_pulls(
    access: AccessOf,
    paging: PagingOf,
    state: Literal["open", "closed", "all"] = "open",
    head: str | None = None,
    base: str | None = None,
    sort: Literal["created", "updated", "popularity", "long-running"] = "created",
    direction: Direction | None = None,
) -> list[dict[str, Any]]:
    """List pull requests; `head` is ``owner:branch``, and without an owner it filters nothing."""
    hub, repository = access.hub, access.repository
    await notice_pushes(hub, repository)
    if sort in {"popularity", "long-running"}:
        raise NotEmulatedError(f"list pull requests by {sort}")
    owner, separator, branch = (head or "").partition(":")
    here = owner.casefold() == hub.owner(repository).login.casefold()
    rows = [
        it
        for it in repository.pulls.values()
        if state in {"all", repository.issues[it.number].state}
        and base in {None, it.base_ref}
        and (not separator or (here and it.head_ref == branch))
    ]
    issues = repository.issues
    rows.sort(
        key=lambda it: (
            issues[it.number].created_at if sort == "created" else issues[it.number].updated_at,
            it.number,
        ),
        reverse=(direction or ("desc" if sort == "created" else "asc")) == "desc",
    )
    return [pull_json(hub, repository, it) for it in paging.cut(rows)]


@router.get("/repos/{owner}/{repo}/pulls/{number:int}")
async def get_pull(access: AccessOf, number: int) -> dict[str, Any]:
    """Show a pull request with what it changes."""
    await notice_pushes(access.hub, access.repository)
    return await _whole(access, find_pull(access.repository, number))


@router.patch("/repos/{owner}/{repo}/pulls/{number:int}")
async def change_pull(access: AccessOf, number: int, wanted: PullChange) -> dict[str, Any]:
    """Change a pull request's text, base, or state."""
    hub, repository = access.hub, access.repository
    pull, issue = find_pull(repository, number), find_issue(repository, number)
    by = may_change(access, issue.user_id, "write")
    given = wanted.model_fields_set
    title = check_title("PullRequest", wanted.title) if "title" in given else issue.title
    body = wanted.body if "body" in given else issue.body
    check_body("PullRequest", body)
    await notice_pushes(hub, repository)
    if wanted.state == "open" and issue.state == "closed":
        await _check_reopen(hub, repository, pull)
    if wanted.base is not None and wanted.base != pull.base_ref:
        await _change_base(hub, repository, by, pull, wanted.base)
    await edit_text(hub, repository, by, issue, title=title, body=body)
    if wanted.state is not None:
        await set_state(hub, repository, by, issue, wanted.state)
    return await _whole(access, pull)


async def _check_reopen(hub: Hub, repository: Repository, pull: Pull) -> None:
    if pull.merged_at is not None:
        raise InvalidError(custom("PullRequest", "state cannot be changed. It is merged.", "state"))
    if f"refs/heads/{pull.head_ref}" not in repository.refs:
        message = f"state cannot be changed. The {pull.head_ref} branch has been deleted."
        raise InvalidError(custom("PullRequest", message, "state"))
    pull.head_sha = repository.refs[f"refs/heads/{pull.head_ref}"]
    await keep_head(hub, repository, pull)


async def _change_base(
    hub: Hub, repository: Repository, by: Account, pull: Pull, base: str
) -> None:
    sha = repository.refs.get(f"refs/heads/{base}")
    if sha is None:
        raise InvalidError(invalid("PullRequest", "base"))
    before = {"ref": {"from": pull.base_ref}, "sha": {"from": pull.base_sha}}
    pull.base_ref, pull.base_sha = base, sha
    repository.issues[pull.number].updated_at = hub.now()
    await emit_pull(hub, repository, by, "edited", pull, changes={"base": before})


@router.get("/repos/{owner}/{repo}/pulls/{number:int}/files")
async def list_files(access: AccessOf, paging: PagingOf, number: int) -> list[dict[str, Any]]:
    """List the files that a pull request changes, with their patches."""
    hub, repository = access.hub, access.repository
    await notice_pushes(hub, repository)
    pull = find_pull(repository, number)
    path = hub.git_path(repository)
    changes = await hub.git.changes(path, pull.base_sha, pull.head_sha)
    return [file_json(hub, repository, pull, it) for it in paging.cut(changes)]


@router.get("/repos/{owner}/{repo}/pulls/{number:int}/commits")
async def list_commits(access: AccessOf, paging: PagingOf, number: int) -> list[dict[str, Any]]:
    """List the commits of a pull request, oldest first."""
    hub, repository = access.hub, access.repository
    await notice_pushes(hub, repository)
    pull = find_pull(repository, number)
    path = hub.git_path(repository)
    commits = await hub.git.commits_between(path, pull.base_sha, pull.head_sha)
    return [commit_json(hub, repository, it) for it in paging.cut(commits)]


@router.get("/repos/{owner}/{repo}/pulls/{number:int}/merge", status_code=204)
async def is_merged(access: AccessOf, number: int) -> None:
    """Answer 204 for a merged pull request and 404 for another."""
    if find_pull(access.repository, number).merged_at is None:
        raise NotFoundError


@router.put("/repos/{owner}/{repo}/pulls/{number:int}/merge")
async def merge_pull(
    access: AccessOf, number: int, wanted: MergeWish | None = None
) -> dict[str, Any]:
    """Merge a pull request by a merge commit or a squash; rebasing is switched off."""
    hub, repository = access.hub, access.repository
    wish = wanted or MergeWish()
    by = access.require("write")
    await notice_pushes(hub, repository)
    pull, issue = find_pull(repository, number), find_issue(repository, number)
    if issue.state != "open" or pull.draft:
        raise ApiError("Pull Request is not mergeable", status=405)
    if wish.sha is not None and wish.sha != pull.head_sha:
        raise ApiError("Head branch was modified. Review and try the merge again.", status=409)
    if wish.merge_method == "rebase":
        raise ApiError("Rebase merges are not allowed on this repository.", status=405)
    async with hub.git_lock(repository):
        commit = await _merge_commit(hub, repository, pull, by, wish)
        await hub.git.update_ref(hub.git_path(repository), f"refs/heads/{pull.base_ref}", commit)
    pull.merge_commit_sha = commit
    pull.merged_at = hub.now()
    pull.merged_by_id = by.id
    await set_state(hub, repository, by, issue, "closed")
    hub.record(
        by,
        repository,
        kind="merge",
        action="merged",
        number=number,
        id=commit,
        title=issue.title,
        html_url=issue_page(hub, repository, issue),
    )
    await notice_pushes(hub, repository, by)
    if pull.base_ref == repository.default_branch:
        for closed in _CLOSES.findall(issue.body or ""):
            target = repository.issues.get(int(closed))
            if target is not None and not target.is_pull:
                await set_state(hub, repository, by, target, "closed")
    return {"sha": commit, "merged": True, "message": "Pull Request successfully merged"}


async def _merge_commit(
    hub: Hub, repository: Repository, pull: Pull, by: Account, wish: MergeWish
) -> str:
    path = hub.git_path(repository)
    base = repository.refs[f"refs/heads/{pull.base_ref}"]
    try:
        tree = await hub.git.merged_tree(path, base, pull.head_sha)
    except GitError as error:
        raise ApiError(f"The installed git cannot merge this: {error}", status=405) from error
    if tree is None:
        raise ApiError("Pull Request is not mergeable", status=405)
    title = repository.issues[pull.number].title
    owner = hub.owner(repository).login
    if wish.merge_method == "squash":
        subject, text = f"{title} (#{pull.number})", ""
    else:
        subject, text = f"Merge pull request #{pull.number} from {owner}/{pull.head_ref}", title
    parents = (base,) if wish.merge_method == "squash" else (base, pull.head_sha)
    message = "\n\n".join(
        it for it in (wish.commit_title or subject, wish.commit_message or text) if it
    )
    who = Signature(by.name or by.login, by.email or f"{by.login}@users.invalid", hub.now())
    return await hub.git.commit_tree(path, tree, parents=parents, message=message, by=who)
