"""Triggers: what a Source saw, once and for ever (TRG-1..4)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field, JsonValue

from remit.domain.channel import Address
from remit.domain.ids import SourceName, ThreadKey, TriggerId
from remit.domain.model import Model


class ActorClass(StrEnum):
    """What an actor is, by the provider's word and never by its name (field report A1)."""

    PERSON = "person"
    BOT = "bot"
    SYSTEM = "system"
    """The provider itself: CI, a merge queue, a condition that came to hold."""


class Actor(Model):
    """Who caused an event, in the Source's own identities (POL-3).

    Attributes:
        id: The provider's immutable id, exactly as it gives it.
        actor_class: Person, bot or system.
        name: For display only: names change hands (field report A6).
    """

    id: str
    actor_class: ActorClass
    name: str


class Addressing(StrEnum):
    """Whether a message speaks to the agent."""

    MENTION = "mention"
    DIRECT = "direct"
    """In a place where only the agent listens, such as a direct message."""
    NONE = "none"


class Reception(StrEnum):
    """How a Source received an event. Never part of a Trigger's id (SRC-7)."""

    WEBHOOK = "webhook"
    SOCKET = "socket"
    POLL = "poll"
    SWEEP = "sweep"
    CONSOLE = "console"


class ScopeKind(StrEnum):
    """What kind of place received an event."""

    REPOSITORY = "repository"
    CHAT = "chat"
    DIRECT = "direct"


class ReceivingScope(Model):
    """The place that received an event; the admission table has a row for it.

    Attributes:
        kind: Repository, chat or direct message.
        name: Its name in the Source's words, such as ``acme/website``.
        public: Anybody may write there.
    """

    kind: ScopeKind
    name: str
    public: bool = False


class Trigger(Model):
    """One immutable event.

    Attributes:
        id: The provider's object and revision under the Source's name.
        source: The Source instance that saw it.
        kind: What happened, in the Source's words, such as ``issue_comment``.
        actor: Who caused it.
        addressing: Whether it speaks to the agent.
        scope: The place that received it.
        occurred_at: The provider's time; Threads order by it (THR-1).
        received_at: When the Source first had it in hand.
        received_by: How.
        threads: The Threads it belongs to; the first is its home (TRG-2).
        channels: Where an answer goes; the first is the closest (SRC-6).
        title: The subject's title, where there is one.
        text: What was written, normalised but not judged.
        url: Where a person can look at it.
        is_message: Somebody wrote it, as opposed to a merge, a deletion or a push: a person's
            message stays with its Tickets, resumes, stops and answers; a person's merge does not.
        points_at: Tickets and Threads that the message names outright (SUB-7).
        metadata: The Source's own facts.
    """

    id: TriggerId
    source: SourceName
    kind: str
    actor: Actor
    addressing: Addressing
    scope: ReceivingScope
    occurred_at: datetime
    received_at: datetime
    received_by: Reception
    threads: Annotated[tuple[ThreadKey, ...], Field(min_length=1)]
    channels: tuple[Address, ...] = ()
    title: str | None = None
    text: str = ""
    url: str | None = None
    is_message: bool = True
    points_at: tuple[str, ...] = ()
    metadata: Mapping[str, JsonValue] = {}

    @property
    def home(self) -> ThreadKey:
        """The Thread it waits on when it needs an Eval."""
        return self.threads[0]

    @property
    def from_person(self) -> bool:
        """Whether it is a person's message; nothing else resumes, stops or answers (SUB-3, SUB-5)."""
        return self.is_message and self.actor.actor_class is ActorClass.PERSON


class TriggerRef(Model):
    """A Trigger as an aggregate remembers it: enough to order it and to find it again.

    Attributes:
        id: The Trigger.
        position: Its sequence in the Trigger stream.
        occurred_at: The provider's time.
        person: It is a person's message.
        trace: The ``traceparent`` of the span that published it, so that its trace goes on
            after a wait.
    """

    id: TriggerId
    position: int
    occurred_at: datetime
    person: bool
    trace: str | None = None

    @classmethod
    def of(cls, trigger: Trigger, *, position: int, trace: str | None = None) -> TriggerRef:
        """Return the reference to ``trigger``."""
        return cls(
            id=trigger.id,
            position=position,
            occurred_at=trigger.occurred_at,
            person=trigger.from_person,
            trace=trace,
        )


def in_time_order(refs: tuple[TriggerRef, ...]) -> tuple[TriggerRef, ...]:
    """Order by the provider's time, then by id: the same on every replica (THR-1)."""
    return tuple(sorted(refs, key=lambda ref: (ref.occurred_at, ref.id)))
