"""The Source instances of a deployment, made from its Sources document."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

from remit.bus.ports import Bus
from remit.connectors.configuration import configure, connectors, read_sources
from remit.connectors.console import ConsoleConnector
from remit.connectors.contract import Instance
from remit.connectors.hosting.transcript import BusTranscript
from remit.domain.ids import SourceName


async def configured_instances(
    sources_file: Path | None, bus: Bus, stack: AsyncExitStack
) -> dict[SourceName, Instance]:
    """Return every configured instance; each is closed with ``stack``.

    Args:
        sources_file: The Sources document; None configures no Source at all.
        bus: Where console conversations are kept.
        stack: Closes the instances.

    Raises:
        SourcesFileInvalid: The document cannot be used.
        ConfigurationInvalid: A setting in it will not do.
        ProviderUnavailable: An identity could not be resolved now.
    """
    if sources_file is None:
        return {}
    kinds = connectors()
    console = ConsoleConnector(BusTranscript(bus))
    kinds[console.kind] = console
    instances = await configure(read_sources(sources_file), kinds)
    for instance in instances.values():
        stack.push_async_callback(instance.close)
    return instances
