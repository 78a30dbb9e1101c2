"""Telling watchers what changed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from remit.panel.api.events import event_stream, pulse
from remit.panel.live import Change, ChangeKind, Live

AT = datetime(2026, 3, 1, tzinfo=UTC)


def change(id: str, kind: ChangeKind = ChangeKind.TRIGGER, about: tuple[str, ...] = ()) -> Change:
    return Change(kind=kind, id=id, at=AT, about=about, facts={"title": "Ein Fehler\n\n: <b>"})


async def test_a_watcher_hears_what_comes_after_it_began_to_watch():
    live = Live()
    live.tell([change("before")])
    with live.watch() as watch:
        live.tell([change("a"), change("b")])
        assert [(await watch.next()).id, (await watch.next()).id] == ["a", "b"]
    live.tell([change("after")])


@pytest.mark.parametrize(
    ("kinds", "about", "heard"),
    [
        ((), None, ["t1", "k1", "t2"]),
        ((ChangeKind.TICKET,), None, ["k1"]),
        ((), "t1", ["t1", "k1"]),
        ((ChangeKind.TRIGGER,), "thread", ["t2"]),
    ],
)
async def test_a_watcher_hears_only_what_it_asked_for(kinds, about, heard):
    live = Live()
    with live.watch(kinds=kinds, about=about) as watch:
        live.tell([change("t1"), change("k1", ChangeKind.TICKET, ("t1",))])
        live.tell([change("t2", about=("thread",))])
        assert [(await watch.next()).id for _ in heard] == heard
        assert await watch.next(0.001) is None


async def test_a_watcher_that_is_too_slow_is_told_that_it_missed_something_and_costs_no_memory():
    live = Live(room=3)
    with live.watch() as watch:
        live.tell(change(str(number)) for number in range(10))
        heard = [await watch.next() for _ in range(4)]
    assert [one.id for one in heard[:3]] == ["0", "1", "2"]
    assert heard[3].kind is ChangeKind.MISSED


async def test_every_watcher_goes_when_the_panel_closes():
    live = Live(room=1)
    with live.watch() as watch:
        live.tell([change("a")])
        live.close()
        assert (await watch.next()).id == "a"
        assert await watch.next() is None
    with live.watch() as late:
        assert await late.next() is None


async def read(stream: AsyncIterator[bytes], count: int) -> list[str]:
    return [(await anext(stream)).decode() for _ in range(count)]


async def test_changes_are_sent_as_events_with_their_facts_on_one_line():
    live = Live()
    stream = event_stream(live, kinds=[ChangeKind.TRIGGER]).body_iterator
    assert await read(stream, 1) == ["event: hello\ndata: {}\n\n"]
    live.tell([change("x", ChangeKind.TICKET), change("t1", about=("thread",))])
    (event,) = await read(stream, 1)
    name, data = event.removesuffix("\n\n").split("\n")
    assert name == "event: trigger"
    sent = json.loads(data.removeprefix("data: "))
    assert (sent["id"], sent["about"], sent["at"]) == ("t1", ["thread"], AT.isoformat())
    assert sent["facts"] == {"title": "Ein Fehler\n\n: <b>"}
    live.close()
    with pytest.raises(StopAsyncIteration):
        await read(stream, 2)


async def test_a_page_hears_once_of_many_changes_and_of_none_too_few():
    live = Live()
    stream = pulse(live, about="t1", every=0).body_iterator
    await read(stream, 1)
    live.tell([change("t1")] * 500)
    assert await read(stream, 1) == ["event: changed\ndata: {}\n\n"]
    live.tell([change("other"), change("t1")])
    assert await read(stream, 1) == ["event: changed\ndata: {}\n\n"]
    live.close()
    with pytest.raises(StopAsyncIteration):
        await read(stream, 2)
