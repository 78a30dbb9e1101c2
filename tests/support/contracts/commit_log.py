"""What a commit log must do over any bus. A test module provides the fixture ``world``."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import datetime

import pytest

from remit.bus import subjects
from remit.bus.commits import Step
from remit.bus.errors import BusUnavailable, Contended, NotAnEvent
from remit.bus.message import Message, Stored
from remit.bus.outbox import caused_by
from support.contracts.bus import World, message, unique
from support.counting import Added, Cleared, Count, add, count_log
from support.faulty import FaultyBus


class CommitLogContract:
    """The shared suite."""

    async def test_nothing_committed_is_no_state_at_sequence_zero(self, world: World) -> None:
        held = await count_log(world.bus).load(unique())
        assert (held.state, held.sequence, held.changed) == (None, 0, False)

    async def test_a_commit_is_one_message_with_events_outbox_and_state(self, world: World) -> None:
        key = unique()
        ask = message(subjects.eval_request(key))
        ring = replace(message(subjects.command_thread(key), data=b"\xff"), deliver_at=world.now())
        held = await count_log(world.bus).transact(key, "c1", add("ann", (ask, ring)))
        assert held.changed
        assert held.state == Count(total=1, by=("ann",))
        commits = [one async for one in world.bus.history("THREAD", subjects.thread(key))]
        assert [one.sequence for one in commits] == [held.sequence]
        stored = commits[0].message
        record = json.loads(stored.data)
        assert (record["id"], stored.type) == ("c1", "remit.count.commit")
        assert datetime.fromisoformat(record["at"]).tzinfo is not None
        assert record["events"] == [{"kind": "added", "who": "ann"}]
        assert record["state"] == {"total": 1, "by": ["ann"]}
        assert list(caused_by(commits[0])) == [
            replace(ask, commit=held.sequence),
            replace(ring, commit=held.sequence),
        ]

    async def test_another_process_loads_what_was_committed(self, world: World) -> None:
        key = unique()
        done = await count_log(world.bus).transact(key, "c1", add("ann"))
        for leader in (False, True):
            held = await count_log(world.other).load(key, leader=leader)
            assert (held.state, held.sequence) == (done.state, done.sequence)

    async def test_deciding_on_nothing_commits_nothing(self, world: World) -> None:
        log, key = count_log(world.bus), unique()
        await log.transact(key, "c1", add("ann"))
        held = await log.transact(key, "c2", add("ann"))
        assert not held.changed
        assert held.state == Count(total=1, by=("ann",))

    async def test_what_a_decision_raises_is_passed_on(self, world: World) -> None:
        def decide(count: Count | None) -> None:
            raise RuntimeError("refused")

        with pytest.raises(RuntimeError, match="refused"):
            await count_log(world.bus).transact(unique(), "c1", decide)

    async def test_racing_processes_lose_no_commit(self, world: World) -> None:
        key = unique()
        logs = [count_log(bus, tries=30) for bus in (world.bus, world.other, world.bus)]
        names = [f"{n}-{m}" for n in range(3) for m in range(5)]
        racing = asyncio.gather(
            *(logs[int(name[0])].transact(key, name, add(name)) for name in names)
        )
        while not racing.done():
            await world.pass_time(0.05)
        held = await count_log(world.bus).load(key)
        assert held.state is not None
        assert held.state.total == 15
        assert sorted(held.state.by) == sorted(names)

    async def test_a_stale_cache_costs_a_conflict_and_never_a_commit(self, world: World) -> None:
        key = unique()
        bus = FaultyBus(world.bus)
        stale, other = count_log(bus), count_log(world.other)
        await stale.transact(key, "c1", add("ann"))
        await other.transact(key, "c2", add("ben"))
        held = await stale.transact(key, "c3", add("cleo"))
        assert held.state == Count(total=3, by=("ann", "ben", "cleo"))
        assert (bus.calls["replace"], bus.calls["leader"]) == (3, 1)

    async def test_a_hot_aggregate_is_not_loaded_again(self, world: World) -> None:
        bus, key = FaultyBus(world.bus), unique()
        log = count_log(bus)
        for number in range(5):
            await log.transact(key, f"c{number}", add(str(number)))
        assert (bus.calls["last"], bus.calls["leader"], bus.calls["replace"]) == (1, 0, 5)

    async def test_doing_nothing_is_decided_on_what_the_leader_says(self, world: World) -> None:
        key = unique()
        stale, other = count_log(world.bus), count_log(world.other)
        await stale.transact(key, "c1", add("ann"))
        await other.transact(key, "c2", lambda count: _step(Cleared(), Count(total=0, by=())))
        held = await stale.transact(key, "c3", add("ann"))
        assert held.changed
        assert held.state == Count(total=1, by=("ann",))

    async def test_a_refusal_is_decided_on_what_the_leader_says(self, world: World) -> None:
        key = unique()
        stale, other = count_log(world.bus), count_log(world.other)
        await stale.transact(key, "c1", add("ann"))
        await other.transact(key, "c2", add("ben"))

        def refuse_below_two(count: Count | None) -> Step[Count, Added | Cleared]:
            if count is None or count.total < 2:
                raise RuntimeError("too few")
            return _step(Added(who="cleo"), Count(total=3, by=(*count.by, "cleo")))

        held = await stale.transact(key, "c3", refuse_below_two)
        assert held.state is not None
        assert held.state.total == 3

    @pytest.mark.field("B12")
    async def test_a_commit_whose_answer_was_lost_is_found_and_not_made_again(
        self, world: World
    ) -> None:
        bus, key = FaultyBus(world.bus), unique()
        log = count_log(bus)
        bus.lose_answers = 1
        held = await log.transact(key, "c1", add("ann"))
        assert held.changed
        assert held.state == Count(total=1, by=("ann",))
        assert bus.calls["replace"] == 1

    async def test_a_commit_that_never_arrived_is_made_again(self, world: World) -> None:
        bus, key = FaultyBus(world.bus), unique()
        bus.lose_writes = 1
        held = await count_log(bus).transact(key, "c1", add("ann"))
        assert held.state == Count(total=1, by=("ann",))

    async def test_a_bus_that_stays_away_is_told_and_the_same_call_is_safe(
        self, world: World
    ) -> None:
        bus, key = FaultyBus(world.bus), unique()
        log = count_log(bus)
        bus.lose_writes = 5
        with pytest.raises(BusUnavailable):
            await log.transact(key, "c1", add("ann"))
        held = await log.transact(key, "c1", add("ann"))
        assert held.state == Count(total=1, by=("ann",))

    async def test_the_same_commit_again_is_recognised_without_deciding(self, world: World) -> None:
        key = unique()
        await count_log(world.bus).transact(key, "c1", add("ann"))

        def never(count: Count | None) -> None:
            raise AssertionError("decided again")

        held = await count_log(world.other).transact(key, "c1", never)
        assert held.changed

    async def test_the_same_commit_again_is_recognised_after_others_came(
        self, world: World
    ) -> None:
        key = unique()

        def add_always(count: Count | None) -> Step[Count, Added | Cleared]:
            total = count.total if count else 0
            return _step(Added(who="ann"), Count(total=total + 1))

        log = count_log(world.bus)
        await log.transact(key, "c1", add_always)
        await log.transact(key, "c2", add_always)
        held = await log.transact(key, "c1", add_always)
        assert held.changed
        assert held.state is not None
        assert held.state.total == 2

    @pytest.mark.field("B12")
    async def test_one_cause_may_commit_on_several_aggregates(self, world: World) -> None:
        log, one, other = count_log(world.bus), unique(), unique()
        for key in (one, other):
            held = await log.transact(key, "c1", add("ann"))
            assert held.state == Count(total=1, by=("ann",))

    async def test_losing_every_race_is_told(self, world: World) -> None:
        key = unique()
        other = count_log(world.other)
        ahead = 0

        class Overtaken(FaultyBus):
            async def replace(self, message: Message, *, expected: int) -> Stored:
                nonlocal ahead
                ahead += 1
                await other.transact(key, f"o{ahead}", add(f"o{ahead}"))
                return await super().replace(message, expected=expected)

        racing = asyncio.ensure_future(
            count_log(Overtaken(world.bus), tries=3).transact(key, "c1", add("ann"))
        )
        while not racing.done():
            await world.pass_time(0.05)
        with pytest.raises(Contended) as contended:
            await racing
        assert contended.value.tries == 3
        assert contended.value.subject == subjects.thread(key)

    async def test_a_commit_that_cannot_be_read_names_its_place(self, world: World) -> None:
        key = unique()
        stored = await world.bus.publish(message(subjects.thread(key), data=b"{}"))
        with pytest.raises(NotAnEvent, match=f"commit {stored.sequence}"):
            await count_log(world.bus).load(key)

    async def test_a_later_version_may_have_more_to_say(self, world: World) -> None:
        key = unique()
        data = json.dumps(
            {
                "id": "c9",
                "at": "2030-01-01T00:00:00Z",
                "events": [{"kind": "unheard of"}],
                "outbox": [],
                "state": {"total": 4, "by": [], "later": True},
                "later": {},
            }
        ).encode()
        await world.bus.publish(message(subjects.thread(key), data=data))
        held = await count_log(world.bus).load(key)
        assert held.state == Count(total=4)

    async def test_a_cache_of_none_reads_every_time(self, world: World) -> None:
        bus, key = FaultyBus(world.bus), unique()
        log = count_log(bus, cache_size=0)
        await log.transact(key, "c1", add("ann"))
        await log.transact(key, "c2", add("ben"))
        assert bus.calls["last"] == 2

    async def test_the_oldest_state_leaves_the_cache_first(self, world: World) -> None:
        bus = FaultyBus(world.bus)
        log = count_log(bus, cache_size=2)
        one, two, three = unique(), unique(), unique()
        for key in (one, two, one, three, one, two):
            await log.load(key)
        assert bus.calls["last"] == 4


def _step(event: Added | Cleared, count: Count) -> Step[Count, Added | Cleared]:
    return Step(events=[event], state=count)
