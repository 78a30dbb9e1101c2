"""A repository and its commits as answers and payloads show them."""

from typing import Any
from urllib.parse import quote

from remit.emulators.github.git import Commit
from remit.emulators.github.hub import Hub, node_id, timestamp
from remit.emulators.github.shapes.accounts import user_json
from remit.emulators.github.state import Repository

# Each link of a repository, below its REST address.
_LINKS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}


def repository_json(hub: Hub, repository: Repository) -> dict[str, Any]:
    """Return a repository in the long form."""
    api = hub.api_of(repository)
    page = hub.web_of(repository)
    owner = hub.owner(repository)
    open_issues = sum(it.state == "open" for it in repository.issues.values())
    return {
        "id": repository.id,
        "node_id": node_id("R", repository.id),
        "name": repository.name,
        "full_name": hub.full_name(repository),
        "private": repository.private,
        "owner": user_json(hub, owner),
        "html_url": page,
        "description": repository.description,
        "fork": False,
        "url": api,
        **{name: api + link for name, link in _LINKS.items()},
        "created_at": timestamp(repository.created_at),
        "updated_at": timestamp(repository.updated_at),
        "pushed_at": timestamp(repository.pushed_at),
        "git_url": f"{page}.git",
        "ssh_url": f"{page}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "homepage": None,
        "size": 0,
        "stargazers_count": 0,
        "watchers_count": 0,
        "language": None,
        "has_issues": True,
        "has_projects": False,
        "has_downloads": False,
        "has_wiki": False,
        "has_pages": False,
        "has_discussions": False,
        "has_pull_requests": True,
        "forks_count": 0,
        "mirror_url": None,
        "archived": False,
        "disabled": False,
        "open_issues_count": open_issues,
        "license": None,
        "allow_forking": False,
        "is_template": False,
        "web_commit_signoff_required": False,
        "topics": [],
        "visibility": "private" if repository.private else "public",
        "forks": 0,
        "open_issues": open_issues,
        "watchers": 0,
        "default_branch": repository.default_branch,
        "allow_merge_commit": True,
        "allow_squash_merge": True,
        "allow_rebase_merge": False,
        "network_count": 0,
        "subscribers_count": 0,
    }


def commit_json(hub: Hub, repository: Repository, commit: Commit) -> dict[str, Any]:
    """Return a commit as the branch answers carry it."""
    api = hub.api_of(repository, f"/commits/{commit.sha}")
    git_api = hub.api_of(repository, "/git")
    return {
        "sha": commit.sha,
        "node_id": node_id("C", int(commit.sha[:12], 16)),
        "url": api,
        "html_url": hub.web_of(repository, f"/commit/{commit.sha}"),
        "comments_url": f"{api}/comments",
        "commit": {
            "author": {
                "name": commit.author.name,
                "email": commit.author.email,
                "date": timestamp(commit.author.at),
            },
            "committer": {
                "name": commit.committer.name,
                "email": commit.committer.email,
                "date": timestamp(commit.committer.at),
            },
            "message": commit.message,
            "tree": {"sha": commit.tree, "url": f"{git_api}/trees/{commit.tree}"},
            "url": f"{git_api}/commits/{commit.sha}",
            "comment_count": 0,
            "verification": {
                "verified": False,
                "reason": "unsigned",
                "signature": None,
                "payload": None,
                "verified_at": None,
            },
        },
        "author": _account_of_email(hub, commit.author.email),
        "committer": _account_of_email(hub, commit.committer.email),
        "parents": [
            {
                "sha": parent,
                "url": hub.api_of(repository, f"/commits/{parent}"),
                "html_url": hub.web_of(repository, f"/commit/{parent}"),
            }
            for parent in commit.parents
        ],
    }


def _account_of_email(hub: Hub, email: str) -> dict[str, Any] | None:
    for account in hub.state.accounts.values():
        if account.email == email:
            return user_json(hub, account)
    return None


def ref_json(hub: Hub, repository: Repository, ref: str, sha: str) -> dict[str, Any]:
    """Return a ref with the commit it points at."""
    return {
        "ref": ref,
        "node_id": node_id("REF", int(sha[:12], 16)),
        "url": hub.api_of(repository, f"/git/{quote(ref)}"),
        "object": {
            "sha": sha,
            "type": "commit",
            "url": hub.api_of(repository, f"/git/commits/{sha}"),
        },
    }
