"""Mandates: what an accept grants (MAN-1..4)."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from remit.domain.ids import MandateId, PolicyVersion, RuleId, SourceName, TriggerId
from remit.domain.model import Model
from remit.domain.trigger import Actor, Reception


class Strength(StrEnum):
    """How strong the basis of an Eval or a Mandate is."""

    EXPLICIT = "explicit"
    INFERRED = "inferred"


class Mandate(Model):
    """Why work may be done, and how far it may go. It never changes (MAN-2).

    Attributes:
        id: Its id, after the Ticket it is for.
        policy_version: The Policy version it relied on.
        scope: The work it allows, in words.
        strength: How strong its basis is.
        rules: The assessment rules that matched.
        source: The Source that received the request.
        actor: The sender, in that Source's identities.
        received_by: How the Source received the request.
        trigger: The Trigger that asked.
        granted_at: When it was granted.
    """

    id: MandateId
    policy_version: PolicyVersion
    scope: str
    strength: Strength
    rules: tuple[RuleId, ...]
    source: SourceName
    actor: Actor
    received_by: Reception
    trigger: TriggerId
    granted_at: datetime
