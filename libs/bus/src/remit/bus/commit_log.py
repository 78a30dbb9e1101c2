"""Commits as JSON on any bus (`remit.bus.commits.CommitLog`).

What is stored for a commit::

    {"id": ..., "at": ..., "events": [...], "outbox": [...], "state": {...}}

Only ``id`` and ``state`` are read when an aggregate is loaded, only ``outbox`` by the relay.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from remit.bus import tracing
from remit.bus.clock import Clock, SystemClock
from remit.bus.commits import Committed, Event, State, Step
from remit.bus.errors import BusUnavailable, Conflict, Contended, NotAnEvent
from remit.bus.message import Delivery, Message
from remit.bus.outbox import OutboxRecord, pack
from remit.bus.ports import Bus
from remit.telemetry import metrics, names

_UNANSWERED = 5
"""How often a commit may go unanswered before the caller is told. Each is a wait of some seconds;
together they outlast a lost leader."""


class _Record(BaseModel, Generic[State, Event]):
    id: str
    at: datetime
    events: list[Event]
    outbox: list[OutboxRecord]
    state: State


class _Head(BaseModel, Generic[State]):
    model_config = ConfigDict(extra="ignore")

    id: str
    state: State


@dataclass(frozen=True, slots=True)
class _Held(Generic[State]):
    """An aggregate as it was last seen.

    Attributes:
        state: The state, None where nothing was ever committed.
        sequence: The sequence of the last commit.
        commit: The last commit's id.
        confirmed: The stream's leader said so, just now.
    """

    state: State | None = None
    sequence: int = 0
    commit: str | None = None
    confirmed: bool = False

    def committed(self, *, changed: bool = False) -> Committed[State]:
        return Committed(state=self.state, sequence=self.sequence, changed=changed)


@dataclass(slots=True)
class _Turn:
    """Whose turn it is on one aggregate in this process: replicas race, neighbours queue."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    waiting: int = 0


class JsonCommitLog(Generic[State, Event]):
    """The commits of one kind of aggregate, as JSON.

    The last states are kept in memory with their sequences. A stale one costs a conflict and
    a load from the leader, never a wrong commit; and a decision to commit nothing, or to raise,
    is taken again if the leader knows better.

    Args:
        bus: Where commits are stored.
        kind: The aggregate's name, such as ``thread``; commits have the type
            ``remit.<kind>.commit``.
        stream: The stream of the commits.
        subject_of: Builds an aggregate's subject from its key.
        state_type: The state's model.
        event_type: The events' model, or a union of models told apart by a discriminator.
        source: Which part of Remit commits, such as ``/remit/ticket``.
        clock: Stamps commits and paces tries.
        tries: How often a commit is tried before `Contended`.
        cache_size: How many states are kept in memory; 0 keeps none.
        rng: Spreads the tries of replicas that race.
    """

    def __init__(
        self,
        bus: Bus,
        *,
        kind: str,
        stream: str,
        subject_of: Callable[[str], str],
        state_type: type[State],
        event_type: Any,
        source: str,
        clock: Clock | None = None,
        tries: int = 10,
        cache_size: int = 1024,
        rng: random.Random | None = None,
    ) -> None:
        self._bus = bus
        self._kind = kind
        self._stream = stream
        self._subject_of = subject_of
        self._source = source
        self._clock = clock or SystemClock()
        self._tries = tries
        self._cache_size = cache_size
        self._rng = rng or random.Random()  # noqa: S311 - spreads tries, guards nothing
        self._cache: OrderedDict[str, _Held[State]] = OrderedDict()
        self._turns: dict[str, _Turn] = {}
        self._conflicts = metrics.counter(names.METRIC_CONFLICTS)
        # The models are only known at run time, which is more than a type checker can follow.
        record: Any = _Record
        head: Any = _Head
        self._record: type[_Record[State, Event]] = record[state_type, event_type]
        self._head: TypeAdapter[_Head[State]] = TypeAdapter(head[state_type])

    async def load(self, key: str, *, leader: bool = False) -> Committed[State]:
        """Return the aggregate as its last commit left it.

        Raises:
            NotAnEvent: The last commit cannot be read.
            BusUnavailable: No answer within the bound.
        """
        held = self._cached(key)
        if held is None or leader:
            held = await self._read(key, leader=leader)
        return held.committed()

    async def transact(
        self,
        key: str,
        commit_id: str,
        decide: Callable[[State | None], Step[State, Event] | None],
    ) -> Committed[State]:
        """Decide and commit, fenced; see `remit.bus.commits.CommitLog`."""
        async with self._turn(key):
            return await self._transact(key, commit_id, decide)

    async def _transact(
        self,
        key: str,
        commit_id: str,
        decide: Callable[[State | None], Step[State, Event] | None],
    ) -> Committed[State]:
        subject = self._subject_of(key)
        held = self._cached(key) or await self._read(key, leader=False)
        lost = unanswered = 0
        while True:
            if held.commit == commit_id:
                return held.committed(changed=True)
            try:
                step = decide(held.state)
            except Exception:
                held, stale = await self._confirm(key, held)
                if stale:
                    continue
                raise
            if step is None or not step.events:
                held, stale = await self._confirm(key, held)
                if stale:
                    continue
                return held.committed()
            message = self._commit(subject, commit_id, step)
            try:
                stored = await self._bus.replace(message, expected=held.sequence)
            except Conflict as conflict:
                lost += 1
                self._conflicts.add(1, {names.MESSAGING_DESTINATION: self._stream})
                if lost >= self._tries:
                    raise Contended(subject, held.sequence, lost) from conflict
                await self._pause(lost)
                held = await self._read(key, leader=True)
            except BusUnavailable:
                unanswered += 1
                if unanswered >= _UNANSWERED:
                    self._cache.pop(key, None)
                    raise
                held = await self._read(key, leader=True)
            else:
                if stored.duplicate:
                    # An earlier try had landed and others have committed after it.
                    return (await self._read(key, leader=True)).committed(changed=True)
                held = _Held(step.state, stored.sequence, commit_id)
                self._keep(key, held)
                return held.committed(changed=True)

    async def _confirm(self, key: str, held: _Held[State]) -> tuple[_Held[State], bool]:
        """Ask the leader, and say whether what is held was stale."""
        if held.confirmed:
            return held, False
        now = await self._read(key, leader=True)
        return now, now.sequence != held.sequence

    async def _read(self, key: str, *, leader: bool) -> _Held[State]:
        last = await self._bus.last(self._stream, self._subject_of(key), leader=leader)
        held: _Held[State] = _Held(confirmed=leader) if last is None else self._parse(last, leader)
        self._keep(key, held)
        return held

    def _parse(self, last: Delivery, leader: bool) -> _Held[State]:
        try:
            head = self._head.validate_json(last.message.data)
        except ValidationError as error:
            reason = f"no readable {self._kind} in commit {last.sequence}: {error}"
            raise NotAnEvent(last.message.subject, reason) from error
        return _Held(head.state, last.sequence, head.id, leader)

    def _commit(self, subject: str, commit_id: str, step: Step[State, Event]) -> Message:
        record = self._record(
            id=commit_id,
            at=self._clock.now(),
            events=list(step.events),
            outbox=[pack(tracing.inject(message)) for message in step.outbox],
            state=step.state,
        )
        return Message(
            subject=subject,
            # The server knows ids over a whole stream; one cause may commit on two aggregates.
            id=f"{subject}:{commit_id}",
            type=f"remit.{self._kind}.commit",
            source=self._source,
            data=record.model_dump_json(by_alias=True).encode(),
        )

    async def _pause(self, lost: int) -> None:
        if lost > 1:
            # The first loss is most often a stale cache, and there is nobody to wait for.
            await self._clock.sleep(self._rng.uniform(0, min(0.5, 0.005 * 2**lost)))

    def _cached(self, key: str) -> _Held[State] | None:
        held = self._cache.get(key)
        if held is not None:
            self._cache.move_to_end(key)
        return held

    def _keep(self, key: str, held: _Held[State]) -> None:
        if self._cache_size == 0:
            return
        self._cache[key] = _Held(held.state, held.sequence, held.commit)
        self._cache.move_to_end(key)
        if len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)

    @asynccontextmanager
    async def _turn(self, key: str) -> AsyncIterator[None]:
        turn = self._turns.setdefault(key, _Turn())
        turn.waiting += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.waiting -= 1
            if turn.waiting == 0:
                del self._turns[key]
