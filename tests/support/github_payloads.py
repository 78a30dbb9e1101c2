"""Webhook payloads in GitHub's form, with no more in them than a test is about."""

from __future__ import annotations

import json
from typing import Any

from remit.connectors.github.signature import sign
from support.contracts.connector import Sent

SECRET = "the hook's secret"

ANN = {"id": 501, "login": "ann", "type": "User"}
EVE = {"id": 666, "login": "eve", "type": "User"}
BOT = {"id": 900, "login": "remit", "type": "User"}
"""The agent's own account, a machine user."""

EARLY = "2026-11-30T10:00:00Z"
LATER = "2026-11-30T11:00:00Z"

Json = dict[str, Any]


def repository(**changes: Any) -> Json:
    return {
        "id": 77,
        "full_name": "acme/website",
        "private": False,
        "default_branch": "main",
    } | changes


def _written(user: Json | None, body: str, kind: str) -> Json:
    return {
        "user": user,
        "body": body,
        "html_url": f"https://github.com/acme/website/{kind}",
        "author_association": "MEMBER",
    }


def issue(*, pull: bool = False, user: Json | None = ANN, body: str = "", **changes: Any) -> Json:
    document = _written(user, body, "issues/12") | {
        "number": 12,
        "title": "The header is broken",
        "created_at": EARLY,
        "updated_at": LATER,
        "closed_at": None,
    }
    if pull:
        document["pull_request"] = {"url": "https://api.github.com/repos/acme/website/pulls/12"}
    return document | changes


def pull_request(*, user: Json | None = ANN, body: str = "", **changes: Any) -> Json:
    return (
        _written(user, body, "pull/12")
        | {
            "number": 12,
            "title": "Mend the header",
            "created_at": EARLY,
            "updated_at": LATER,
            "closed_at": None,
            "merged_at": None,
            "draft": False,
            "head": {"ref": "mend", "sha": "a" * 40},
            "base": {"ref": "main", "sha": "b" * 40},
        }
        | changes
    )


def comment(*, user: Json | None = ANN, body: str = "@remit please help", **changes: Any) -> Json:
    return (
        _written(user, body, "issues/12#issuecomment-3001")
        | {"id": 3001, "created_at": EARLY, "updated_at": EARLY}
        | changes
    )


def review_comment(**changes: Any) -> Json:
    return (
        comment()
        | {
            "id": 4001,
            "path": "header.html",
            "line": 7,
            "commit_id": "a" * 40,
            "html_url": "https://github.com/acme/website/pull/12#discussion_r4001",
        }
        | changes
    )


def review(*, user: Json | None = ANN, body: str = "", **changes: Any) -> Json:
    return (
        _written(user, body, "pull/12#pullrequestreview-5001")
        | {"id": 5001, "state": "commented", "commit_id": "a" * 40, "submitted_at": EARLY}
        | changes
    )


def event(name: str, action: str | None, *, sender: Any = ANN, **parts: Any) -> Sent:
    """Return a signed delivery of an event."""
    document = {"repository": repository(), "sender": sender} | parts
    if action is not None:
        document["action"] = action
    return signed(name, json.dumps(document).encode())


def signed(
    name: str, body: bytes, *, delivery: str = "1", content_type: str = "application/json"
) -> Sent:
    return Sent(
        headers={
            "content-type": content_type,
            "x-github-event": name,
            "x-github-delivery": delivery,
            "x-hub-signature-256": sign(SECRET, body),
        },
        body=body,
    )
