"""Reviews of pull requests and the comments on their lines.

A comment that is made alone, or as a reply, makes a review with an empty body around itself, as
on GitHub; so the hooks hear of a review and of a comment. Comments stay at the lines they were
made on: that they become outdated by later pushes is not emulated.
"""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, StrictStr

from . import webhooks
from .accounts import Access, AccessOf
from .diff import Place, find_line, find_position
from .errors import (
    InvalidError,
    NotEmulatedError,
    NotFoundError,
    SimpleInvalidError,
    custom,
    invalid,
    missing,
)
from .hub import Hub
from .issues import may_change
from .listing import Direction, PagingOf, parse_since
from .pulls import find_pull
from .pushes import notice_pushes
from .shapes.pulls import pull_json
from .shapes.reviews import review_comment_json, review_event_json, review_json
from .state import Account, Pull, Repository, Review, ReviewComment, ReviewState, Side
from .text import check_body, check_required_body

router = APIRouter()

ReviewEvent = Literal["APPROVE", "REQUEST_CHANGES", "COMMENT"]
_STATES: dict[ReviewEvent, ReviewState] = {
    "APPROVE": "APPROVED",
    "REQUEST_CHANGES": "CHANGES_REQUESTED",
    "COMMENT": "COMMENTED",
}


class LineComment(BaseModel):
    """A comment on a line, by `line` and `side` or by `position` in the patch."""

    path: StrictStr | None = None
    body: StrictStr | None = None
    line: int | None = None
    side: Side = "RIGHT"
    position: int | None = None
    start_line: int | None = None
    start_side: Side | None = None


class NewReview(BaseModel):
    """A review with its comments; without an `event` it stays pending."""

    body: StrictStr | None = None
    event: ReviewEvent | None = None
    commit_id: StrictStr | None = None
    comments: list[LineComment] = []


class ReviewVerdict(BaseModel):
    """What a pending review is submitted as."""

    event: ReviewEvent
    body: StrictStr | None = None


class Dismissal(BaseModel):
    """Why a review no longer counts."""

    message: StrictStr


class NewReviewComment(LineComment):
    """A comment on a line, or a reply to one."""

    commit_id: StrictStr | None = None
    in_reply_to: int | None = None
    subject_type: Literal["line", "file"] = "line"


class ReviewCommentText(BaseModel):
    """What a review comment says."""

    body: StrictStr | None = None


def find_review(hub: Hub, repository: Repository, number: int, review_id: int) -> Review:
    """Return a review of a pull request.

    Raises:
        NotFoundError: The pull request has none of this id.
    """
    found = hub.state.reviews.get(review_id)
    if found is None or (found.repository_id, found.number) != (repository.id, number):
        raise NotFoundError
    return found


def find_review_comment(hub: Hub, repository: Repository, comment_id: int) -> ReviewComment:
    """Return a review comment of a repository; a pending review's are not there yet.

    Raises:
        NotFoundError: The repository has none of this id.
    """
    found = hub.state.review_comments.get(comment_id)
    if found is None or found.repository_id != repository.id or _is_pending(hub, found):
        raise NotFoundError
    return found


def _is_pending(hub: Hub, comment: ReviewComment) -> bool:
    return hub.state.reviews[comment.review_id].state == "PENDING"


async def _place(access: Access, pull: Pull, wanted: LineComment) -> Place:
    """Return where in the difference a comment goes."""
    resource = "PullRequestReviewComment"
    if not wanted.path:
        raise InvalidError(missing(resource, "path"))
    hub = access.hub
    path = hub.git_path(access.repository)
    changes = await hub.git.changes(path, pull.base_sha, pull.head_sha)
    change = next((it for it in changes if it.path == wanted.path), None)
    if change is None:
        raise InvalidError(invalid(resource, "path"))
    if wanted.line is not None:
        field, place = "line", find_line(change.patch, wanted.line, wanted.side)
    elif wanted.position is not None:
        field, place = "position", find_position(change.patch, wanted.position)
    else:
        raise InvalidError(missing(resource, "line"))
    if place is None:
        raise InvalidError(
            custom(resource, f"pull_request_review_thread.{field} must be part of the diff", field)
        )
    return place


def _keep_comment(
    hub: Hub, review: Review, wanted: LineComment, body: str, place: Place
) -> ReviewComment:
    now = hub.now()
    comment = ReviewComment(
        id=hub.state.next_id("review_comment"),
        repository_id=review.repository_id,
        number=review.number,
        review_id=review.id,
        user_id=review.user_id,
        body=body,
        path=wanted.path or "",
        line=place.line,
        side=place.side,
        start_line=wanted.start_line,
        start_side=(wanted.start_side or place.side) if wanted.start_line else None,
        position=place.position,
        diff_hunk=place.hunk,
        commit_id=review.commit_id,
        created_at=now,
        updated_at=now,
    )
    hub.state.review_comments[comment.id] = comment
    return comment


def _keep_review(
    hub: Hub, repository: Repository, pull: Pull, by: Account, *, body: str, state: ReviewState
) -> Review:
    now = hub.now()
    review = Review(
        id=hub.state.next_id("review"),
        repository_id=repository.id,
        number=pull.number,
        user_id=by.id,
        body=body,
        state=state,
        commit_id=pull.head_sha,
        submitted_at=None if state == "PENDING" else now,
        updated_at=now,
    )
    hub.state.reviews[review.id] = review
    return review


def _tell_review(
    hub: Hub, repository: Repository, by: Account, action: str, review: Review
) -> None:
    shown = review_event_json(hub, repository, review)
    hub.record(
        by,
        repository,
        kind="review",
        action=action,
        number=review.number,
        id=review.id,
        title=review.state,
        body=review.body,
        html_url=shown["html_url"],
    )
    pull = pull_json(hub, repository, repository.pulls[review.number])
    payload = {"review": shown, "pull_request": pull}
    webhooks.emit(hub, repository, by, "pull_request_review", action, payload)


def _tell_comment(
    hub: Hub,
    repository: Repository,
    by: Account,
    action: str,
    comment: ReviewComment,
    **extra: Any,
) -> None:
    shown = review_comment_json(hub, repository, comment)
    hub.record(
        by,
        repository,
        kind="review_comment",
        action=action,
        number=comment.number,
        id=comment.id,
        title=f"{comment.path}:{comment.line}",
        body=comment.body,
        html_url=shown["html_url"],
    )
    pull = pull_json(hub, repository, repository.pulls[comment.number])
    payload = {"comment": shown, "pull_request": pull, **extra}
    webhooks.emit(hub, repository, by, "pull_request_review_comment", action, payload)


def _submit(hub: Hub, repository: Repository, by: Account, review: Review) -> None:
    repository.issues[review.number].updated_at = hub.now()
    _tell_review(hub, repository, by, "submitted", review)
    for comment in list(hub.state.review_comments.values()):
        if comment.review_id == review.id:
            _tell_comment(hub, repository, by, "created", comment)


def _check_verdict(
    access: Access, by: Account, number: int, event: ReviewEvent, body: str, *, comments: bool
) -> None:
    author = access.repository.issues[number].user_id
    if event != "COMMENT" and by.id == author:
        verb = "approve" if event == "APPROVE" else "request changes on"
        raise SimpleInvalidError(f"Can not {verb} your own pull request")
    if not body.strip() and (event == "REQUEST_CHANGES" or (event == "COMMENT" and not comments)):
        raise SimpleInvalidError(
            "Body can not be blank" if event == "COMMENT" else "You need to leave a body"
        )


@router.post("/repos/{owner}/{repo}/pulls/{number:int}/reviews")
async def create_review(access: AccessOf, number: int, wanted: NewReview) -> dict[str, Any]:
    """Review a pull request, with any number of comments on its lines."""
    by = access.writer()
    hub, repository = access.hub, access.repository
    await notice_pushes(hub, repository)
    pull = find_pull(repository, number)
    if wanted.commit_id not in {None, pull.head_sha}:
        raise NotEmulatedError("review an older commit of a pull request")
    body = wanted.body or ""
    if wanted.event is not None:
        _check_verdict(access, by, number, wanted.event, body, comments=bool(wanted.comments))
    try:
        check_body("PullRequestReview", body)
        placed = [
            (line, check_required_body("PullRequestReviewComment", line.body), place)
            for line, place in [(it, await _place(access, pull, it)) for it in wanted.comments]
        ]
    except InvalidError as error:
        raise SimpleInvalidError.of(error) from error
    state: ReviewState = "PENDING" if wanted.event is None else _STATES[wanted.event]
    review = _keep_review(hub, repository, pull, by, body=body, state=state)
    for line, text, place in placed:
        _keep_comment(hub, review, line, text, place)
    if state != "PENDING":
        _submit(hub, repository, by, review)
    return review_json(hub, repository, review)


@router.get("/repos/{owner}/{repo}/pulls/{number:int}/reviews")
async def list_reviews(access: AccessOf, paging: PagingOf, number: int) -> list[dict[str, Any]]:
    """List reviews, oldest first; a pending one is shown to its author alone."""
    hub, repository = access.hub, access.repository
    find_pull(repository, number)
    own = None if access.caller is None else access.caller.id
    rows = [
        it
        for it in hub.state.reviews.values()
        if (it.repository_id, it.number) == (repository.id, number)
        and (it.state != "PENDING" or it.user_id == own)
    ]
    return [review_json(hub, repository, it) for it in paging.cut(rows)]


@router.get("/repos/{owner}/{repo}/pulls/{number:int}/reviews/{review_id:int}")
async def get_review(access: AccessOf, number: int, review_id: int) -> dict[str, Any]:
    """Show a review."""
    review = find_review(access.hub, access.repository, number, review_id)
    if review.state == "PENDING" and (access.caller is None or access.caller.id != review.user_id):
        raise NotFoundError
    return review_json(access.hub, access.repository, review)


@router.post("/repos/{owner}/{repo}/pulls/{number:int}/reviews/{review_id:int}/events")
async def submit_review(
    access: AccessOf, number: int, review_id: int, wanted: ReviewVerdict
) -> dict[str, Any]:
    """Submit a pending review of one's own."""
    by = access.writer()
    hub, repository = access.hub, access.repository
    review = find_review(hub, repository, number, review_id)
    if review.user_id != by.id or review.state != "PENDING":
        raise SimpleInvalidError("Can not submit a review that is not yours and pending")
    body = review.body if wanted.body is None else wanted.body
    try:
        check_body("PullRequestReview", body)
    except InvalidError as error:
        raise SimpleInvalidError.of(error) from error
    comments = any(it.review_id == review.id for it in hub.state.review_comments.values())
    _check_verdict(access, by, number, wanted.event, body, comments=comments)
    review.body, review.state = body, _STATES[wanted.event]
    review.submitted_at = review.updated_at = hub.now()
    _submit(hub, repository, by, review)
    return review_json(hub, repository, review)


@router.put("/repos/{owner}/{repo}/pulls/{number:int}/reviews/{review_id:int}/dismissals")
async def dismiss_review(
    access: AccessOf, number: int, review_id: int, wanted: Dismissal
) -> dict[str, Any]:
    """Take a verdict out of force; needs write access."""
    by = access.require("write")
    hub, repository = access.hub, access.repository
    review = find_review(hub, repository, number, review_id)
    if review.state not in {"APPROVED", "CHANGES_REQUESTED"} or not wanted.message.strip():
        raise SimpleInvalidError("Can not dismiss this review")
    review.state = "DISMISSED"
    review.updated_at = hub.now()
    _tell_review(hub, repository, by, "dismissed", review)
    return review_json(hub, repository, review)


@router.get("/repos/{owner}/{repo}/pulls/{number:int}/comments")
async def list_review_comments(
    access: AccessOf,
    paging: PagingOf,
    number: int,
    sort: Literal["created", "updated"] = "created",
    direction: Direction = "asc",
    since: str | None = None,
) -> list[dict[str, Any]]:
    """List the comments on a pull request's lines."""
    find_pull(access.repository, number)
    return _list_comments(access, paging, number, sort=sort, direction=direction, since=since)


@router.get("/repos/{owner}/{repo}/pulls/comments")
async def list_repository_review_comments(
    access: AccessOf,
    paging: PagingOf,
    sort: Literal["created", "updated", "created_at"] = "created",
    direction: Direction = "asc",
    since: str | None = None,
) -> list[dict[str, Any]]:
    """List the comments on the lines of every pull request."""
    return _list_comments(access, paging, None, sort=sort, direction=direction, since=since)


def _list_comments(
    access: Access,
    paging: PagingOf,
    number: int | None,
    *,
    sort: str,
    direction: Direction,
    since: str | None,
) -> list[dict[str, Any]]:
    hub, repository = access.hub, access.repository
    earliest = parse_since(since)
    rows = [
        it
        for it in hub.state.review_comments.values()
        if it.repository_id == repository.id
        and number in {None, it.number}
        and not _is_pending(hub, it)
        and (earliest is None or it.updated_at >= earliest)
    ]
    rows.sort(
        key=lambda it: (it.updated_at if sort == "updated" else it.created_at, it.id),
        reverse=direction == "desc",
    )
    return [review_comment_json(hub, repository, it) for it in paging.cut(rows)]


@router.post("/repos/{owner}/{repo}/pulls/{number:int}/comments", status_code=201)
async def create_review_comment(
    access: AccessOf, number: int, wanted: NewReviewComment
) -> dict[str, Any]:
    """Comment on a line, or with ``in_reply_to`` answer in a thread."""
    by = access.writer()
    hub, repository = access.hub, access.repository
    await notice_pushes(hub, repository)
    pull = find_pull(repository, number)
    body = check_required_body("PullRequestReviewComment", wanted.body)
    if wanted.in_reply_to is not None:
        target = hub.state.review_comments.get(wanted.in_reply_to)
        if target is None or (target.repository_id, target.number) != (repository.id, number):
            raise InvalidError(invalid("PullRequestReviewComment", "in_reply_to"))
        root = hub.state.review_comments.get(target.in_reply_to_id or target.id, target)
        return _reply(hub, repository, by, pull, root, body)
    if wanted.subject_type == "file":
        raise NotEmulatedError("comment on a whole file")
    if wanted.commit_id is None:
        raise InvalidError(missing("PullRequestReviewComment", "commit_id"))
    if wanted.commit_id != pull.head_sha:
        raise NotEmulatedError("comment on an older commit of a pull request")
    place = await _place(access, pull, wanted)
    review = _keep_review(hub, repository, pull, by, body="", state="COMMENTED")
    comment = _keep_comment(hub, review, wanted, body, place)
    _submit(hub, repository, by, review)
    return review_comment_json(hub, repository, comment)


@router.post(
    "/repos/{owner}/{repo}/pulls/{number:int}/comments/{comment_id:int}/replies", status_code=201
)
async def reply_to_review_comment(
    access: AccessOf, number: int, comment_id: int, wanted: ReviewCommentText
) -> dict[str, Any]:
    """Answer in a thread; `comment_id` is the thread's first comment, never a reply."""
    by = access.writer()
    hub, repository = access.hub, access.repository
    pull = find_pull(repository, number)
    root = find_review_comment(hub, repository, comment_id)
    if root.number != number:
        raise NotFoundError
    body = check_required_body("PullRequestReviewComment", wanted.body)
    if root.in_reply_to_id is not None:
        raise InvalidError(invalid("PullRequestReviewComment", "in_reply_to"))
    return _reply(hub, repository, by, pull, root, body)


def _reply(
    hub: Hub, repository: Repository, by: Account, pull: Pull, root: ReviewComment, body: str
) -> dict[str, Any]:
    now = hub.now()
    review = _keep_review(hub, repository, pull, by, body="", state="COMMENTED")
    reply = root.model_copy(
        update={
            "id": hub.state.next_id("review_comment"),
            "review_id": review.id,
            "user_id": by.id,
            "body": body,
            "in_reply_to_id": root.id,
            "created_at": now,
            "updated_at": now,
        }
    )
    hub.state.review_comments[reply.id] = reply
    _submit(hub, repository, by, review)
    return review_comment_json(hub, repository, reply)


@router.get("/repos/{owner}/{repo}/pulls/comments/{comment_id:int}")
async def get_review_comment(access: AccessOf, comment_id: int) -> dict[str, Any]:
    """Show a comment on a line."""
    comment = find_review_comment(access.hub, access.repository, comment_id)
    return review_comment_json(access.hub, access.repository, comment)


@router.patch("/repos/{owner}/{repo}/pulls/comments/{comment_id:int}")
async def change_review_comment(
    access: AccessOf, comment_id: int, wanted: ReviewCommentText
) -> dict[str, Any]:
    """Change what a comment on a line says."""
    hub, repository = access.hub, access.repository
    comment = find_review_comment(hub, repository, comment_id)
    by = may_change(access, comment.user_id, "write")
    before = comment.body
    comment.body = check_required_body("PullRequestReviewComment", wanted.body)
    if comment.body != before:
        comment.updated_at = hub.now()
        _tell_comment(hub, repository, by, "edited", comment, changes={"body": {"from": before}})
    return review_comment_json(hub, repository, comment)


@router.delete("/repos/{owner}/{repo}/pulls/comments/{comment_id:int}", status_code=204)
async def delete_review_comment(access: AccessOf, comment_id: int) -> None:
    """Remove a comment on a line."""
    hub, repository = access.hub, access.repository
    comment = find_review_comment(hub, repository, comment_id)
    by = may_change(access, comment.user_id, "write")
    del hub.state.review_comments[comment_id]
    _tell_comment(hub, repository, by, "deleted", comment)
