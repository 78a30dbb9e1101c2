"""The GitHub kind."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import httpx

from remit.connectors.clock import Clock, SystemClock
from remit.connectors.contract import Identity
from remit.connectors.github.channel import GitHubChannel
from remit.connectors.github.client import GitHubClient
from remit.connectors.github.code_host import GitHubCodeHost
from remit.connectors.github.identity import resolve_identity
from remit.connectors.github.settings import GitHubSettings
from remit.connectors.github.source import GitHubSource
from remit.connectors.settings import read_settings
from remit.domain.ids import SourceName


@dataclass(frozen=True, slots=True, kw_only=True)
class GitHubInstance:
    """One account on one GitHub, and what it listens to.

    Attributes:
        name: Its name in the configuration.
        identity: Who the agent is there.
        source: The read side.
        channel: The write side.
        code_host: Where branches go.
        client: Asks and tells GitHub.
    """

    name: SourceName
    identity: Identity
    source: GitHubSource
    channel: GitHubChannel
    code_host: GitHubCodeHost
    client: GitHubClient

    async def close(self) -> None:
        """Let go of connections."""
        await self.client.close()


class GitHubConnector:
    """Issues, pull requests and reviews on GitHub.

    Args:
        clock: Tells the time and waits; the machine's own unless given.
        transport: Carries requests; the network unless given.
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._transport = transport

    @property
    def kind(self) -> str:
        """Its name in configurations."""
        return "github"

    async def configure(self, name: SourceName, settings: Mapping[str, Any]) -> GitHubInstance:
        """See `remit.connectors.contract.Connector.configure`."""
        read = read_settings(GitHubSettings, name, settings)
        client = GitHubClient(name, read, clock=self._clock, transport=self._transport)
        async with AsyncExitStack() as unless_it_works:
            unless_it_works.push_async_callback(client.close)
            identity = await resolve_identity(name, read, client)
            unless_it_works.pop_all()
        return GitHubInstance(
            name=name,
            identity=identity,
            source=GitHubSource(name, read, identity),
            channel=GitHubChannel(name, client, identity, self._clock),
            code_host=GitHubCodeHost(name, read),
            client=client,
        )
