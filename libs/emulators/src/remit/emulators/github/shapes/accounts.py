"""An account as answers and payloads show it."""

from typing import Any
from urllib.parse import quote

from remit.emulators.github.hub import Hub, node_id, timestamp
from remit.emulators.github.state import Account, Repository

_NODE_PREFIX = {"User": "U", "Bot": "BOT", "Organization": "O"}


def user_json(hub: Hub, account: Account) -> dict[str, Any]:
    """Return an account in the short form that other objects carry."""
    login = quote(account.login)
    api = hub.api(f"/users/{login}")
    page = f"/apps/{quote(account.login.removesuffix('[bot]'))}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id(_NODE_PREFIX[account.type], account.id),
        "avatar_url": hub.web(f"/avatars/u/{account.id}?v=4"),
        "gravatar_id": "",
        "url": api,
        "html_url": hub.web(page if account.type == "Bot" else f"/{login}"),
        "followers_url": f"{api}/followers",
        "following_url": f"{api}/following{{/other_user}}",
        "gists_url": f"{api}/gists{{/gist_id}}",
        "starred_url": f"{api}/starred{{/owner}}{{/repo}}",
        "subscriptions_url": f"{api}/subscriptions",
        "organizations_url": f"{api}/orgs",
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events{{/privacy}}",
        "received_events_url": f"{api}/received_events",
        "type": account.type,
        "user_view_type": "public",
        "site_admin": False,
    }


def known_user_json(hub: Hub, account_id: int | None) -> dict[str, Any] | None:
    """Return the short form of an account by id, or nothing for nobody."""
    return None if account_id is None else user_json(hub, hub.state.accounts[account_id])


def organization_json(hub: Hub, account: Account) -> dict[str, Any]:
    """Return an organisation in the short form that webhook payloads carry."""
    api = hub.api(f"/orgs/{quote(account.login)}")
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("O", account.id),
        "url": api,
        "repos_url": f"{api}/repos",
        "events_url": f"{api}/events",
        "hooks_url": f"{api}/hooks",
        "issues_url": f"{api}/issues",
        "members_url": f"{api}/members{{/member}}",
        "public_members_url": f"{api}/public_members{{/member}}",
        "avatar_url": hub.web(f"/avatars/u/{account.id}?v=4"),
        "description": account.name,
    }


def public_user_json(hub: Hub, account: Account) -> dict[str, Any]:
    """Return an account in the long form of its own page."""
    owned = [it for it in hub.state.repositories.values() if it.owner_id == account.id]
    return user_json(hub, account) | {
        "name": account.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": account.email,
        "hireable": None,
        "bio": None,
        "twitter_username": None,
        "public_repos": sum(not it.private for it in owned),
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": timestamp(account.created_at),
        "updated_at": timestamp(account.created_at),
    }


def association(repository: Repository, account_id: int) -> str:
    """Return ``author_association``: a hint about an author, never an authority."""
    if account_id == repository.owner_id:
        return "OWNER"
    return "COLLABORATOR" if account_id in repository.collaborators else "NONE"
