"""Workers: messages of a durable consumer, worked on and settled.

A worker fetches no more than it works on, keeps what it holds with heartbeats, works on the
messages of one key in order and together, and on different keys at the same time. A delivery
ends in one of three ways: done, put back, or given up on with a dead letter.

While a neighbour is away, deliveries stay in hand and are tried again here: nothing is given
up on because something else is down, and the outage uses up no attempts.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from opentelemetry.trace import TracerProvider

from remit.bus import tracing
from remit.bus.clock import Clock, SystemClock, sleep_unless
from remit.bus.errors import BusUnavailable, StreamMismatch
from remit.bus.handling import Handling, retry_delay
from remit.bus.message import Delivery
from remit.bus.ports import Bus, Consumer, Handler, Later, Pull, Taken
from remit.bus.settling import Settler
from remit.telemetry.logs import logger

_SILENCE = timedelta(seconds=60)
"""How long a pull may be silent on a connection that looks healthy. The server beats every few
seconds and a silent pull is renewed long before this; past it, something is stuck (D5)."""


def by_subject(delivery: Delivery) -> str:
    """Key a delivery by its subject: what a subject names is worked on in order."""
    return delivery.message.subject


class Worker:
    """Works on the messages of one durable consumer.

    Args:
        bus: Where the messages are.
        consumer: Which ones. It is created if it is missing.
        handler: Works on them.
        key: Which deliveries are worked on one after the other. A key's deliveries that wait
            together are passed together. Must not raise.
        concurrency: How many keys are worked on at the same time.
        batch: How many deliveries of a key are passed together at most.
        away: Exceptions of the handler that mean that a neighbour is away.
        drain: How long `stop` lets handlers finish before they are cancelled and put back.
        longest: How long a handler may take before the worker counts as stuck.
        clock: Paces heartbeats, tries and the drain.
        tracer_provider: Where spans go; the process's own unless given.
    """

    def __init__(
        self,
        bus: Bus,
        consumer: Consumer,
        handler: Handler,
        *,
        key: Callable[[Delivery], str] = by_subject,
        concurrency: int = 16,
        batch: int = 32,
        away: tuple[type[Exception], ...] = (BusUnavailable,),
        drain: timedelta = timedelta(seconds=20),
        longest: timedelta = timedelta(minutes=10),
        clock: Clock | None = None,
        tracer_provider: TracerProvider | None = None,
    ) -> None:
        self._bus = bus
        self._consumer = consumer
        self._key = key
        self._window = concurrency + batch - 1
        self._batch = batch
        self._drain = drain
        self._longest = longest
        self._clock = clock or SystemClock()
        self._slots = asyncio.Semaphore(concurrency)
        self._lanes: dict[str, deque[Taken]] = {}
        self._running: dict[asyncio.Task[None], str] = {}
        self._in_hand: dict[Taken, datetime] = {}
        self._pull: Pull | None = None
        self._started = False
        self._stopping = asyncio.Event()
        self._ended = asyncio.Event()
        self._worked_at = self._clock.now()
        self._log = logger("remit.bus.worker").bind(consumer=consumer.name)
        self._settler = Settler(bus, consumer)
        self._handling = Handling(
            handler,
            consumer=consumer,
            away=away,
            stopping=self._stopping,
            clock=self._clock,
            tracer=tracing.tracer_of(tracer_provider),
        )

    @property
    def name(self) -> str:
        """What it is called: its consumer's name."""
        return self._consumer.name

    @property
    def last_progress(self) -> datetime:
        """When the server was last heard, or a message was last worked on."""
        return max(self._worked_at, self._pull.heard_at) if self._pull else self._worked_at

    def progressing(self) -> bool:
        """Say whether it moves. Waiting for a bus that is known to be away is no sign against it."""
        now = self._clock.now()
        if any(now - since > self._longest for since in self._in_hand.values()):
            return False
        if len(self._in_hand) >= self._window:
            return True
        return now - self.last_progress <= _SILENCE

    async def run(self) -> None:
        """Work until `stop`."""
        self._started = True
        beating = asyncio.create_task(self._beat(), name=f"beat {self.name}")
        try:
            self._pull = await self._open()
            while self._pull is not None and not self._stopping.is_set():
                self._accept(await self._pull.take())
                # What came is started before more is taken, also where taking never waits.
                await asyncio.sleep(0)
            await self._finish()
        finally:
            if self._pull is not None:
                await self._put_back(await self._pull.stop())
            late = [beating, *self._running]
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
            self._ended.set()

    async def stop(self) -> None:
        """Take nothing new, finish or put back what is in hand, and let `run` return."""
        self._stopping.set()
        if self._pull is not None:
            await self._put_back(await self._pull.stop())
        if self._started:
            await self._ended.wait()

    # -- taking -------------------------------------------------------------------------

    async def _open(self) -> Pull | None:
        tries = 0
        while not self._stopping.is_set():
            try:
                pull = await self._bus.pull(self._consumer, window=self._window)
            except (BusUnavailable, StreamMismatch) as error:
                if tries == 0:
                    self._log.warning("cannot receive yet", reason=str(error))
                await sleep_unless(self._stopping, self._clock, retry_delay(tries))
                self._worked_at = self._clock.now()
                tries += 1
                continue
            if tries:
                self._log.info("receives now")
            if self._stopping.is_set():
                await self._put_back(await pull.stop())
            return pull
        return None

    def _accept(self, taken: Iterable[Taken]) -> None:
        for one in taken:
            key = self._key_of(one)
            self._in_hand[one] = self._clock.now()
            if key in self._lanes:
                self._lanes[key].append(one)
            else:
                self._lanes[key] = deque([one])
                self._start(key)

    def _start(self, key: str) -> None:
        task = asyncio.create_task(self._work_lane(key), name=f"work {self.name}")
        self._running[task] = key
        task.add_done_callback(self._lane_ended)

    async def _work_lane(self, key: str) -> None:
        lane = self._lanes[key]
        async with self._slots:
            while lane and not self._stopping.is_set():
                batch = [lane.popleft() for _ in range(min(len(lane), self._batch))]
                await self._work(batch)
                self._worked_at = self._clock.now()

    def _lane_ended(self, task: asyncio.Task[None]) -> None:
        key = self._running.pop(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            # A defect, since neither handlers nor settling raise. What was in the lane comes
            # again after ack_wait, and the worker goes on with the others.
            self._log.error("a lane failed", key=key, exc_info=error)
            for one in [one for one in self._in_hand if self._key_of(one) == key]:
                del self._in_hand[one]
        elif self._lanes[key] and not self._stopping.is_set():
            # Something came between the lane's last look and its end.
            self._start(key)
            return
        del self._lanes[key]

    # -- working ------------------------------------------------------------------------

    async def _work(self, batch: Sequence[Taken]) -> None:
        now = self._clock.now()
        sound: list[Taken] = []
        for one in batch:
            self._in_hand[one] = now
            fault = self._fault_of(one)
            if fault is None:
                sound.append(one)
                continue
            await self._settler.give_up(one, fault)
            self._in_hand.pop(one, None)
        if not sound:
            return
        outcomes = await self._handling.outcomes([one.delivery for one in sound])
        for one, outcome in zip(sound, outcomes, strict=True):
            if self._stopping.is_set() and isinstance(outcome, Later):
                continue  # Put back at the end of the drain, whatever the attempt.
            await self._settler.settle(one, outcome)
            self._in_hand.pop(one, None)

    def _fault_of(self, taken: Taken) -> str | None:
        if taken.fault is not None:
            return str(taken.fault)
        if taken.delivery.attempt > self._consumer.attempts:
            # Whoever had it never settled it: a message that kills its workers.
            return f"no attempt of {self._consumer.attempts} came to an end"
        return None

    def _key_of(self, taken: Taken) -> str:
        key = by_subject if taken.fault is not None else self._key
        return key(taken.delivery)

    # -- keeping and ending -------------------------------------------------------------

    async def _beat(self) -> None:
        every = self._consumer.ack_wait.total_seconds() / 3
        while True:
            await self._clock.sleep(every)
            if not self._bus.ready():
                self._worked_at = self._clock.now()
                continue
            for one in list(self._in_hand):
                if one in self._in_hand:
                    await one.working()

    async def _finish(self) -> None:
        """Put back what waits, let handlers end within the drain, put back the rest."""
        for lane in self._lanes.values():
            waiting = list(lane)
            lane.clear()
            await self._put_back(waiting)
        running = set(self._running)
        if running:
            limit = asyncio.ensure_future(self._clock.sleep(self._drain.total_seconds()))
            ending = asyncio.ensure_future(asyncio.wait(running))
            await asyncio.wait({limit, ending}, return_when=asyncio.FIRST_COMPLETED)
            limit.cancel()
            ending.cancel()
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        if self._in_hand:
            self._log.warning("puts back what it could not finish", deliveries=len(self._in_hand))
        await self._put_back(list(self._in_hand))

    async def _put_back(self, taken: Iterable[Taken]) -> None:
        for one in taken:
            self._in_hand.pop(one, None)
            await one.put_back(timedelta(0))
