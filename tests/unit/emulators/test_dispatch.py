"""Deliveries are sent once each, in order, and what was not sent stays in the log."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from remit.emulators.github.dispatch import Answer, Dispatcher
from remit.emulators.github.faults import Faults
from remit.emulators.github.state import Delivery, State

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Recorder:
    """A sender that keeps what it is given, and may be made to hang."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.open = asyncio.Event()
        self.open.set()

    async def send(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        await self.open.wait()
        self.sent.append(body.decode())
        return Answer("OK", 200, {}, "ok")


def dispatcher(state: State, sender: Recorder, *, kept: int = 100) -> Dispatcher:
    return Dispatcher(
        state,
        sender=sender,
        faults=Faults(),
        clock=lambda: NOW,
        new_guid=lambda: "new",
        changed=lambda: None,
        kept=kept,
    )


def delivery(number: int, *, hook: int = 1) -> Delivery:
    return Delivery(
        id=number,
        guid=f"guid-{number}",
        hook_id=hook,
        repository_id=1,
        event="issues",
        action="opened",
        url="http://receiver.example",
        delivered_at=NOW,
        request_headers={},
        payload=str(number),
    )


async def test_deliveries_of_one_hook_are_sent_in_order() -> None:
    state, sender = State(), Recorder()
    sending = dispatcher(state, sender)
    for number in range(5):
        sending.enqueue(delivery(number))
    await sending.settle()
    assert sender.sent == ["0", "1", "2", "3", "4"]
    assert all(it.done and it.status == "OK" for it in state.deliveries.values())
    await sending.close()


async def test_what_was_not_sent_is_sent_by_the_next_process() -> None:
    state, sender = State(), Recorder()
    sender.open.clear()
    first = dispatcher(state, sender)
    first.enqueue(delivery(1))
    first.enqueue(delivery(2))
    await asyncio.sleep(0)
    await first.close()
    assert [it.done for it in state.deliveries.values()] == [False, False]
    sender.open.set()
    second = dispatcher(state, sender)
    second.resume()
    await second.settle()
    assert sender.sent == ["1", "2"]
    await second.close()


async def test_the_log_forgets_the_oldest_that_were_sent() -> None:
    state, sender = State(), Recorder()
    sending = dispatcher(state, sender, kept=3)
    for number in range(6):
        sending.enqueue(delivery(number))
        await sending.settle()
    assert list(state.deliveries) == [3, 4, 5]
    await sending.close()


async def test_forgetting_leaves_nothing_waiting() -> None:
    state, sender = State(), Recorder()
    sender.open.clear()
    sending = dispatcher(state, sender)
    sending.enqueue(delivery(1))
    await sending.forget()
    state.deliveries.clear()
    sender.open.set()
    await sending.settle()
    sending.enqueue(delivery(1))
    await sending.settle()
    assert sender.sent == ["1"]
    await sending.close()
