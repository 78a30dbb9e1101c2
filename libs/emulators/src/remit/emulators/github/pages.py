"""Pages for a person who watches: a repository's list, an issue, a pull request.

They show private repositories too: the emulator is for one's own machine.
"""

from datetime import datetime
from typing import Any

import jinja2
from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from .accounts import HubOf
from .git import GitError
from .hub import Hub, timestamp
from .issues import find_issue
from .pushes import notice_pushes
from .state import Repository

router = APIRouter(include_in_schema=False)

_TEMPLATES = jinja2.Environment(
    loader=jinja2.PackageLoader("remit.emulators.github", "templates"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_SAFE = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


def _page(hub: Hub, template: str, repository: Repository, **shown: Any) -> HTMLResponse:
    html = _TEMPLATES.get_template(template).render(
        name=hub.full_name(repository),
        address=hub.web_of(repository),
        repository=repository,
        login=lambda account_id: hub.state.accounts[account_id],
        time=timestamp,
        **shown,
    )
    return HTMLResponse(html, headers=_SAFE)


def _missing() -> HTMLResponse:
    return HTMLResponse("<!doctype html><title>Not found</title><h1>Not found</h1>", 404, _SAFE)


@router.get("/")
async def show_repositories(hub: HubOf) -> HTMLResponse:
    """List the repositories, by name."""
    rows = sorted((hub.full_name(it), hub.web_of(it)) for it in hub.state.repositories.values())
    html = _TEMPLATES.get_template("repositories.html").render(repositories=rows)
    return HTMLResponse(html, headers=_SAFE)


@router.get("/{owner}/{repo}")
async def show_repository(hub: HubOf, owner: str, repo: str) -> HTMLResponse:
    """List a repository's issues and pull requests, newest first."""
    repository = hub.find_repository(owner, repo)
    if repository is None:
        return _missing()
    issues = sorted(repository.issues.values(), key=lambda it: it.number, reverse=True)
    return _page(hub, "repository.html", repository, issues=issues)


@router.get("/{owner}/{repo}/issues/{number:int}")
@router.get("/{owner}/{repo}/pull/{number:int}")
async def show_conversation(hub: HubOf, owner: str, repo: str, number: int) -> HTMLResponse:
    """Show an issue or a pull request with everything said about it, oldest first."""
    repository = hub.find_repository(owner, repo)
    if repository is None or number not in repository.issues:
        return _missing()
    issue = find_issue(repository, number)
    pull = repository.pulls.get(number)
    changes, trouble = [], ""
    if pull is not None:
        await notice_pushes(hub, repository)
        try:
            changes = await hub.git.changes(hub.git_path(repository), pull.base_sha, pull.head_sha)
        except GitError as error:
            trouble = str(error)
    return _page(
        hub,
        "conversation.html",
        repository,
        issue=issue,
        pull=pull,
        changes=changes,
        trouble=trouble,
        entries=_entries(hub, repository, number),
        reactions=[
            (it, hub.state.accounts[it.user_id].login)
            for it in hub.state.reactions.values()
            if it.repository_id == repository.id
        ],
    )


def _entries(hub: Hub, repository: Repository, number: int) -> list[dict[str, Any]]:
    """Return comments, reviews, and review comments of one conversation by time."""
    here = (repository.id, number)
    found: list[tuple[datetime, int, dict[str, Any]]] = []
    for comment in hub.state.comments.values():
        if (comment.repository_id, comment.number) == here:
            entry = {"kind": "issue_comment", "it": comment, "label": "commented"}
            found.append((comment.created_at, comment.id, entry))
    for review in hub.state.reviews.values():
        if (review.repository_id, review.number) != here or review.submitted_at is None:
            continue
        if review.body or review.state != "COMMENTED":
            label = f"reviewed: {review.state.lower().replace('_', ' ')}"
            entry = {"kind": "review", "it": review, "label": label}
            found.append((review.submitted_at, review.id, entry))
    for line in hub.state.review_comments.values():
        if (line.repository_id, line.number) == here:
            verb = "answered" if line.in_reply_to_id else "commented"
            entry = {"kind": "review_comment", "it": line, "label": f"{verb} on {line.path}"}
            found.append((line.created_at, line.id, entry))
    return [entry for *_, entry in sorted(found, key=lambda it: it[:2])]
