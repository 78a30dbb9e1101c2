"""Sending webhook deliveries, each once: GitHub does not try again by itself."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import httpx

from .faults import Delay, Drop, Duplicate, Faults, Reorder
from .state import Delivery, State

_LOG_LIMIT = 65_536


@dataclass(frozen=True)
class Answer:
    """What a webhook receiver answered, or why there is no answer."""

    status: str
    status_code: int
    headers: dict[str, str]
    body: str


class Sender(Protocol):
    """Carries one delivery to its receiver."""

    async def send(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        """Post a body and return the answer; a receiver that cannot be reached is an answer too."""


class HttpSender:
    """Sends over HTTP with a limit on the time a receiver has."""

    def __init__(self, *, timeout: float) -> None:
        self._client = httpx.AsyncClient(timeout=timeout, follow_redirects=False, trust_env=False)

    async def send(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        """Post a body; see `Sender.send`."""
        try:
            answer = await self._client.post(url, headers=headers, content=body)
        except httpx.TimeoutException:
            return Answer("timed out", 504, {}, "")
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return Answer("failed to connect to host", 502, {}, str(error))
        status = "OK" if answer.is_success else f"Invalid HTTP Response: {answer.status_code}"
        return Answer(status, answer.status_code, dict(answer.headers), answer.text[:_LOG_LIMIT])

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()


class Dispatcher:
    """Sends what is in the delivery log and not done, in order for each hook.

    Args:
        state: Holds the delivery log.
        sender: Carries the deliveries.
        faults: Says what is to go wrong with them.
        clock: Stamps each attempt.
        changed: Called after each attempt, so that the log can be written down.
        kept: How many deliveries the log keeps; the oldest go first.
    """

    def __init__(
        self,
        state: State,
        *,
        sender: Sender,
        faults: Faults,
        clock: Callable[[], datetime],
        new_guid: Callable[[], str],
        changed: Callable[[], None],
        kept: int,
    ) -> None:
        self._state = state
        self._sender = sender
        self._faults = faults
        self._clock = clock
        self._new_guid = new_guid
        self._changed = changed
        self._kept = kept
        self._queues: dict[int, asyncio.Queue[int]] = {}
        self._workers: set[asyncio.Task[None]] = set()
        self._timers: set[asyncio.TimerHandle] = set()
        self._held: list[int] = []
        self._waiting: set[int] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    def enqueue(self, delivery: Delivery) -> None:
        """Log a new delivery and send it soon, as the faults in force would have it."""
        self._log(delivery)
        fault = self._faults.for_delivery(delivery.event)
        match fault:
            case Drop():
                self._finish(
                    delivery, Answer("failed to connect to host", 502, {}, ""), seconds=0.0
                )
                delivery.hidden = fault.hidden
            case Delay():
                self._later(delivery.id, fault.seconds)
            case Reorder():
                self._held.append(delivery.id)
                if len(self._held) >= fault.window or not fault.times:
                    self.release()
            case Duplicate():
                self._now(delivery.id)
                for _ in range(fault.copies):
                    copy = delivery.model_copy(deep=True)
                    copy.id = self._state.next_id("delivery")
                    if not fault.same_guid:
                        copy.guid = self._new_guid()
                        copy.request_headers["X-GitHub-Delivery"] = copy.guid
                    self._log(copy)
                    self._now(copy.id)
            case None:
                self._now(delivery.id)

    def redeliver(self, delivery: Delivery) -> None:
        """Log another attempt of a delivery and send it soon; no fault bears on it."""
        self._log(delivery)
        self._now(delivery.id)

    def resume(self) -> None:
        """Send what an earlier process logged and did not send."""
        for delivery in list(self._state.deliveries.values()):
            if not delivery.done:
                self._now(delivery.id)

    def release(self) -> None:
        """Send the deliveries that are held back for another order, last first."""
        held, self._held = self._held, []
        for delivery_id in reversed(held):
            self._now(delivery_id)

    async def settle(self) -> None:
        """Wait until nothing is queued, delayed, or on its way."""
        self.release()
        await self._idle.wait()

    async def close(self) -> None:
        """Stop sending; what is not sent stays in the log and is sent by the next process."""
        for timer in self._timers:
            timer.cancel()
        for worker in self._workers:
            worker.cancel()
        await asyncio.gather(*self._workers, return_exceptions=True)

    async def forget(self) -> None:
        """Stop sending and leave nothing waiting, before the log itself is emptied."""
        await self.close()
        self._timers.clear()
        self._workers.clear()
        self._queues.clear()
        self._held.clear()
        self._waiting.clear()
        self._idle.set()

    def _log(self, delivery: Delivery) -> None:
        self._state.deliveries[delivery.id] = delivery
        while len(self._state.deliveries) > self._kept:
            oldest = next(iter(self._state.deliveries.values()))
            if not oldest.done:
                break
            del self._state.deliveries[oldest.id]

    def _later(self, delivery_id: int, seconds: float) -> None:
        self._expect(delivery_id)
        loop = asyncio.get_running_loop()

        def due() -> None:
            self._timers.discard(timer)
            self._now(delivery_id)

        timer = loop.call_later(seconds, due)
        self._timers.add(timer)

    def _now(self, delivery_id: int) -> None:
        self._expect(delivery_id)
        hook_id = self._state.deliveries[delivery_id].hook_id
        queue = self._queues.get(hook_id)
        if queue is None:
            queue = self._queues[hook_id] = asyncio.Queue()
            worker = asyncio.create_task(self._work(queue), name=f"deliveries of hook {hook_id}")
            self._workers.add(worker)
        queue.put_nowait(delivery_id)

    def _expect(self, delivery_id: int) -> None:
        self._waiting.add(delivery_id)
        self._idle.clear()

    async def _work(self, queue: asyncio.Queue[int]) -> None:
        loop = asyncio.get_running_loop()
        while True:
            delivery_id = await queue.get()
            delivery = self._state.deliveries.get(delivery_id)
            if delivery is not None and not delivery.done:
                started = loop.time()
                delivery.delivered_at = self._clock()
                answer = await self._sender.send(
                    delivery.url, delivery.request_headers, delivery.payload.encode()
                )
                self._finish(delivery, answer, seconds=loop.time() - started)
            self._waiting.discard(delivery_id)
            if not self._waiting:
                self._idle.set()

    def _finish(self, delivery: Delivery, answer: Answer, *, seconds: float) -> None:
        delivery.status = answer.status
        delivery.status_code = answer.status_code
        delivery.response_headers = answer.headers
        delivery.response_body = answer.body
        delivery.duration = round(seconds, 2)
        delivery.done = True
        self._changed()
