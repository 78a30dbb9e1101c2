"""The agent's own pull requests: looked for by branch and marker, and opened where there is none."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus

from remit.connectors import markers
from remit.connectors.contract import Identity
from remit.connectors.github.client import GitHubClient, Refused
from remit.connectors.github.comments import MarkedText
from remit.connectors.github.events.payloads import Account, Payload, Repository, Text
from remit.connectors.github.place import Target
from remit.domain.channel import PullRequest


class OpenedPull(Payload):
    """A pull request as GitHub answers with it."""

    number: int
    html_url: Text = ""
    body: Text = ""
    user: Account | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A pull request, and where it is.

    Attributes:
        repository: Its repository, as it is called now.
        pull: What GitHub says about it.
    """

    repository: Repository
    pull: OpenedPull


class PullRequests:
    """Opens pull requests, once each (CHN-3).

    Args:
        client: Asks and tells GitHub.
        identity: Who the agent is.
    """

    def __init__(self, client: GitHubClient, identity: Identity) -> None:
        self._client = client
        self._identity = identity

    async def open(self, target: Target, wanted: PullRequest, body: MarkedText) -> Opened:
        """Return the pull request with the body's marker, opened unless it is there.

        See https://docs.github.com/en/rest/pulls/pulls#create-a-pull-request.

        Args:
            target: Says in which repository.
            wanted: Branches and title; the branch was pushed already.
            body: The body, and the key that marks it.

        Raises:
            Refused: GitHub will not take it.
            ProviderUnavailable: It may or may not have been opened.
        """
        repository = await self._client.get(Repository, f"/repos/{target.repository}")
        pull = await self._own(repository, wanted.branch, body.key)
        if pull is None:
            pull = await self._open(repository, wanted, body)
        return Opened(repository, pull)

    async def _open(
        self, repository: Repository, wanted: PullRequest, body: MarkedText
    ) -> OpenedPull:
        document = {
            "title": wanted.title,
            "head": wanted.branch,
            "base": wanted.base or repository.default_branch,
            "body": markers.with_marker(body.text, body.key),
        }
        try:
            return await self._client.post(
                OpenedPull, f"/repos/{repository.full_name}/pulls", document
            )
        except Refused as refused:
            # One branch has one open pull request: an earlier try's may show only now.
            late = None
            if refused.status == HTTPStatus.UNPROCESSABLE_ENTITY:
                late = await self._own(repository, wanted.branch, body.key)
            if late is None:
                raise
            return late

    async def _own(self, repository: Repository, branch: str, key: str) -> OpenedPull | None:
        owner = repository.full_name.partition("/")[0]
        path = f"/repos/{repository.full_name}/pulls"
        params = {"head": f"{owner}:{branch}", "state": "all"}
        async for pull in self._client.items(OpenedPull, path, params):
            own = pull.user is not None and str(pull.user.id) in self._identity.ids
            if own and key in markers.find(pull.body):
                return pull
        return None
