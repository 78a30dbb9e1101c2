from __future__ import annotations

from pathlib import Path

import pytest

from remit.bus.clock import ManualClock
from remit.bus.memory import MemoryBus
from remit.cli.policy_apply import PolicyOvertaken, apply_policy, policy_in_force
from remit.cli.policy_file import PolicyFile, parse_policy


def written(text: str) -> PolicyFile:
    return PolicyFile(parse_policy(text, Path("policy.yaml")), text)


OFF = written("accept: off\n")
AUTO = written("accept: auto\n")
AUTO_WITH_COMMENT = written("# hello\naccept: auto\n")


async def test_a_policy_comes_into_force_as_it_was_written() -> None:
    bus, clock = MemoryBus(), ManualClock()
    applied = await apply_policy(bus, AUTO, by="ada", clock=clock)
    current, _ = await policy_in_force(bus)
    assert applied.changed
    assert current is not None
    assert current.policy == AUTO.policy
    assert (current.text, current.applied_by) == (AUTO.text, "ada")
    assert current.applied_at == clock.now()


@pytest.mark.rule("POL-1")
async def test_the_same_combination_gives_no_other_version() -> None:
    bus, clock = MemoryBus(), ManualClock()
    await apply_policy(bus, AUTO, by="ada", clock=clock)
    _, position = await policy_in_force(bus)
    again = await apply_policy(bus, AUTO_WITH_COMMENT, by="bob", clock=clock)
    assert not again.changed
    assert (await policy_in_force(bus))[1] == position


async def test_an_earlier_policy_can_come_back_into_force() -> None:
    bus, clock = MemoryBus(), ManualClock()
    for file in (AUTO, OFF, AUTO):
        assert (await apply_policy(bus, file, by="ada", clock=clock)).changed
    current, _ = await policy_in_force(bus)
    assert current is not None
    assert current.policy == AUTO.policy


async def test_two_people_who_apply_at_once_do_not_overwrite_each_other() -> None:
    bus, clock = MemoryBus(), ManualClock()

    class Hesitating:
        """Somebody else applies between this one's look and its write."""

        def __getattr__(self, name: str) -> object:
            return getattr(bus, name)

        async def last(self, stream: str, subject: str, *, leader: bool = False) -> object:
            seen = await bus.last(stream, subject, leader=leader)
            await apply_policy(bus, OFF, by="bob", clock=clock)
            return seen

    with pytest.raises(PolicyOvertaken, match="apply again"):
        await apply_policy(Hesitating(), AUTO, by="ada", clock=clock)  # type: ignore[arg-type]
    current, _ = await policy_in_force(bus)
    assert current is not None
    assert current.applied_by == "bob"


async def test_no_policy_is_in_force_before_one_was_applied() -> None:
    assert await policy_in_force(MemoryBus()) == (None, 0)
