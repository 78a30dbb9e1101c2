"""Commits: what one decision changed, caused and left behind, as one message.

An aggregate's life is one subject of a stream. A commit on it holds the events that
happened, the messages they cause (the outbox) and the state after them, and is fenced
by the expected sequence of the subject's last message. So loading is one read, writing
is one publish, and a lost race is seen by the server (DESIGN.md, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import BaseModel

from remit.bus.message import Message

State = TypeVar("State", bound=BaseModel)
Event = TypeVar("Event", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Generic[State, Event]):
    """What a decision wants to commit.

    Attributes:
        events: What happened; empty commits are not written.
        state: The aggregate after the events.
        outbox: What the events cause. Relayed after the commit, each under its own id.
    """

    events: Sequence[Event]
    state: State
    outbox: Sequence[Message] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed(Generic[State]):
    """An aggregate as it stands in the stream.

    Attributes:
        state: The state, None where nothing was ever committed.
        sequence: The sequence of the last commit, 0 where there is none.
        changed: This call committed something (also where an earlier try of it had landed).
    """

    state: State | None
    sequence: int
    changed: bool = False


class CommitLog(Protocol[State, Event]):
    """The commits of one kind of aggregate."""

    async def load(self, key: str, *, leader: bool = False) -> Committed[State]:
        """Return the aggregate ``key`` as its last commit left it.

        Without ``leader`` the answer may be stale (a cache, a replica).
        """
        ...

    async def transact(
        self,
        key: str,
        commit_id: str,
        decide: Callable[[State | None], Step[State, Event] | None],
    ) -> Committed[State]:
        """Decide on the aggregate's current state and commit the result, fenced.

        ``decide`` is pure and may be called several times: a lost race loads again and
        decides again, unless the last commit is our own (its id is ``commit_id``), which
        means that an earlier try had landed. None or a step without events commits nothing.
        What ``decide`` raises is passed on. A ``commit_id`` is unique for its aggregate.

        Raises:
            Contended: Every try within the bound lost its race.
            BusUnavailable: The bus did not answer within the bound; the commit may have landed,
                and the same call with the same id is safe.
        """
        ...
