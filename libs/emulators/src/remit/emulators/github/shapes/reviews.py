"""Reviews and their comments as answers and payloads show them."""

from typing import Any

from remit.emulators.github.hub import Hub, node_id, timestamp
from remit.emulators.github.shapes.accounts import association, known_user_json
from remit.emulators.github.shapes.issues import issue_page, reactions_json
from remit.emulators.github.state import Repository, Review, ReviewComment


def review_json(hub: Hub, repository: Repository, review: Review) -> dict[str, Any]:
    """Return a review; one that is pending has no ``submitted_at``."""
    page = issue_page(hub, repository, repository.issues[review.number])
    page += f"#pullrequestreview-{review.id}"
    pull = hub.api_of(repository, f"/pulls/{review.number}")
    shown: dict[str, Any] = {
        "id": review.id,
        "node_id": node_id("PRR", review.id),
        "user": known_user_json(hub, review.user_id),
        "body": review.body,
        "state": review.state,
        "html_url": page,
        "pull_request_url": pull,
        "author_association": association(repository, review.user_id),
        "_links": {"html": {"href": page}, "pull_request": {"href": pull}},
        "commit_id": review.commit_id,
    }
    if review.submitted_at is not None:
        shown["submitted_at"] = timestamp(review.submitted_at)
    return shown


def review_event_json(hub: Hub, repository: Repository, review: Review) -> dict[str, Any]:
    """Return a review as webhook payloads show it: state in lower case, empty body null."""
    return review_json(hub, repository, review) | {
        "state": review.state.lower(),
        "body": review.body or None,
        "updated_at": timestamp(review.updated_at),
    }


def review_comment_json(hub: Hub, repository: Repository, comment: ReviewComment) -> dict[str, Any]:
    """Return a comment on a line of a pull request."""
    api = hub.api_of(repository, f"/pulls/comments/{comment.id}")
    page = issue_page(hub, repository, repository.issues[comment.number])
    page += f"#discussion_r{comment.id}"
    pull = hub.api_of(repository, f"/pulls/{comment.number}")
    shown: dict[str, Any] = {
        "url": api,
        "pull_request_review_id": comment.review_id,
        "id": comment.id,
        "node_id": node_id("PRRC", comment.id),
        "diff_hunk": comment.diff_hunk,
        "path": comment.path,
        "commit_id": comment.commit_id,
        "original_commit_id": comment.commit_id,
        "user": known_user_json(hub, comment.user_id),
        "body": comment.body,
        "created_at": timestamp(comment.created_at),
        "updated_at": timestamp(comment.updated_at),
        "html_url": page,
        "pull_request_url": pull,
        "author_association": association(repository, comment.user_id),
        "_links": {
            "self": {"href": api},
            "html": {"href": page},
            "pull_request": {"href": pull},
        },
        "reactions": reactions_json(hub, api, repository, "review_comment", comment.id),
        "start_line": comment.start_line,
        "original_start_line": comment.start_line,
        "start_side": comment.start_side,
        "line": comment.line,
        "original_line": comment.line,
        "side": comment.side,
        "original_position": comment.position,
        "position": comment.position,
        "subject_type": "line",
    }
    if comment.in_reply_to_id is not None:
        shown["in_reply_to_id"] = comment.in_reply_to_id
    return shown
