"""The read side of a console: messages that the panel and ``remit ask`` post."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import ValidationError

from remit.connectors.console.message import EVENT, ConsoleMessage
from remit.connectors.console.settings import ConsoleSettings
from remit.connectors.contract import (
    DeliveryMalformed,
    Drop,
    DropReason,
    Normalised,
    ProviderUnavailable,
    RawDelivery,
    SignatureInvalid,
)
from remit.connectors.secrets import SecretUnavailable
from remit.connectors.settings import dotted
from remit.connectors.ticket_ids import ticket_ids_in
from remit.domain.channel import Address
from remit.domain.ids import SourceName, ThreadKey, TriggerId
from remit.domain.trigger import (
    Actor,
    ActorClass,
    Addressing,
    ReceivingScope,
    Reception,
    ScopeKind,
    Trigger,
)

CONVERSATION = "conversation"
"""The kind of the only address there is."""


class ConsoleSource:
    """Takes a console's messages."""

    def __init__(self, name: SourceName, settings: ConsoleSettings) -> None:
        self._name = name
        self._settings = settings

    def receive(
        self, headers: Mapping[str, str], body: bytes, *, received_at: datetime
    ) -> RawDelivery:
        """See `remit.connectors.contract.Source.receive`; the token stands in for a signature."""
        self._authenticate(headers)
        message = self._read(body)
        return RawDelivery(
            source=self._name,
            event=EVENT,
            delivery=f"{message.conversation}/{message.id}",
            received_at=received_at,
            received_by=Reception.CONSOLE,
            body=body,
        )

    def normalise(self, raw: RawDelivery) -> Sequence[Normalised]:
        """See `remit.connectors.contract.Source.normalise`."""
        if raw.event != EVENT:
            return (Drop(DropReason.UNKNOWN_EVENT, raw.event),)
        message = self._read(raw.body)
        if message.author.id == self._settings.agent:
            return (Drop(DropReason.OWN_MESSAGE, raw.delivery),)
        if not message.text.strip():
            return (Drop(DropReason.NO_CONTENT, raw.delivery),)
        return (self._trigger(message, raw),)

    def _trigger(self, message: ConsoleMessage, raw: RawDelivery) -> Trigger:
        thread = ThreadKey(f"{self._name}:{message.conversation}")
        address = Address(
            source=self._name, thread=thread, kind=CONVERSATION, target=message.conversation
        )
        return Trigger(
            id=TriggerId(f"{thread}/{message.id}"),
            source=self._name,
            kind=EVENT,
            actor=Actor(
                id=message.author.id,
                actor_class=ActorClass.PERSON,
                name=message.author.name or message.author.id,
            ),
            addressing=Addressing.DIRECT,
            scope=ReceivingScope(kind=ScopeKind.DIRECT, name=message.conversation),
            occurred_at=message.at,
            received_at=raw.received_at,
            received_by=raw.received_by,
            threads=(thread,),
            channels=(address,),
            text=message.text,
            points_at=ticket_ids_in(message.text),
        )

    def _authenticate(self, headers: Mapping[str, str]) -> None:
        if self._settings.token is None:
            return
        try:
            expected = self._settings.token.read()
        except SecretUnavailable as error:
            raise ProviderUnavailable(self._name, f"token: {error}") from error
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.casefold() != "bearer":
            raise SignatureInvalid(self._name, "the message came without a bearer token")
        if not hmac.compare_digest(given.strip().encode(), expected.encode()):
            raise SignatureInvalid(self._name, "the bearer token is not this instance's")

    def _read(self, body: bytes) -> ConsoleMessage:
        try:
            return ConsoleMessage.model_validate_json(body)
        except ValidationError as error:
            first = error.errors()[0]
            raise DeliveryMalformed(
                self._name, dotted(first["loc"]) or "the body", first["msg"]
            ) from error
