"""Following the streams into the read model.

Each stream is read past the last message that was applied. Whatever waits, of all streams together,
goes into one transaction with the positions, so a panel that dies at any point goes on where it
was, and nothing is applied twice.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial

from remit.bus.clock import Clock
from remit.bus.errors import BusError, NotAnEvent
from remit.bus.message import Delivery
from remit.bus.ports import Reader
from remit.panel.database import Database, DatabaseDamaged
from remit.panel.live import Live
from remit.panel.readmodel.forgetting import forget
from remit.panel.readmodel.projections import Projection
from remit.panel.readmodel.rows import Projected, UnreadableRow
from remit.panel.readmodel.times import hour_of, micros
from remit.panel.readmodel.writing import Step, store
from remit.runtime.backoff import delays
from remit.runtime.wire import PayloadUnreadable
from remit.telemetry.logs import logger

_BATCH = 500
"""Messages in one transaction at most."""
_ROOM = 1000
"""Messages that wait for the writer at most; then the streams wait."""
_FORGET_EVERY = timedelta(hours=1)
_STUCK_AFTER = timedelta(seconds=60)

Waiting = tuple[Projection, Delivery]


class Projector:
    """The part of the panel that keeps the read model.

    Args:
        bus: The streams.
        database: The read model; it is open.
        live: Told of every change once it can be read.
        projections: What each stream means.
        clock: Paces tries and says when to let go of old rows.
    """

    name = "read-model"

    def __init__(
        self,
        bus: Reader,
        database: Database,
        live: Live,
        projections: Sequence[Projection],
        clock: Clock,
    ) -> None:
        self._bus = bus
        self._database = database
        self._live = live
        self._projections = tuple(projections)
        self._clock = clock
        self._waiting: asyncio.Queue[Waiting] = asyncio.Queue(_ROOM)
        self._stopped = asyncio.Event()
        self._positions: dict[str, int] = {}
        self._targets: dict[str, int] = {}
        self._moved_at: datetime = clock.now()
        self._log = logger("remit.panel.readmodel")

    # -- what it says of itself -------------------------------------------------------------

    @property
    def behind(self) -> Mapping[str, int]:
        """Return, by stream, how much of what was there at the start is still to be read."""
        return {
            stream: target - position
            for stream, target in self._targets.items()
            if (position := self.position_of(stream)) < target
        }

    def position_of(self, stream: str) -> int:
        """Return the place of the last message of ``stream`` that was applied; 0 for none."""
        return self._positions.get(stream, 0)

    def progressing(self) -> bool:
        """Say whether what waits gets written."""
        return self._waiting.empty() or self._clock.now() - self._moved_at < _STUCK_AFTER

    # -- its life ---------------------------------------------------------------------------

    async def run(self) -> None:
        """Follow every stream until stopped."""
        while not self._stopped.is_set():
            with suppress(DatabaseDamaged):
                await self._follow_all()
            if self._database.damaged.is_set():
                self._log.error("the read model is damaged; building it again")
                await self._database.rebuild()

    async def stop(self) -> None:
        """Let `run` return after the transaction in hand."""
        self._stopped.set()

    async def _follow_all(self) -> None:
        await self._resume()
        self._waiting = asyncio.Queue(_ROOM)
        writing = asyncio.create_task(self._write(), name="write read model")
        tasks = {
            writing,
            asyncio.create_task(self._stopped.wait(), name="stop"),
            asyncio.create_task(self._database.damaged.wait(), name="damage"),
            asyncio.create_task(self._forget_now_and_then(), name="forget"),
            *(asyncio.create_task(self._follow(one), name=one.stream) for one in self._projections),
        }
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            task.result()

    # -- where to go on ---------------------------------------------------------------------

    async def _resume(self) -> None:
        """Find where to go on; start anew where a stream is not the one that was read before."""
        kept = await self._database.read(_positions)
        self._targets = {one.stream: await self._last(one) for one in self._projections}
        for projection in self._projections:
            before = kept.get(projection.stream)
            if before is not None and not await self._is_same(projection, *before):
                self._log.warning(
                    "a stream is not the one that was read; building the read model again",
                    stream=projection.stream,
                    position=before[0],
                )
                await self._database.rebuild()
                kept = {}
                break
        self._positions = {stream: position for stream, (position, _) in kept.items()}

    async def _last(self, projection: Projection) -> int:
        try:
            last = await self._bus.last(projection.stream, projection.subject, leader=True)
        except NotAnEvent:
            return 0
        return last.sequence if last else 0

    async def _is_same(self, projection: Projection, position: int, message: str) -> bool:
        """Whether the stream still has, or had, that message at that place."""
        try:
            there = await self._bus.at(projection.stream, position)
        except NotAnEvent:
            return False
        if there is not None:
            return there.message.id == message
        return self._targets[projection.stream] >= position

    # -- reading and writing ----------------------------------------------------------------

    async def _follow(self, projection: Projection) -> None:
        """Put a stream's messages before the writer, for ever."""
        after = self._positions.get(projection.stream, 0)
        away = ""
        waits = delays()
        while True:
            try:
                async for delivery in self._bus.follow(
                    projection.stream, projection.subject, after=after
                ):
                    after = delivery.sequence
                    away, waits = "", delays()
                    await self._waiting.put((projection, delivery))
            except BusError as error:
                if str(error) != away:
                    away = str(error)
                    self._log.warning("waiting", stream=projection.stream, reason=away)
            await self._clock.sleep(next(waits))

    async def _write(self) -> None:
        while True:
            batch = [await self._waiting.get()]
            while len(batch) < _BATCH and not self._waiting.empty():
                batch.append(self._waiting.get_nowait())
            steps = await self._database.write(partial(_apply, batch))
            for step in steps:
                self._positions[step.delivery.stream] = step.delivery.sequence
            self._moved_at = self._clock.now()
            self._live.tell(
                step.projected.change for step in steps if step.projected.change is not None
            )
            for step in steps:
                for row in step.projected.rows:
                    if isinstance(row, UnreadableRow):
                        self._log.error("message passed over", **row._asdict())

    async def _forget_now_and_then(self) -> None:
        while True:
            try:
                hour = hour_of(self._clock.now())
                gone = await forget(self._bus, self._database, self._projections, hour)
                if gone:
                    self._log.info("let go of what the streams no longer hold", rows=gone)
            except BusError as error:
                self._log.warning("old rows stay for now", reason=str(error))
            await self._clock.sleep(_FORGET_EVERY.total_seconds())


def _positions(db: sqlite3.Connection) -> dict[str, tuple[int, str]]:
    rows = db.execute("SELECT stream, position, message FROM positions")
    return {row["stream"]: (row["position"], row["message"]) for row in rows}


def _apply(batch: Sequence[Waiting], db: sqlite3.Connection) -> list[Step]:
    steps = [Step(delivery, _project(projection, delivery)) for projection, delivery in batch]
    store(db, steps)
    return steps


def _project(projection: Projection, delivery: Delivery) -> Projected:
    """Return what a message means; one that cannot be read is noted, and the rest goes on."""
    try:
        return projection.project(delivery)
    except (PayloadUnreadable, NotAnEvent, UnicodeDecodeError) as error:
        unreadable = UnreadableRow(
            stream=delivery.stream,
            position=delivery.sequence,
            subject=delivery.message.subject,
            problem=str(error),
            stored_at=micros(delivery.stored_at),
        )
        return Projected(rows=(unreadable,))
