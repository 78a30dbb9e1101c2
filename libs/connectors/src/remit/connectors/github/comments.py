"""The agent's own comments: looked for by their marker, and posted where they are not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from remit.connectors import markers
from remit.connectors.contract import Identity
from remit.connectors.github.client import GitHubClient
from remit.connectors.github.events.payloads import Account, Payload, Text
from remit.connectors.github.place import Target


class PostedComment(Payload):
    """A comment as GitHub answers with it."""

    id: int
    html_url: Text = ""
    body: Text = ""
    user: Account | None = None


@dataclass(frozen=True, slots=True)
class MarkedText:
    """One comment's worth of a text.

    Attributes:
        key: Marks it.
        text: What people read.
    """

    key: str
    text: str


class Comments:
    """Puts comments where they belong, once (CHN-3).

    Args:
        client: Asks and tells GitHub.
        identity: Who the agent is: a marker in somebody else's comment proves nothing.
    """

    def __init__(self, client: GitHubClient, identity: Identity) -> None:
        self._client = client
        self._identity = identity

    async def put(
        self, target: Target, parts: Sequence[MarkedText], *, since: datetime
    ) -> PostedComment:
        """Make each part appear once, in order, and return the first.

        See https://docs.github.com/en/rest/issues/comments and
        https://docs.github.com/en/rest/pulls/comments.

        Args:
            target: An issue's or pull request's conversation, or a review thread.
            parts: What is to appear: one at least.
            since: No earlier try was made before that.

        Raises:
            Refused: GitHub will not take it.
            ProviderUnavailable: Some of it may or may not have appeared.
        """
        there = await self._own(target, since)
        posted = [there.get(part.key) or await self._post(target, part) for part in parts]
        return posted[0]

    async def _own(self, target: Target, since: datetime) -> Mapping[str, PostedComment]:
        """Return the agent's own comments by their markers' keys."""
        found: dict[str, PostedComment] = {}
        moment = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        async for comment in self._client.items(PostedComment, _list(target), {"since": moment}):
            if comment.user is not None and str(comment.user.id) in self._identity.ids:
                for key in markers.find(comment.body):
                    found.setdefault(key, comment)
        return found

    async def _post(self, target: Target, part: MarkedText) -> PostedComment:
        body = {"body": markers.with_marker(part.text, part.key)}
        return await self._client.post(PostedComment, _post(target), body)


def _list(target: Target) -> str:
    kind = "issues" if target.root is None else "pulls"
    return f"/repos/{target.repository}/{kind}/{target.number}/comments"


def _post(target: Target) -> str:
    return _list(target) if target.root is None else f"{_list(target)}/{target.root}/replies"
