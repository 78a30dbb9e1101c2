"""The read side of a GitHub instance: signed webhooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from remit.connectors.contract import (
    DeliveryMalformed,
    Identity,
    Normalised,
    ProviderUnavailable,
    RawDelivery,
    SignatureInvalid,
)
from remit.connectors.github.normalise import check, normalise
from remit.connectors.github.settings import GitHubSettings
from remit.connectors.github.signature import HEADER, is_signed
from remit.connectors.secrets import SecretUnavailable
from remit.domain.ids import SourceName
from remit.domain.trigger import Reception

EVENT_HEADER = "x-github-event"
DELIVERY_HEADER = "x-github-delivery"


class GitHubSource:
    """Takes GitHub's webhooks.

    Args:
        name: The instance.
        settings: What it listens to, and its secret.
        identity: Who the agent is.
    """

    def __init__(self, name: SourceName, settings: GitHubSettings, identity: Identity) -> None:
        self._name = name
        self._settings = settings
        self._identity = identity

    def receive(
        self, headers: Mapping[str, str], body: bytes, *, received_at: datetime
    ) -> RawDelivery:
        """See `remit.connectors.contract.Source.receive`.

        Nothing of the body is looked at before its signature.
        """
        self._verify(headers, body)
        event = headers.get(EVENT_HEADER, "")
        if not event:
            raise DeliveryMalformed(self._name, "X-GitHub-Event", "the header is not there")
        content_type = headers.get("content-type", "application/json")
        check(self._name, event, body, content_type)
        return RawDelivery(
            source=self._name,
            event=event,
            delivery=headers.get(DELIVERY_HEADER, ""),
            received_at=received_at,
            received_by=Reception.WEBHOOK,
            body=body,
            content_type=content_type,
        )

    def normalise(self, raw: RawDelivery) -> Sequence[Normalised]:
        """See `remit.connectors.contract.Source.normalise`."""
        return (normalise(self._settings, self._identity, raw),)

    def _verify(self, headers: Mapping[str, str], body: bytes) -> None:
        if self._settings.webhook_secret is None:
            return
        try:
            secret = self._settings.webhook_secret.read()
        except SecretUnavailable as error:
            raise ProviderUnavailable(self._name, f"webhook_secret: {error}") from error
        signature = headers.get(HEADER)
        if signature is None:
            raise SignatureInvalid(
                self._name, "the delivery is not signed; set the secret on the webhook"
            )
        if not is_signed(secret, body, signature):
            raise SignatureInvalid(
                self._name, "the signature is not of this secret; set the same one on both sides"
            )
