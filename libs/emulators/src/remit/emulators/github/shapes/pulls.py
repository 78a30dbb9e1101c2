"""Pull requests as answers and payloads show them."""

from typing import Any
from urllib.parse import quote

from remit.emulators.github.git import Comparison, FileChange
from remit.emulators.github.hub import Hub, node_id, timestamp
from remit.emulators.github.shapes.accounts import association, known_user_json, user_json
from remit.emulators.github.shapes.issues import issue_page, label_json
from remit.emulators.github.shapes.repositories import repository_json
from remit.emulators.github.state import Pull, Repository


def pull_json(hub: Hub, repository: Repository, pull: Pull) -> dict[str, Any]:
    """Return a pull request as lists and review events show it."""
    issue = repository.issues[pull.number]
    api = hub.api_of(repository, f"/pulls/{pull.number}")
    issue_api = hub.api_of(repository, f"/issues/{pull.number}")
    statuses = hub.api_of(repository, f"/statuses/{pull.head_sha}")
    page = issue_page(hub, repository, issue)
    assignees = [user_json(hub, hub.state.accounts[it]) for it in issue.assignee_ids]
    links = {
        "self": api,
        "html": page,
        "issue": issue_api,
        "comments": f"{issue_api}/comments",
        "review_comments": f"{api}/comments",
        "review_comment": hub.api_of(repository, "/pulls/comments{/number}"),
        "commits": f"{api}/commits",
        "statuses": statuses,
    }
    return {
        "url": api,
        "id": pull.id,
        "node_id": node_id("PR", pull.id),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue_api,
        "number": pull.number,
        "state": issue.state,
        "locked": False,
        "title": issue.title,
        "user": known_user_json(hub, issue.user_id),
        "body": issue.body,
        "created_at": timestamp(issue.created_at),
        "updated_at": timestamp(issue.updated_at),
        "closed_at": None if issue.closed_at is None else timestamp(issue.closed_at),
        "merged_at": None if pull.merged_at is None else timestamp(pull.merged_at),
        "merge_commit_sha": pull.merge_commit_sha,
        "assignee": assignees[0] if assignees else None,
        "assignees": assignees,
        "requested_reviewers": [],
        "requested_teams": [],
        "labels": [label_json(hub, repository, repository.labels[it]) for it in issue.labels],
        "milestone": None,
        "draft": pull.draft,
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "comments_url": links["comments"],
        "statuses_url": statuses,
        "head": _end_json(hub, repository, pull.head_ref, pull.head_sha),
        "base": _end_json(hub, repository, pull.base_ref, pull.base_sha),
        "_links": {name: {"href": link} for name, link in links.items()},
        "author_association": association(repository, issue.user_id),
        "auto_merge": None,
        "active_lock_reason": None,
    }


def whole_pull_json(
    hub: Hub, repository: Repository, pull: Pull, compared: Comparison
) -> dict[str, Any]:
    """Return a pull request as its own address and its own events show it."""
    here = (repository.id, pull.number)
    is_open = repository.issues[pull.number].state == "open"
    mergeable = compared.mergeable if is_open else None
    return pull_json(hub, repository, pull) | {
        "merged": pull.merged_at is not None,
        "mergeable": mergeable,
        "rebaseable": False if is_open else None,
        "mergeable_state": {True: "clean", False: "dirty", None: "unknown"}[mergeable],
        "merged_by": known_user_json(hub, pull.merged_by_id),
        "comments": sum(
            (it.repository_id, it.number) == here for it in hub.state.comments.values()
        ),
        "review_comments": sum(
            (it.repository_id, it.number) == here for it in hub.state.review_comments.values()
        ),
        "maintainer_can_modify": pull.maintainer_can_modify,
        "commits": compared.commits,
        "additions": compared.additions,
        "deletions": compared.deletions,
        "changed_files": compared.changed_files,
    }


def file_json(hub: Hub, repository: Repository, pull: Pull, change: FileChange) -> dict[str, Any]:
    """Return a file that a pull request changes."""
    at = f"{pull.head_sha}/{quote(change.path)}"
    shown: dict[str, Any] = {
        "sha": change.blob,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": hub.web_of(repository, f"/blob/{at}"),
        "raw_url": hub.web_of(repository, f"/raw/{at}"),
        "contents_url": hub.api_of(
            repository, f"/contents/{quote(change.path)}?ref={pull.head_sha}"
        ),
    }
    if change.patch:
        shown["patch"] = change.patch
    if change.previous_path is not None:
        shown["previous_filename"] = change.previous_path
    return shown


def _end_json(hub: Hub, repository: Repository, ref: str, sha: str) -> dict[str, Any]:
    owner = hub.owner(repository)
    return {
        "label": f"{owner.login}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user_json(hub, owner),
        "repo": repository_json(hub, repository),
    }
