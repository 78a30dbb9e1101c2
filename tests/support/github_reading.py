"""Reads one delivery with an instance, as the source service does."""

from __future__ import annotations

from remit.connectors.contract import Drop, Instance
from remit.domain.trigger import Trigger
from support.contracts.connector import RECEIVED, Sent


def read_one(instance: Instance, sent: Sent) -> Trigger | Drop:
    """Return what a delivery became."""
    raw = instance.source.receive(sent.headers, sent.body, received_at=RECEIVED)
    (one,) = instance.source.normalise(raw)
    return one


def trigger_of(instance: Instance, sent: Sent) -> Trigger:
    """Return the Trigger that a delivery became."""
    one = read_one(instance, sent)
    assert isinstance(one, Trigger), one
    return one
