"""Issues, their comments, and reactions as answers and payloads show them."""

from typing import Any, get_args
from urllib.parse import quote

from remit.emulators.github.hub import Hub, node_id, timestamp
from remit.emulators.github.shapes.accounts import association, known_user_json, user_json
from remit.emulators.github.state import (
    Issue,
    IssueComment,
    Label,
    Reaction,
    ReactionContent,
    ReactionSubject,
    Repository,
)


def label_json(hub: Hub, repository: Repository, label: Label) -> dict[str, Any]:
    """Return a label."""
    return {
        "id": label.id,
        "node_id": node_id("LA", label.id),
        "url": hub.api_of(repository, f"/labels/{quote(label.name)}"),
        "name": label.name,
        "color": label.color,
        "default": False,
        "description": label.description,
    }


def reactions_json(
    hub: Hub, url: str, repository: Repository, subject: ReactionSubject, subject_id: int
) -> dict[str, Any]:
    """Return how many reactions of each kind something has."""
    given = [
        it.content
        for it in hub.state.reactions.values()
        if (it.repository_id, it.subject, it.subject_id) == (repository.id, subject, subject_id)
    ]
    return {
        "url": f"{url}/reactions",
        "total_count": len(given),
        **{content: given.count(content) for content in get_args(ReactionContent)},
    }


def reaction_json(hub: Hub, reaction: Reaction) -> dict[str, Any]:
    """Return one person's reaction."""
    return {
        "id": reaction.id,
        "node_id": node_id("REA", reaction.id),
        "user": known_user_json(hub, reaction.user_id),
        "content": reaction.content,
        "created_at": timestamp(reaction.created_at),
    }


def issue_page(hub: Hub, repository: Repository, issue: Issue) -> str:
    """Return the address of an issue's or pull request's page."""
    kind = "pull" if issue.is_pull else "issues"
    return hub.web_of(repository, f"/{kind}/{issue.number}")


def issue_json(hub: Hub, repository: Repository, issue: Issue) -> dict[str, Any]:
    """Return an issue, or a pull request as the issues API shows it."""
    api = hub.api_of(repository, f"/issues/{issue.number}")
    page = issue_page(hub, repository, issue)
    assignees = [user_json(hub, hub.state.accounts[it]) for it in issue.assignee_ids]
    comments = [
        it
        for it in hub.state.comments.values()
        if (it.repository_id, it.number) == (repository.id, issue.number)
    ]
    shown: dict[str, Any] = {
        "url": api,
        "repository_url": hub.api_of(repository),
        "labels_url": f"{api}/labels{{/name}}",
        "comments_url": f"{api}/comments",
        "events_url": f"{api}/events",
        "html_url": page,
        "id": issue.id,
        "node_id": node_id("I", issue.id),
        "number": issue.number,
        "title": issue.title,
        "user": known_user_json(hub, issue.user_id),
        "labels": [label_json(hub, repository, repository.labels[it]) for it in issue.labels],
        "state": issue.state,
        "state_reason": issue.state_reason,
        "locked": False,
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "milestone": None,
        "comments": len(comments),
        "created_at": timestamp(issue.created_at),
        "updated_at": timestamp(issue.updated_at),
        "closed_at": None if issue.closed_at is None else timestamp(issue.closed_at),
        "author_association": association(repository, issue.user_id),
        "active_lock_reason": None,
        "body": issue.body,
        "reactions": reactions_json(hub, api, repository, "issue", issue.id),
        "timeline_url": f"{api}/timeline",
        "performed_via_github_app": None,
    }
    if issue.is_pull:
        pull = repository.pulls[issue.number]
        shown["draft"] = pull.draft
        shown["pull_request"] = {
            "url": hub.api_of(repository, f"/pulls/{issue.number}"),
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": None if pull.merged_at is None else timestamp(pull.merged_at),
        }
    return shown


def issue_with_closer_json(hub: Hub, repository: Repository, issue: Issue) -> dict[str, Any]:
    """Return an issue as its own address shows it: with who closed it."""
    return issue_json(hub, repository, issue) | {
        "closed_by": known_user_json(hub, issue.closed_by_id)
    }


def comment_json(hub: Hub, repository: Repository, comment: IssueComment) -> dict[str, Any]:
    """Return a comment of a conversation."""
    api = hub.api_of(repository, f"/issues/comments/{comment.id}")
    issue = repository.issues[comment.number]
    return {
        "url": api,
        "html_url": f"{issue_page(hub, repository, issue)}#issuecomment-{comment.id}",
        "issue_url": hub.api_of(repository, f"/issues/{comment.number}"),
        "id": comment.id,
        "node_id": node_id("IC", comment.id),
        "user": known_user_json(hub, comment.user_id),
        "created_at": timestamp(comment.created_at),
        "updated_at": timestamp(comment.updated_at),
        "author_association": association(repository, comment.user_id),
        "body": comment.body,
        "reactions": reactions_json(hub, api, repository, "issue_comment", comment.id),
        "performed_via_github_app": None,
    }
