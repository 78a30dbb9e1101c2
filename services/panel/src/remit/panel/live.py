"""What changed, told to whoever watches at the moment it can be read.

Nothing is kept for those who are not there: a watcher reads what it shows, then listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum


class ChangeKind(StrEnum):
    """What a change is of."""

    TRIGGER = "trigger"
    DISPOSITION = "disposition"
    THREAD = "thread"
    TICKET = "ticket"
    POLICY = "policy"
    DROP = "drop"
    DEAD_LETTER = "dead_letter"
    CONSOLE = "console"
    MISSED = "missed"
    """A watcher was too slow and lost changes: it should read again what it shows."""


Fact = str | int | bool | None | tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Something that can be read from now on.

    Attributes:
        kind: What it is of.
        id: Which one.
        at: When it was stored on the bus.
        about: The ids of everything it bears on, ``id`` aside: Triggers, Threads, Tickets.
        facts: A few facts of it, so that a line can be shown without a look.
    """

    kind: ChangeKind
    id: str
    at: datetime
    about: tuple[str, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)

    def concerns(self, wanted: str) -> bool:
        """Say whether it bears on the Trigger, Thread, Ticket or conversation ``wanted``."""
        return wanted == self.id or wanted in self.about


class Watch:
    """One watcher's changes, oldest first.

    Args:
        room: How many changes wait for it at most.
        kinds: The kinds it wants; none means all.
        about: What it wants to hear of; None means everything.
    """

    def __init__(self, room: int, kinds: frozenset[ChangeKind], about: str | None) -> None:
        self._waiting: asyncio.Queue[Change | None] = asyncio.Queue(room + 1)
        self._room = room
        self._kinds = kinds
        self._about = about
        self._missed: datetime | None = None

    def wants(self, change: Change) -> bool:
        """Say whether ``change`` is for this watcher."""
        if self._kinds and change.kind not in self._kinds:
            return False
        return self._about is None or change.concerns(self._about)

    def offer(self, change: Change) -> None:
        """Put a change before the watcher; one without room loses it and is told so later."""
        if self._waiting.qsize() < self._room:
            self._waiting.put_nowait(change)
        else:
            self._missed = change.at

    def end(self) -> None:
        """Let `changes` return once what waits is read."""
        if not self._waiting.full():
            self._waiting.put_nowait(None)

    async def next(self, within: float | None = None) -> Change | None:
        """Return the next change; None when none came ``within`` seconds, or it ended.

        What waits is given first; where changes were lost, the last one says so.
        """
        if self._missed is not None and self._waiting.empty():
            missed, self._missed = self._missed, None
            return Change(kind=ChangeKind.MISSED, id="", at=missed)
        try:
            async with asyncio.timeout(within):
                return await self._waiting.get()
        except TimeoutError:
            return None

    def forget(self) -> None:
        """Pass over what waits: whoever reads now sees it all."""
        self._missed = None
        while self._waiting.qsize() > 0:
            if self._waiting.get_nowait() is None:
                self._waiting.put_nowait(None)
                return


class Live:
    """Tells watchers what changed."""

    def __init__(self, *, room: int = 1000) -> None:
        self._room = room
        self._watches: set[Watch] = set()
        self._closed = False

    @property
    def closed(self) -> bool:
        """Nothing more will come."""
        return self._closed

    @property
    def watched(self) -> bool:
        """Somebody watches."""
        return bool(self._watches)

    def tell(self, changes: Iterable[Change]) -> None:
        """Tell every watcher what is for it."""
        if not self._watches:
            return
        for change in changes:
            for watch in self._watches:
                if watch.wants(change):
                    watch.offer(change)

    @contextmanager
    def watch(
        self, *, kinds: Iterable[ChangeKind] = (), about: str | None = None
    ) -> Iterator[Watch]:
        """Watch for as long as the block lasts.

        Args:
            kinds: The kinds of change that are wanted; none means all.
            about: The Trigger, Thread, Ticket or conversation that they must bear on.
        """
        watch = Watch(self._room, frozenset(kinds), about)
        self._watches.add(watch)
        if self._closed:
            watch.end()
        try:
            yield watch
        finally:
            self._watches.discard(watch)

    def close(self) -> None:
        """Let every watcher go."""
        self._closed = True
        for watch in self._watches:
            watch.end()
