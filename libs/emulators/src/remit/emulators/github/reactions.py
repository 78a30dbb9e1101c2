"""Reactions: one of each kind per person; asking again answers 200 with the one that is there."""

from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel

from .accounts import Access, AccessOf
from .comments import find_comment
from .errors import ForbiddenError, NotFoundError
from .issues import find_issue
from .listing import PagingOf
from .reviews import find_review_comment
from .shapes.issues import issue_page, reaction_json
from .state import Reaction, ReactionContent, ReactionSubject

router = APIRouter()


class NewReaction(BaseModel):
    """A reaction to give."""

    content: ReactionContent


def _given(access: Access, subject: ReactionSubject, subject_id: int) -> list[Reaction]:
    return [
        it
        for it in access.hub.state.reactions.values()
        if (it.repository_id, it.subject, it.subject_id)
        == (access.repository.id, subject, subject_id)
    ]


def _give(
    access: Access,
    response: Response,
    wanted: NewReaction,
    subject: ReactionSubject,
    subject_id: int,
    number: int,
) -> dict[str, Any]:
    by = access.writer()
    hub = access.hub
    for reaction in _given(access, subject, subject_id):
        if (reaction.user_id, reaction.content) == (by.id, wanted.content):
            response.status_code = 200
            return reaction_json(hub, reaction)
    reaction = Reaction(
        id=hub.state.next_id("reaction"),
        subject=subject,
        subject_id=subject_id,
        repository_id=access.repository.id,
        user_id=by.id,
        content=wanted.content,
        created_at=hub.now(),
    )
    hub.state.reactions[reaction.id] = reaction
    hub.record(
        by,
        access.repository,
        kind="reaction",
        action="created",
        number=number,
        id=reaction.id,
        title=f"{wanted.content} on {subject} {subject_id}",
        html_url=issue_page(hub, access.repository, access.repository.issues[number]),
    )
    response.status_code = 201
    return reaction_json(hub, reaction)


def _take_back(access: Access, subject: ReactionSubject, subject_id: int, reaction_id: int) -> None:
    by = access.writer()
    for reaction in _given(access, subject, subject_id):
        if reaction.id == reaction_id:
            if reaction.user_id != by.id:
                raise ForbiddenError("Must have admin rights to Repository.")
            del access.hub.state.reactions[reaction_id]
            return
    raise NotFoundError


def _list(
    access: Access,
    paging: PagingOf,
    content: ReactionContent | None,
    subject: ReactionSubject,
    subject_id: int,
) -> list[dict[str, Any]]:
    rows = [it for it in _given(access, subject, subject_id) if content in {None, it.content}]
    return [reaction_json(access.hub, it) for it in paging.cut(rows)]


@router.get("/repos/{owner}/{repo}/issues/{number:int}/reactions")
async def list_issue_reactions(
    access: AccessOf, paging: PagingOf, number: int, content: ReactionContent | None = None
) -> list[dict[str, Any]]:
    """List the reactions to an issue or pull request."""
    issue = find_issue(access.repository, number)
    return _list(access, paging, content, "issue", issue.id)


@router.post("/repos/{owner}/{repo}/issues/{number:int}/reactions")
async def react_to_issue(
    access: AccessOf, response: Response, number: int, wanted: NewReaction
) -> dict[str, Any]:
    """React to an issue or pull request."""
    issue = find_issue(access.repository, number)
    return _give(access, response, wanted, "issue", issue.id, number)


@router.delete(
    "/repos/{owner}/{repo}/issues/{number:int}/reactions/{reaction_id:int}", status_code=204
)
async def remove_issue_reaction(access: AccessOf, number: int, reaction_id: int) -> None:
    """Take back a reaction to an issue or pull request."""
    issue = find_issue(access.repository, number)
    _take_back(access, "issue", issue.id, reaction_id)


@router.get("/repos/{owner}/{repo}/issues/comments/{comment_id:int}/reactions")
async def list_comment_reactions(
    access: AccessOf, paging: PagingOf, comment_id: int, content: ReactionContent | None = None
) -> list[dict[str, Any]]:
    """List the reactions to a comment."""
    find_comment(access.hub, access.repository, comment_id)
    return _list(access, paging, content, "issue_comment", comment_id)


@router.post("/repos/{owner}/{repo}/issues/comments/{comment_id:int}/reactions")
async def react_to_comment(
    access: AccessOf, response: Response, comment_id: int, wanted: NewReaction
) -> dict[str, Any]:
    """React to a comment."""
    comment = find_comment(access.hub, access.repository, comment_id)
    return _give(access, response, wanted, "issue_comment", comment_id, comment.number)


@router.delete(
    "/repos/{owner}/{repo}/issues/comments/{comment_id:int}/reactions/{reaction_id:int}",
    status_code=204,
)
async def remove_comment_reaction(access: AccessOf, comment_id: int, reaction_id: int) -> None:
    """Take back a reaction to a comment."""
    find_comment(access.hub, access.repository, comment_id)
    _take_back(access, "issue_comment", comment_id, reaction_id)


@router.get("/repos/{owner}/{repo}/pulls/comments/{comment_id:int}/reactions")
async def list_review_comment_reactions(
    access: AccessOf, paging: PagingOf, comment_id: int, content: ReactionContent | None = None
) -> list[dict[str, Any]]:
    """List the reactions to a review comment."""
    find_review_comment(access.hub, access.repository, comment_id)
    return _list(access, paging, content, "review_comment", comment_id)


@router.post("/repos/{owner}/{repo}/pulls/comments/{comment_id:int}/reactions")
async def react_to_review_comment(
    access: AccessOf, response: Response, comment_id: int, wanted: NewReaction
) -> dict[str, Any]:
    """React to a review comment."""
    comment = find_review_comment(access.hub, access.repository, comment_id)
    return _give(access, response, wanted, "review_comment", comment_id, comment.number)


@router.delete(
    "/repos/{owner}/{repo}/pulls/comments/{comment_id:int}/reactions/{reaction_id:int}",
    status_code=204,
)
async def remove_review_comment_reaction(
    access: AccessOf, comment_id: int, reaction_id: int
) -> None:
    """Take back a reaction to a review comment."""
    find_review_comment(access.hub, access.repository, comment_id)
    _take_back(access, "review_comment", comment_id, reaction_id)
