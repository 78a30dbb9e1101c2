"""Code hosts: where Tickets' branches go, by the Sources document.

An instance is configured when a Ticket first needs it: an idle host loads no connector.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Protocol

from remit.connectors.contract import CodeHost, ConnectorError, GitRemote, ProviderUnavailable
from remit.domain.channel import Address
from remit.domain.ids import SourceName


class CodeHosts(Protocol):
    """Finds the repository of a Ticket that answers at an address."""

    async def remote(self, address: Address) -> GitRemote | None:
        """Return where its branch goes, with a fresh credential; None where there is no such place.

        Raises:
            ProviderUnavailable: The code host, or its credential, cannot be had now.
        """
        ...


class ConfiguredCodeHosts:
    """The code hosts of a Sources document; see `CodeHosts`.

    Args:
        sources: The settings of each instance, from `remit.connectors.configuration.read_sources`.
        stack: Closes the instances.
    """

    def __init__(
        self, sources: Mapping[SourceName, Mapping[str, Any]], stack: AsyncExitStack
    ) -> None:
        self._sources = sources
        self._stack = stack
        self._hosts: dict[SourceName, CodeHost | None] = {}
        self._configuring = asyncio.Lock()

    async def remote(self, address: Address) -> GitRemote | None:
        """Return where a branch goes; see `CodeHosts.remote`."""
        async with self._configuring:
            if address.source not in self._hosts:
                self._hosts[address.source] = await self._configure(address.source)
        host = self._hosts[address.source]
        return await host.remote(address) if host is not None else None

    async def _configure(self, source: SourceName) -> CodeHost | None:
        settings = self._sources.get(source)
        if settings is None:
            return None
        from remit.connectors.configuration import configure, connectors

        kinds = await asyncio.to_thread(connectors)
        if settings["kind"] not in kinds:
            return None
        try:
            instances = await configure({source: settings}, kinds)
        except ProviderUnavailable:
            raise
        except ConnectorError as error:
            # The services that read from the Source refuse the same settings at their start.
            raise ProviderUnavailable(source, str(error)) from error
        instance = instances[source]
        self._stack.push_async_callback(instance.close)
        return instance.code_host
