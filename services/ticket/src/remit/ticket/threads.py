"""Threads on the bus: commands in, one fenced commit out."""

from __future__ import annotations

from collections.abc import Sequence

from remit.bus import subjects
from remit.bus.clock import Clock
from remit.bus.commits import CommitLog, Committed, Step
from remit.bus.ports import Reader
from remit.domain import effects
from remit.domain.disposition import Disposition
from remit.domain.ids import ThreadKey
from remit.domain.thread import (
    AppendTrigger,
    HistoryNeeded,
    Thread,
    ThreadCommand,
    ThreadEvent,
    TriggerAppended,
    decide_all,
    evolve_all,
)
from remit.runtime.wire import message_of_effect
from remit.ticket.dispositions import Dispositions
from remit.ticket.history import was_taken

SOURCE = "ticket"


class Threads:
    """The Threads, as the ticket service owns them.

    Args:
        log: Their commits.
        bus: Their earlier commits, for what a Thread no longer remembers.
        dispositions: Told of every Disposition that a commit settled.
        clock: The time of the events.
    """

    def __init__(
        self,
        log: CommitLog[Thread, ThreadEvent],
        bus: Reader,
        dispositions: Dispositions,
        clock: Clock,
    ) -> None:
        self._log = log
        self._bus = bus
        self._dispositions = dispositions
        self._clock = clock

    async def load(self, key: ThreadKey) -> Thread:
        """Return the Thread; one that nobody wrote to yet is empty."""
        return (await self._log.load(key)).state or Thread(key=key)

    async def ask(
        self, key: ThreadKey, commands: Sequence[ThreadCommand], *, commit_id: str
    ) -> Thread:
        """Carry out ``commands`` in one commit and return the Thread after it.

        Raises:
            ThreadRefusal: One of them cannot be carried out.
            Contended: Other replicas kept coming first.
            BusUnavailable: It may have been committed; the same call again is safe.
        """
        todo = list(commands)
        for _ in range(len(todo) + 1):
            try:
                return await self._commit(key, todo, commit_id)
            except HistoryNeeded as unsure:
                known = await was_taken(
                    self._bus, "THREAD", subjects.thread(key), TriggerAppended, unsure.ref.position
                )
                todo = [_knowing(command, unsure.ref.position, known) for command in todo]
        raise AssertionError("each command asks for the history once at most")

    async def _commit(
        self, key: ThreadKey, commands: Sequence[ThreadCommand], commit_id: str
    ) -> Thread:
        now = self._clock.now()
        settled: list[tuple[Disposition, str | None]] = []

        def decide(state: Thread | None) -> Step[Thread, ThreadEvent] | None:
            settled.clear()
            before = state or Thread(key=key)
            taken = decide_all(before, commands, now)
            events = [event for one in taken for event in one.events]
            caused = [
                effect
                for one in taken
                for effect in effects.of_thread(one.before, one.command, one.events)
            ]
            settled.extend(
                (effect.payload, effect.trace)
                for effect in caused
                if isinstance(effect.payload, Disposition)
            )
            return Step(
                events=events,
                state=evolve_all(before, events),
                outbox=[message_of_effect(effect, source=SOURCE) for effect in caused],
            )

        committed: Committed[Thread] = await self._log.transact(key, commit_id, decide)
        if committed.changed:
            self._dispositions.settled(settled)
        return committed.state or Thread(key=key)


def _knowing(command: ThreadCommand, position: int, known: bool) -> ThreadCommand:
    if isinstance(command, AppendTrigger) and command.ref.position == position:
        return command.model_copy(update={"known": known})
    return command
