"""What a connector is: a Source kind, a Channel kind, an identity, found by entry point.

A connector's package offers one `Connector` under the entry point group ``remit.connectors``.
`Connector.configure` makes an instance of one configuration; two instances of one kind share
nothing (SRC-1). Normalisers are pure; what touches a provider's network is asynchronous.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Protocol

from remit.domain.channel import Address, ChannelWrite, Receipt
from remit.domain.ids import SourceName
from remit.domain.trigger import Reception, Trigger

ENTRY_POINTS = "remit.connectors"
"""The entry point group that connectors are found under."""


class DropReason(StrEnum):
    """Why a Source dropped an event before it became a Trigger: a closed list, counted (SRC-4)."""

    OWN_MESSAGE = "own_message"
    """The agent's own identity wrote it (SRC-3)."""
    UNKNOWN_EVENT = "unknown_event"
    """The kind of event is none that the connector knows."""
    UNHANDLED_ACTION = "unhandled_action"
    """The event is known, but this change of it starts nothing and informs nobody."""
    NOT_LISTENED_TO = "not_listened_to"
    """Outside what the instance listens to, such as another repository."""
    NO_CONTENT = "no_content"
    """There is nothing in it, such as a review without a body."""
    TOO_OLD = "too_old"
    """Older than the memory of the streams, so it may have been seen before."""
    BAD_SIGNATURE = "bad_signature"
    """The delivery was not signed with the instance's secret."""
    TOO_LARGE = "too_large"
    """The body was over the limit."""
    MALFORMED = "malformed"
    """The body was not what the provider documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawDelivery:
    """What a provider sent, as it came, stored before it was answered.

    Attributes:
        source: The instance that received it.
        event: The provider's name of the event, where it came beside the body; else empty.
        delivery: The provider's id of the delivery: for logs, never for identity (SRC-7).
        received_at: When.
        received_by: How.
        body: The bytes that were signed.
        content_type: Their media type.
    """

    source: SourceName
    event: str
    delivery: str
    received_at: datetime
    received_by: Reception
    body: bytes
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True)
class Drop:
    """An event that became no Trigger.

    Attributes:
        reason: Why, for the count.
        detail: What it was, for logs.
    """

    reason: DropReason
    detail: str = ""


Normalised = Trigger | Drop


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the agent is on a provider, resolved before anything is consumed (SRC-3).

    Attributes:
        ids: Every id under which its own messages may come back.
        names: The names by which people address it, without the ``@``.
    """

    ids: frozenset[str]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GitRemote:
    """Where a Ticket's branch is pushed, with a credential that does not live long.

    Attributes:
        url: The repository.
        username: For HTTP basic authentication; empty for a path.
        password: The credential; never logged, never given to an agent.
    """

    url: str
    username: str = ""
    password: str = field(default="", repr=False)


# -- errors ---------------------------------------------------------------------------------


class ConnectorError(Exception):
    """Anything a connector could not do.

    Attributes:
        source: The instance.
    """

    def __init__(self, source: str, message: str) -> None:
        super().__init__(f"{source}: {message}")
        self.source = source


class ConfigurationInvalid(ConnectorError):
    """The configuration of an instance will not do.

    Attributes:
        place: The setting, as a dotted path.
        problem: What is wrong with it, and what to write instead.
    """

    def __init__(self, source: str, place: str, problem: str) -> None:
        super().__init__(source, f"{place}: {problem}")
        self.place = place
        self.problem = problem


class SignatureInvalid(ConnectorError):
    """A delivery was not signed with the instance's secret (answered with 401)."""


class DeliveryMalformed(ConnectorError):
    """A delivery is not what the provider documents (answered with 400).

    Attributes:
        place: The field, as a dotted path.
    """

    def __init__(self, source: str, place: str, problem: str) -> None:
        super().__init__(source, f"{place}: {problem}")
        self.place = place


class ProviderUnavailable(ConnectorError):
    """The provider did not answer, or asked to be left alone for a while; try again.

    Attributes:
        retry_after: How long the provider wants to be left alone, if it said so.
    """

    def __init__(self, source: str, message: str, retry_after: timedelta | None = None) -> None:
        super().__init__(source, message)
        self.retry_after = retry_after


# -- ports ----------------------------------------------------------------------------------


class Source(Protocol):
    """The read side of one instance."""

    def receive(
        self, headers: Mapping[str, str], body: bytes, *, received_at: datetime
    ) -> RawDelivery:
        """Verify one webhook delivery on its raw bytes, in constant time, and name it.

        Header names are in lower case.

        Raises:
            SignatureInvalid: It is not signed with the instance's secret.
            DeliveryMalformed: It is not what the provider documents.
            ProviderUnavailable: The secret cannot be read now, so nothing can be verified.
        """
        ...

    def normalise(self, raw: RawDelivery) -> Sequence[Normalised]:
        """Return the Triggers in a delivery, or why there is none. Pure (SRC-3, SRC-4, SRC-6).

        Raises:
            DeliveryMalformed: It is not what the provider documents.
        """
        ...


class Channel(Protocol):
    """The write side of one instance."""

    async def write(self, write: ChannelWrite) -> Receipt:
        """Make ``write`` appear once, looking first for what an earlier try left (CHN-3).

        Returns:
            The provider's answer; a refusal for good is a receipt, not an error.

        Raises:
            ProviderUnavailable: It may or may not have appeared; the same write is tried again.
        """
        ...


class CodeHost(Protocol):
    """Where branches are pushed, for providers that hold repositories."""

    async def remote(self, address: Address) -> GitRemote:
        """Return where the branch of a Ticket that answers at ``address`` goes.

        Raises:
            ProviderUnavailable: No credential could be had now.
        """
        ...


class Instance(Protocol):
    """One configuration of a kind, ready to work."""

    @property
    def name(self) -> SourceName:
        """Its name in the configuration."""
        ...

    @property
    def source(self) -> Source:
        """The read side."""
        ...

    @property
    def channel(self) -> Channel:
        """The write side."""
        ...

    @property
    def code_host(self) -> CodeHost | None:
        """Where branches go; None where the provider holds no repositories."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


class Connector(Protocol):
    """A kind: reusable code (SRC-1)."""

    @property
    def kind(self) -> str:
        """Its name in configurations, such as ``github``."""
        ...

    async def configure(self, name: SourceName, settings: Mapping[str, Any]) -> Instance:
        """Return an instance; its own identity is known before it returns (SRC-3).

        Raises:
            ConfigurationInvalid: A setting will not do.
            ProviderUnavailable: The identity could not be resolved now.
        """
        ...
