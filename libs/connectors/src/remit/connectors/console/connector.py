"""The console kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from remit.connectors.clock import Clock, SystemClock
from remit.connectors.console.channel import ConsoleChannel
from remit.connectors.console.settings import ConsoleSettings
from remit.connectors.console.source import ConsoleSource
from remit.connectors.console.transcript import Transcript
from remit.connectors.contract import Identity
from remit.connectors.settings import read_settings
from remit.domain.ids import SourceName


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleInstance:
    """One console.

    Attributes:
        name: Its name in the configuration.
        identity: Who the agent is in it.
        source: The read side.
        channel: The write side.
    """

    name: SourceName
    identity: Identity
    source: ConsoleSource
    channel: ConsoleChannel

    @property
    def code_host(self) -> None:
        """There is none: a conversation holds no repositories."""
        return

    async def close(self) -> None:
        """Nothing is open; the transcript belongs to whoever gave it."""


class ConsoleConnector:
    """A conversation that needs no account.

    Args:
        transcript: Where replies are written. The process that writes must give one; a process
            that only reads needs none.
        clock: Tells the time; the machine's own unless given.
    """

    def __init__(
        self,
        transcript: Transcript | None = None,
        *,
        clock: Clock | None = None,
    ) -> None:
        self._transcript = transcript
        self._clock = clock or SystemClock()

    @property
    def kind(self) -> str:
        """Its name in configurations."""
        return "console"

    async def configure(self, name: SourceName, settings: Mapping[str, Any]) -> ConsoleInstance:
        """See `remit.connectors.contract.Connector.configure`."""
        read = read_settings(ConsoleSettings, name, settings)
        return ConsoleInstance(
            name=name,
            identity=Identity(ids=frozenset({read.agent}), names=(read.agent,)),
            source=ConsoleSource(name, read),
            channel=ConsoleChannel(name, read.agent, self._transcript, self._clock),
        )
