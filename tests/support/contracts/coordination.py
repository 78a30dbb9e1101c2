"""What coordination must do, over Redis or Valkey and in memory.

A test module subclasses `CoordinationContract` and provides the fixture ``place``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import uuid4

import pytest

from remit.coordination import (
    CoordinationUnavailable,
    LeaseHeld,
    Leases,
    ReadPositions,
)


@dataclass(frozen=True, kw_only=True)
class Place:
    """One store, seen from two processes.

    Attributes:
        leases: Leases of one process.
        other: Leases of another.
        positions: Read positions.
        pass_time: Lets seconds pass.
        flush: Loses everything, as FLUSHALL does.
        away: The store stops to answer.
        back: It answers again.
    """

    leases: Leases
    other: Leases
    positions: ReadPositions
    pass_time: Callable[[float], Awaitable[None]]
    flush: Callable[[], Awaitable[None]]
    away: Callable[[], Awaitable[None]]
    back: Callable[[], Awaitable[None]]


def unique() -> str:
    return uuid4().hex


TTL = timedelta(seconds=0.6)


class CoordinationContract:
    """The shared suite."""

    # -- read positions -----------------------------------------------------------------

    async def test_a_position_that_was_never_put_is_none(self, place: Place) -> None:
        assert await place.positions.get(unique(), "poll") is None
        assert await place.positions.all(unique()) == {}

    @pytest.mark.rule("SRC-1")
    async def test_instances_and_modes_share_no_position(self, place: Place) -> None:
        one, other = unique(), unique()
        await place.positions.put(one, "poll", '{"since": "ü"}')
        await place.positions.put(one, "socket", "7")
        await place.positions.put(other, "poll", "9")
        assert await place.positions.get(one, "poll") == '{"since": "ü"}'
        assert await place.positions.get(other, "poll") == "9"
        assert await place.positions.all(one) == {"poll": '{"since": "ü"}', "socket": "7"}

    async def test_a_position_takes_the_place_of_the_earlier_one_also_when_it_goes_back(
        self, place: Place
    ) -> None:
        instance = unique()
        for position in ("1", "5", "3"):
            await place.positions.put(instance, "poll", position)
        assert await place.positions.get(instance, "poll") == "3"

    @pytest.mark.rule("SRC-2")
    async def test_positions_that_were_lost_are_as_if_never_put(self, place: Place) -> None:
        instance = unique()
        await place.positions.put(instance, "poll", "1")
        await place.flush()
        assert await place.positions.get(instance, "poll") is None
        await place.positions.put(instance, "poll", "2")
        assert await place.positions.get(instance, "poll") == "2"

    # -- leases -------------------------------------------------------------------------

    async def test_a_lease_has_one_holder_until_it_is_let_go(self, place: Place) -> None:
        name = unique()
        async with place.leases.hold(name, ttl=TTL) as lease:
            assert lease.name == name
            assert not lease.lost.is_set()
            with pytest.raises(LeaseHeld) as held:
                async with place.other.hold(name, ttl=TTL):
                    pass
            assert held.value.name == name
            async with place.other.hold(unique(), ttl=TTL):
                pass
        async with place.other.hold(name, ttl=TTL):
            pass

    async def test_of_many_at_once_one_gets_the_lease(self, place: Place) -> None:
        name, winners = unique(), 0
        end = asyncio.Event()

        async def hold(leases: Leases) -> None:
            nonlocal winners
            async with leases.hold(name, ttl=timedelta(seconds=5)):
                winners += 1
                await end.wait()

        holding = [
            asyncio.ensure_future(hold(leases)) for leases in (place.leases, place.other) * 5
        ]
        done, waiting = await asyncio.wait(holding, timeout=1)
        assert winners == 1
        assert len(waiting) == 1
        assert all(isinstance(one.exception(), LeaseHeld) for one in done)
        end.set()
        await asyncio.gather(*waiting)

    async def test_a_held_lease_outlives_its_length_by_heartbeats(self, place: Place) -> None:
        name = unique()
        async with place.leases.hold(name, ttl=TTL) as lease:
            for _ in range(8):
                await place.pass_time(0.2)
            assert not lease.lost.is_set()
            with pytest.raises(LeaseHeld):
                async with place.other.hold(name, ttl=TTL):
                    pass

    async def test_each_holder_has_a_higher_token_also_after_everything_was_lost(
        self, place: Place
    ) -> None:
        name, tokens = unique(), []
        for round_ in range(6):
            async with (place.leases, place.other)[round_ % 2].hold(name, ttl=TTL) as lease:
                tokens.append(lease.token)
            if round_ in (2, 4):
                await place.flush()
        assert tokens == sorted(set(tokens))

    @pytest.mark.field("D3")
    async def test_a_holder_whose_lease_was_lost_is_told_and_lets_go_of_nothing_else(
        self, place: Place
    ) -> None:
        name = unique()
        async with place.leases.hold(name, ttl=TTL) as first:
            await place.flush()
            async with place.other.hold(name, ttl=timedelta(seconds=30)) as second:
                assert second.token > first.token
                for _ in range(5):
                    await place.pass_time(0.2)
                assert first.lost.is_set()
                assert not second.lost.is_set()
        async with place.other.hold(name, ttl=TTL):
            pass

    async def test_letting_go_late_leaves_the_next_holders_lease_alone(self, place: Place) -> None:
        name = unique()
        first = place.leases.hold(name, ttl=TTL)
        await first.__aenter__()
        await place.flush()
        async with place.other.hold(name, ttl=timedelta(seconds=30)):
            await first.__aexit__(None, None, None)
            with pytest.raises(LeaseHeld):
                async with place.leases.hold(name, ttl=TTL):
                    pass

    async def test_a_lease_is_let_go_when_its_block_fails(self, place: Place) -> None:
        name = unique()
        with pytest.raises(RuntimeError, match="broken"):
            async with place.leases.hold(name, ttl=TTL):
                raise RuntimeError("broken")
        async with place.other.hold(name, ttl=TTL):
            pass

    # -- away ---------------------------------------------------------------------------

    async def test_a_store_that_is_away_is_told_and_waited_for_by_nobody(
        self, place: Place
    ) -> None:
        await place.away()
        with pytest.raises(CoordinationUnavailable):
            await place.positions.get("gh", "poll")
        with pytest.raises(CoordinationUnavailable):
            await place.positions.put("gh", "poll", "1")
        with pytest.raises(CoordinationUnavailable):
            async with place.leases.hold(unique(), ttl=TTL):
                pass
        assert not place.leases.ready()
        await place.back()
        await place.positions.put("gh", "poll", "1")
        async with place.leases.hold(unique(), ttl=TTL):
            assert place.leases.ready()

    async def test_a_holder_must_fear_for_its_lease_once_it_could_not_renew_it(
        self, place: Place
    ) -> None:
        ttl = timedelta(seconds=1.2)
        async with place.leases.hold(unique(), ttl=ttl) as lease:
            await place.away()
            await place.pass_time(0.8)
            assert not lease.lost.is_set()
            await place.pass_time(0.6)
            assert lease.lost.is_set()
            await place.back()
