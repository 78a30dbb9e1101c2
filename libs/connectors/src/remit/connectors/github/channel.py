"""The write side of a GitHub instance: comments, replies in review threads, pull requests.

GitHub has no key that makes a write happen once, so each carries a hidden marker with its id,
and is looked for before it is posted (CHN-3).
"""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus

from remit.connectors import markers
from remit.connectors.clock import Clock
from remit.connectors.contract import Identity
from remit.connectors.github.client import GitHubClient, Refused
from remit.connectors.github.comments import Comments, MarkedText
from remit.connectors.github.outgoing import BODY_LIMIT, safe_text, safe_title
from remit.connectors.github.place import Target, pull_request_thread, target_of
from remit.connectors.github.pull_requests import PullRequests
from remit.connectors.splitting import split
from remit.domain.channel import ChannelWrite, PullRequest, Receipt, WriteKind, WriteOutcome
from remit.domain.ids import SourceName

CLOCKS_DIFFER = timedelta(minutes=5)
"""How far GitHub's clock and ours may be apart when an earlier try is looked for."""
NEWS_TRAVELS = (1.0, 2.0, 4.0)
"""Seconds between tries where something is not found that an event has only just told of."""
STILL_NEWS = timedelta(minutes=2)


class GitHubChannel:
    """Writes to GitHub as one account.

    Args:
        name: The instance.
        client: Asks and tells GitHub.
        identity: Who the agent is.
        clock: Tells the time and waits.
    """

    def __init__(
        self, name: SourceName, client: GitHubClient, identity: Identity, clock: Clock
    ) -> None:
        self._name = name
        self._identity = identity
        self._clock = clock
        self._comments = Comments(client, identity)
        self._pulls = PullRequests(client, identity)

    async def write(self, write: ChannelWrite) -> Receipt:
        """See `remit.connectors.contract.Channel.write`."""
        target = target_of(write.address)
        if target is None:
            place = f"{write.address.kind} {write.address.target!r}"
            return _refused(write, f"{place} is no place on GitHub")
        if write.kind is WriteKind.RESOLVE:
            return _refused(write, "review threads on GitHub are resolved by a person")
        try:
            return await self._while_news_travels(write, target)
        except Refused as refused:
            return _refused(write, f"GitHub answered {refused.status}: {refused.reason}")

    async def _while_news_travels(self, write: ChannelWrite, target: Target) -> Receipt:
        """Try a few times more where GitHub does not know yet what it has just told of."""
        for wait in NEWS_TRAVELS:
            try:
                return await self._write(write, target)
            except Refused as refused:
                age = self._clock.now() - write.requested_at
                if refused.status != HTTPStatus.NOT_FOUND or age > STILL_NEWS:
                    raise
            await self._clock.sleep(wait)
        return await self._write(write, target)

    async def _write(self, write: ChannelWrite, target: Target) -> Receipt:
        if write.kind is WriteKind.PULL_REQUEST:
            return await self._open(write, target)
        parts = self._parts(write)
        if not any(part.text.strip() for part in parts):
            return _refused(write, "there is nothing to say in it")
        since = write.requested_at - CLOCKS_DIFFER
        comment = await self._comments.put(target, parts, since=since)
        return Receipt(
            write=write.id,
            outcome=WriteOutcome.ACCEPTED,
            object_id=str(comment.id),
            url=comment.html_url or None,
        )

    async def _open(self, write: ChannelWrite, target: Target) -> Receipt:
        """Open a pull request; what its body has no room for follows as comments on it."""
        if write.pull_request is None:
            return _refused(write, "it does not say which branch to open a pull request from")
        wanted = PullRequest(
            branch=write.pull_request.branch,
            base=write.pull_request.base,
            title=safe_title(write.pull_request.title, self._identity.names),
        )
        body, *rest = self._parts(write)
        opened = await self._pulls.open(target, wanted, body)
        repository, number = opened.repository, opened.pull.number
        if rest:
            conversation = Target(repository.full_name, number, None)
            since = write.requested_at - CLOCKS_DIFFER
            await self._comments.put(conversation, rest, since=since)
        return Receipt(
            write=write.id,
            outcome=WriteOutcome.ACCEPTED,
            object_id=str(number),
            url=opened.pull.html_url or None,
            thread=pull_request_thread(self._name, repository.id, number),
        )

    def _parts(self, write: ChannelWrite) -> list[MarkedText]:
        """Return the write's text in pieces that GitHub takes, each with a marker of its own."""
        text = safe_text(write.body, self._identity.names)
        room = BODY_LIMIT - len(markers.with_marker("", f"{write.id}/9999"))
        return [
            MarkedText(f"{write.id}/{number}", piece.text)
            for number, piece in enumerate(split(text, room), start=1)
        ]


def _refused(write: ChannelWrite, reason: str) -> Receipt:
    return Receipt(write=write.id, outcome=WriteOutcome.REFUSED, reason=reason)
