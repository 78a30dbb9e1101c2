"""Repositories: what they are, their branches and refs."""

from typing import Any
from urllib.parse import quote

from fastapi import APIRouter

from .accounts import AccessOf, permissions_json
from .errors import ApiError, NotFoundError
from .git import GitError
from .listing import PagingOf
from .pushes import notice_pushes
from .shapes.accounts import user_json
from .shapes.repositories import commit_json, ref_json, repository_json

router = APIRouter()


@router.get("/repos/{owner}/{repo}")
async def get_repository(access: AccessOf) -> dict[str, Any]:
    """Show a repository."""
    shown = repository_json(access.hub, access.repository)
    owner = access.hub.owner(access.repository)
    if owner.type == "Organization":
        shown["organization"] = user_json(access.hub, owner)
    if access.caller is not None:
        shown["permissions"] = permissions_json(access.role)
    return shown


@router.get("/repos/{owner}/{repo}/branches")
async def list_branches(access: AccessOf, paging: PagingOf) -> list[dict[str, Any]]:
    """List the branches, by name."""
    hub, repository = access.hub, access.repository
    await notice_pushes(hub, repository)
    heads = [ref for ref in sorted(repository.refs) if ref.startswith("refs/heads/")]
    return [
        {
            "name": ref.removeprefix("refs/heads/"),
            "commit": {
                "sha": repository.refs[ref],
                "url": hub.api_of(repository, f"/commits/{repository.refs[ref]}"),
            },
            "protected": False,
        }
        for ref in paging.cut(heads)
    ]


@router.get("/repos/{owner}/{repo}/branches/{branch:path}")
async def get_branch(access: AccessOf, branch: str) -> dict[str, Any]:
    """Show a branch with its last commit."""
    hub, repository = access.hub, access.repository
    await notice_pushes(hub, repository)
    sha = repository.refs.get(f"refs/heads/{branch}")
    if sha is None:
        raise NotFoundError("Branch not found")
    path = hub.git_path(repository)
    api = hub.api_of(repository, f"/branches/{quote(branch)}")
    return {
        "name": branch,
        "commit": commit_json(hub, repository, await hub.git.commit(path, sha)),
        "_links": {"self": api, "html": hub.web_of(repository, f"/tree/{quote(branch)}")},
        "protected": False,
        "protection": {
            "enabled": False,
            "required_status_checks": {
                "enforcement_level": "off",
                "contexts": [],
                "checks": [],
            },
        },
        "protection_url": f"{api}/protection",
    }


@router.get("/repos/{owner}/{repo}/commits/{ref:path}")
async def get_commit(access: AccessOf, ref: str) -> dict[str, Any]:
    """Show the commit of a branch, a tag, or a commit id."""
    hub, repository = access.hub, access.repository
    await notice_pushes(hub, repository)
    path = hub.git_path(repository)
    sha = next(
        (
            repository.refs[full]
            for full in (f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/{ref}")
            if full in repository.refs
        ),
        ref,
    )
    try:
        return commit_json(hub, repository, await hub.git.commit(path, sha))
    except GitError as error:
        raise ApiError(f"No commit found for SHA: {ref}", status=422) from error


@router.get("/repos/{owner}/{repo}/git/ref/{ref:path}")
async def get_ref(access: AccessOf, ref: str) -> dict[str, Any]:
    """Show one ref, named without ``refs/``."""
    hub, repository = access.hub, access.repository
    await notice_pushes(hub, repository)
    full = f"refs/{ref}"
    if full not in repository.refs:
        raise NotFoundError
    return ref_json(hub, repository, full, repository.refs[full])


@router.get("/repos/{owner}/{repo}/git/matching-refs/{ref:path}")
async def list_matching_refs(access: AccessOf, ref: str) -> list[dict[str, Any]]:
    """List the refs whose name, without ``refs/``, starts with a text."""
    hub, repository = access.hub, access.repository
    await notice_pushes(hub, repository)
    return [
        ref_json(hub, repository, full, sha)
        for full, sha in sorted(repository.refs.items())
        if full.startswith(f"refs/{ref}")
    ]
