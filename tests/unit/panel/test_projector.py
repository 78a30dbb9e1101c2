"""Following the streams: nothing applied twice, nothing lost, everything built again when need be."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from remit.bus.memory import MemoryBus
from remit.bus.streams import STREAMS
from remit.domain.disposition import Disposition, DispositionKind, FilterReason
from remit.runtime.wire import message_of
from support.domain import HOME, MALLORY, NOW, trigger
from support.memory_services import MemoryServices
from support.panel import PanelUnderTest, running_panel


async def work(services: MemoryServices, first: int, last: int) -> None:
    for number in range(first, last + 1):
        await services.publish(trigger(number, actor=MALLORY if number % 2 else trigger(1).actor))
        await services.settle()


async def everything(panel: PanelUnderTest, count: int) -> list[object]:
    """Return all that the panel says of the first ``count`` Triggers and what came of them."""
    await panel.read_up()
    said: list[object] = [await panel.get(f"/api/threads/{HOME}"), await panel.get("/api/policy")]
    said.extend([await panel.get("/api/overview"), await panel.get("/api/triggers")])
    said.extend(
        [await panel.get(f"/api/triggers/{trigger(number).id}") for number in range(1, count + 1)]
    )
    tickets = await panel.get("/api/tickets")
    said.append(tickets)
    said.extend([await panel.get(f"/api/tickets/{one['id']}") for one in tickets["items"]])
    return said


async def test_a_panel_that_starts_again_goes_on_where_it_was(services, tmp_path):
    await work(services, 1, 3)
    async with running_panel(services.bus, tmp_path, services.clock) as first:
        await first.read_up()
    await work(services, 4, 6)
    async with running_panel(services.bus, tmp_path, services.clock) as second:
        resumed = await everything(second, 6)
    async with running_panel(services.bus, tmp_path / "..", services.clock) as fresh:
        assert await everything(fresh, 6) == resumed
    assert resumed[2]["triggers"] == {"github": 6}


async def test_a_read_model_that_was_deleted_is_built_again_and_says_the_same(services, tmp_path):
    await work(services, 1, 5)
    async with running_panel(services.bus, tmp_path, services.clock) as panel:
        before = await everything(panel, 5)
    for file in (tmp_path / "data").glob("readmodel*"):
        file.unlink()
    async with running_panel(services.bus, tmp_path, services.clock) as panel:
        assert await everything(panel, 5) == before


async def test_a_read_model_of_another_schema_is_built_again(services, tmp_path):
    await work(services, 1, 2)
    async with running_panel(services.bus, tmp_path, services.clock) as panel:
        before = await everything(panel, 2)
    with sqlite3.connect(tmp_path / "data" / "readmodel.sqlite") as db:
        db.execute("PRAGMA user_version = 999999")
        db.execute("DROP TABLE triggers")
    db.close()
    async with running_panel(services.bus, tmp_path, services.clock) as panel:
        assert await everything(panel, 2) == before


async def test_damage_while_it_runs_is_noticed_and_put_right(services, tmp_path):
    await work(services, 1, 4)
    async with running_panel(services.bus, tmp_path, services.clock) as panel:
        before = await everything(panel, 4)
    path = tmp_path / "data" / "readmodel.sqlite"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * (size - 8192))
    async with running_panel(services.bus, tmp_path, services.clock) as panel:
        assert await everything(panel, 4) == before


async def test_streams_that_are_not_the_ones_that_were_read_are_read_from_the_start(tmp_path):
    before, after = MemoryServices(), MemoryServices()
    await before.apply()
    await work(before, 1, 5)
    async with running_panel(before.bus, tmp_path, before.clock) as panel:
        await panel.read_up()
    await after.apply()
    await work(after, 7, 8)
    async with running_panel(after.bus, tmp_path, after.clock) as panel:
        await panel.read_up()
        known = await panel.get("/api/triggers")
        assert [one["id"] for one in known["items"]] == [trigger(8).id, trigger(7).id]
        await panel.get(f"/api/triggers/{trigger(1).id}", 404)


async def test_a_message_that_cannot_be_read_is_named_and_stops_nothing(services, panel):
    services.bus.store_raw(
        "trigger.github.x.y",
        {"ce-specversion": "1.0", "ce-id": "odd", "ce-type": "remit.trigger", "ce-source": "/x"},
        b'{"id": 3}',
    )
    await services.publish(trigger(1))
    await panel.read_up()
    needs = (await panel.get("/api/overview"))["needs_person"]
    assert needs["counts"]["unreadable"] == 1
    assert needs["unreadable"][0]["stream"] == "TRIGGER"
    assert "odd" in needs["unreadable"][0]["problem"]
    assert (await panel.get(f"/api/triggers/{trigger(1).id}"))["trigger"]["id"] == trigger(1).id


@pytest.mark.parametrize("trigger_first", [True, False])
async def test_a_trigger_and_its_disposition_meet_whichever_comes_first(
    services, panel, trigger_first
):
    one = trigger(1)
    disposition = Disposition(
        trigger=one.id,
        thread=HOME,
        kind=DispositionKind.FILTERED,
        reason=FilterReason.NOT_LISTENED_TO,
        at=NOW,
    )
    messages = [
        message_of(one, id=one.id, source="t"),
        message_of(disposition, id=f"{one.id}/filtered", source="t"),
    ]
    for message in messages if trigger_first else messages[::-1]:
        await services.bus.publish(message)
        await panel.read_up()
    await services.clock.advance(3600)
    needs = (await panel.get("/api/overview"))["needs_person"]
    assert needs["unsettled"] == []
    assert (await panel.get(f"/api/triggers/{one.id}"))["settled"] is True
    assert [one["id"] for one in (await panel.get("/api/triggers?settled=false"))["items"]] == []


@pytest.mark.rule("TRG-4")
async def test_a_trigger_without_a_disposition_is_listed_once_it_is_overdue(services, panel):
    await services.publish(trigger(1))
    await panel.read_up()
    overview = await panel.get("/api/overview")
    assert overview["needs_person"]["unsettled"] == []
    await services.clock.advance(61)
    overview = await panel.get("/api/overview")
    assert [one["id"] for one in overview["needs_person"]["unsettled"]] == [trigger(1).id]
    await services.settle()
    await panel.read_up()
    assert (await panel.get("/api/overview"))["needs_person"]["unsettled"] == []


async def test_what_the_streams_let_go_of_goes_from_the_read_model_too(tmp_path):
    kept = timedelta(days=2)
    short = [replace(one, max_age=kept) if one.max_age else one for one in STREAMS]
    services = MemoryServices()
    services.bus = MemoryBus(streams=short, clock=services.clock)
    await services.publish(trigger(1, text="gone words"))
    await services.clock.advance(timedelta(days=3).total_seconds())
    await services.publish(trigger(2, text="new words"))
    async with running_panel(services.bus, tmp_path, services.clock) as panel:
        await panel.read_up()
    await services.clock.advance(timedelta(days=1).total_seconds())
    await services.publish(trigger(3, text="newer words"))
    await services.clock.advance(timedelta(days=1.5).total_seconds())
    async with running_panel(services.bus, tmp_path, services.clock) as panel:
        await panel.read_up()
        await services.clock.advance(3600)
        while (await panel.get("/api/triggers"))["items"][-1]["id"] != trigger(3).id:
            await services.clock.advance(0)
        await panel.get(f"/api/triggers/{trigger(2).id}", 404)
        found = await panel.get("/api/triggers", q="words")
        assert [one["id"] for one in found["items"]] == [trigger(3).id]
        assert [one["id"] for one in (await panel.get(f"/api/threads/{HOME}"))["triggers"]] == [
            trigger(3).id
        ]


async def test_a_second_panel_on_the_same_folder_is_refused(services, tmp_path: Path):
    from remit.panel.app import DataFolderInUse

    async with running_panel(services.bus, tmp_path):
        with pytest.raises(DataFolderInUse, match="REMIT_PANEL_DATA_DIR"):
            async with running_panel(services.bus, tmp_path):
                raise AssertionError("it must not start")
