"""Comments in the conversation of an issue or pull request."""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, StrictStr

from . import webhooks
from .accounts import AccessOf
from .errors import NotFoundError
from .hub import Hub
from .issues import find_issue, may_change
from .listing import Direction, PagingOf, parse_since
from .shapes.issues import comment_json, issue_json
from .state import Account, IssueComment, Repository
from .text import check_required_body

router = APIRouter()


class CommentText(BaseModel):
    """What a comment says."""

    body: StrictStr | None = None


def find_comment(hub: Hub, repository: Repository, comment_id: int) -> IssueComment:
    """Return a comment of a repository.

    Raises:
        NotFoundError: The repository has none of this id.
    """
    found = hub.state.comments.get(comment_id)
    if found is None or found.repository_id != repository.id:
        raise NotFoundError
    return found


def _tell(
    hub: Hub,
    repository: Repository,
    by: Account,
    action: str,
    comment: IssueComment,
    **extra: Any,
) -> None:
    shown = comment_json(hub, repository, comment)
    hub.record(
        by,
        repository,
        kind="comment",
        action=action,
        number=comment.number,
        id=comment.id,
        body=comment.body,
        html_url=shown["html_url"],
    )
    issue = issue_json(hub, repository, repository.issues[comment.number])
    payload = {"issue": issue, "comment": shown, **extra}
    webhooks.emit(hub, repository, by, "issue_comment", action, payload)


@router.get("/repos/{owner}/{repo}/issues/comments")
async def list_repository_comments(
    access: AccessOf,
    paging: PagingOf,
    sort: Literal["created", "updated"] = "created",
    direction: Direction = "asc",
    since: str | None = None,
) -> list[dict[str, Any]]:
    """List the comments of every conversation; ``since`` counts from the last change."""
    hub, repository = access.hub, access.repository
    earliest = parse_since(since)
    rows = [
        it
        for it in hub.state.comments.values()
        if it.repository_id == repository.id and (earliest is None or it.updated_at >= earliest)
    ]
    rows.sort(
        key=lambda it: (it.created_at if sort == "created" else it.updated_at, it.id),
        reverse=direction == "desc",
    )
    return [comment_json(hub, repository, it) for it in paging.cut(rows)]


@router.get("/repos/{owner}/{repo}/issues/{number:int}/comments")
async def list_comments(
    access: AccessOf, paging: PagingOf, number: int, since: str | None = None
) -> list[dict[str, Any]]:
    """List the comments of one conversation, oldest first."""
    hub, repository = access.hub, access.repository
    find_issue(repository, number)
    earliest = parse_since(since)
    rows = [
        it
        for it in hub.state.comments.values()
        if (it.repository_id, it.number) == (repository.id, number)
        and (earliest is None or it.updated_at >= earliest)
    ]
    return [comment_json(hub, repository, it) for it in paging.cut(rows)]


@router.post("/repos/{owner}/{repo}/issues/{number:int}/comments", status_code=201)
async def create_comment(access: AccessOf, number: int, wanted: CommentText) -> dict[str, Any]:
    """Add a comment to a conversation."""
    by = access.writer()
    hub, repository = access.hub, access.repository
    issue = find_issue(repository, number)
    body = check_required_body("IssueComment", wanted.body)
    now = hub.now()
    comment = IssueComment(
        id=hub.state.next_id("comment"),
        repository_id=repository.id,
        number=number,
        user_id=by.id,
        body=body,
        created_at=now,
        updated_at=now,
    )
    hub.state.comments[comment.id] = comment
    issue.updated_at = now
    _tell(hub, repository, by, "created", comment)
    return comment_json(hub, repository, comment)


@router.get("/repos/{owner}/{repo}/issues/comments/{comment_id:int}")
async def get_comment(access: AccessOf, comment_id: int) -> dict[str, Any]:
    """Show a comment."""
    comment = find_comment(access.hub, access.repository, comment_id)
    return comment_json(access.hub, access.repository, comment)


@router.patch("/repos/{owner}/{repo}/issues/comments/{comment_id:int}")
async def change_comment(access: AccessOf, comment_id: int, wanted: CommentText) -> dict[str, Any]:
    """Change what a comment says."""
    hub, repository = access.hub, access.repository
    comment = find_comment(hub, repository, comment_id)
    by = may_change(access, comment.user_id, "write")
    before, comment.body = comment.body, check_required_body("IssueComment", wanted.body)
    if comment.body != before:
        comment.updated_at = repository.issues[comment.number].updated_at = hub.now()
        _tell(hub, repository, by, "edited", comment, changes={"body": {"from": before}})
    return comment_json(hub, repository, comment)


@router.delete("/repos/{owner}/{repo}/issues/comments/{comment_id:int}", status_code=204)
async def delete_comment(access: AccessOf, comment_id: int) -> None:
    """Remove a comment."""
    hub, repository = access.hub, access.repository
    comment = find_comment(hub, repository, comment_id)
    by = may_change(access, comment.user_id, "write")
    del hub.state.comments[comment_id]
    repository.issues[comment.number].updated_at = hub.now()
    _tell(hub, repository, by, "deleted", comment)
