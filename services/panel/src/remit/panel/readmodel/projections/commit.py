"""Commits of Threads and Tickets, read so that an event nobody knows yet stops nothing."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from remit.bus.message import Delivery
from remit.domain.model import Model
from remit.panel.readmodel.rows import MentionRow, MomentRow
from remit.panel.readmodel.times import micros
from remit.runtime.wire import PayloadUnreadable

State = TypeVar("State", bound=Model)
Event = TypeVar("Event", bound=Model)


class Commit(Model, Generic[State, Event]):
    """A commit without its outbox.

    Attributes:
        id: Names it.
        at: When it was made.
        events: What happened.
        state: The aggregate after them.
    """

    id: str
    at: datetime
    events: tuple[Event, ...]
    state: State


class UnknownEvent(Model):
    """An event that a newer version of a service wrote; it is shown by its name."""

    event: str


@dataclass(frozen=True, slots=True)
class CommitReader(Generic[State, Event]):
    """Reads the commits of one kind of aggregate.

    Attributes:
        commit: The commit, for those whose every event is known.
        state: The state.
        event: One event.
    """

    commit: TypeAdapter[Commit[State, Event]]
    state: TypeAdapter[State]
    event: TypeAdapter[Event]

    def read(self, delivery: Delivery) -> tuple[datetime, list[Event | UnknownEvent], State]:
        """Return when a commit was made, what happened, and the state after it.

        Raises:
            PayloadUnreadable: It is no commit, or its state cannot be read.
        """
        data = delivery.message.data
        try:
            known = self.commit.validate_json(data)
        except ValidationError as error:
            return self._leniently(delivery, error)
        return known.at, list(known.events), known.state

    def _leniently(
        self, delivery: Delivery, error: ValidationError
    ) -> tuple[datetime, list[Event | UnknownEvent], State]:
        message = delivery.message
        try:
            raw = json.loads(message.data)
            at = datetime.fromisoformat(raw["at"])
            events = [self._event(one) for one in raw["events"]]
            state = self.state.validate_python(raw["state"])
        except (ValueError, KeyError, TypeError) as cause:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            problem = f"{place}: {first['msg']}"
            raise PayloadUnreadable(message.id, message.type, problem) from cause
        return at, events, state

    def _event(self, raw: Mapping[str, Any]) -> Event | UnknownEvent:
        try:
            return self.event.validate_python(raw)
        except ValidationError:
            return UnknownEvent(event=str(raw["event"]))


def reader(state: type[State], event: Any) -> CommitReader[State, Event]:
    """Return the reader of an aggregate's commits.

    Args:
        state: The state's model.
        event: The events' models, told apart by a discriminator.
    """
    # The models are only known at run time, which is more than a type checker can follow.
    commit: Any = Commit
    return CommitReader(TypeAdapter(commit[state, event]), TypeAdapter(state), TypeAdapter(event))


def moment_rows(
    aggregate: str,
    key: str,
    delivery: Delivery,
    at: datetime,
    moments: Iterable[tuple[BaseModel, str, tuple[str, ...]]],
) -> list[MomentRow | MentionRow]:
    """Return the rows of what happened, and of the Triggers it was about.

    Args:
        aggregate: ``thread`` or ``ticket``.
        key: The Thread's key or the Ticket's id.
        delivery: The commit.
        at: When it was made.
        moments: Each event with its name and the Triggers it is about.
    """
    rows: list[MomentRow | MentionRow] = []
    when = micros(at)
    position = delivery.sequence
    for number, (event, name, triggers) in enumerate(moments):
        rows.append(
            MomentRow(aggregate, key, position, number, when, name, event.model_dump_json())
        )
        rows.extend(
            MentionRow(trigger, aggregate, key, position, number)
            for trigger in dict.fromkeys(triggers)
        )
    return rows
