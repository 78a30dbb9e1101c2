"""The inbox: raw deliveries on the bus, stored before a provider is answered."""

from __future__ import annotations

from datetime import datetime

from remit.bus import subjects
from remit.bus.message import Delivery, Message
from remit.connectors.contract import RawDelivery
from remit.domain.ids import SourceName
from remit.domain.trigger import Reception

_SOURCE = "Remit-Source"
_EVENT = "Remit-Event"
_DELIVERY = "Remit-Delivery"
_RECEIVED_AT = "Remit-Received-At"
_RECEIVED_BY = "Remit-Received-By"


def pack(raw: RawDelivery) -> Message:
    """Return the message that keeps ``raw``, its bytes as they came."""
    return Message(
        subject=subjects.inbox(raw.source),
        id=f"{raw.source}/{raw.event}/{raw.delivery}",
        type="remit.delivery",
        source="/remit/source",
        data=raw.body,
        content_type=raw.content_type,
        headers={
            _SOURCE: raw.source,
            _EVENT: raw.event,
            _DELIVERY: raw.delivery,
            _RECEIVED_AT: raw.received_at.isoformat(),
            _RECEIVED_BY: raw.received_by,
        },
    )


def unpack(delivery: Delivery) -> RawDelivery:
    """Return what `pack` kept.

    Raises:
        KeyError: A header is missing.
        ValueError: A header does not hold what it should.
    """
    message = delivery.message
    headers = message.headers
    return RawDelivery(
        source=SourceName(headers[_SOURCE]),
        event=headers[_EVENT],
        delivery=headers[_DELIVERY],
        received_at=datetime.fromisoformat(headers[_RECEIVED_AT]),
        received_by=Reception(headers[_RECEIVED_BY]),
        body=message.data,
        content_type=message.content_type,
    )
