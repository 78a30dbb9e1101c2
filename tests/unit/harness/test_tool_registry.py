"""Which tools an agent has (AGS, as far as tools go)."""

from __future__ import annotations

import pytest

from remit.harness.scope import Scope
from remit.harness.tools import DuplicateToolError, ToolRegistry, UnknownToolError
from support.harness import plain_tool

ONE = plain_tool("one", lambda _: "global")
MINE = plain_tool("one", lambda _: "mine")
OTHER = plain_tool("other", lambda _: "other")


def names(registry: ToolRegistry, scope: Scope) -> list[str]:
    return [schema.name for schema in registry.view(scope).schemas()]


@pytest.mark.rule("AGS-1")
def test_a_global_tool_is_everybodys_and_a_scoped_one_its_owners_alone() -> None:
    registry, mine, theirs = ToolRegistry(), Scope("a"), Scope("b")
    registry.register(ONE)
    registry.register(OTHER, mine)
    assert names(registry, mine) == ["one", "other"]
    assert names(registry, theirs) == ["one"]


@pytest.mark.rule("AGS-1")
def test_a_scope_sees_what_the_standing_scope_it_joined_has_and_not_the_reverse() -> None:
    registry, preset = ToolRegistry(), Scope("preset")
    agent = Scope("agent", preset)
    registry.register(ONE, preset)
    registry.register(OTHER, agent)
    assert names(registry, agent) == ["one", "other"]
    assert names(registry, preset) == ["one"]


@pytest.mark.rule("AGS-2")
def test_two_scopes_that_look_alike_are_two() -> None:
    registry, one, other = ToolRegistry(), Scope("same"), Scope("same")
    registry.register(ONE, one)
    assert names(registry, one) == ["one"]
    assert names(registry, other) == []


@pytest.mark.rule("AGS-3")
def test_when_a_scope_goes_its_tools_are_gone() -> None:
    registry, mine = ToolRegistry(), Scope("a")
    registry.register(MINE, mine)
    registry.register(OTHER, mine)
    registry.dispose(mine)
    assert names(registry, mine) == []
    registry.dispose(mine)


@pytest.mark.rule("AGS-5")
@pytest.mark.parametrize("scoped_first", [True, False])
def test_a_scoped_tool_hides_its_global_namesake_for_its_scope_until_it_goes(
    scoped_first: bool,
) -> None:
    registry, mine, theirs = ToolRegistry(), Scope("a"), Scope("b")
    if scoped_first:
        dispose = registry.register(MINE, mine)
        registry.register(ONE)
    else:
        registry.register(ONE)
        dispose = registry.register(MINE, mine)
    assert registry.view(mine).get("one") is MINE
    assert registry.view(theirs).get("one") is ONE
    dispose()
    assert registry.view(mine).get("one") is ONE


@pytest.mark.rule("AGS-5")
def test_the_nearest_scope_wins() -> None:
    registry, preset = ToolRegistry(), Scope("preset")
    agent = Scope("agent", preset)
    registry.register(OTHER)
    registry.register(MINE, agent)
    registry.register(ONE, preset)
    assert registry.view(agent).get("one") is MINE


def test_a_late_disposal_does_not_remove_a_replacement() -> None:
    registry, mine = ToolRegistry(), Scope("a")
    dispose = registry.register(MINE, mine)
    dispose()
    registry.register(ONE, mine)
    dispose()
    assert registry.view(mine).get("one") is ONE


@pytest.mark.parametrize("scope", [None, Scope("a")])
def test_one_layer_has_one_tool_of_a_name(scope: Scope | None) -> None:
    registry = ToolRegistry()
    registry.register(ONE, scope)
    with pytest.raises(DuplicateToolError) as refused:
        registry.register(MINE, scope)
    assert refused.value.tool == "one"


def test_a_view_stands_still() -> None:
    registry, mine = ToolRegistry(), Scope("a")
    view = registry.view(mine)
    registry.register(ONE)
    with pytest.raises(UnknownToolError, match='unknown tool "one"'):
        view.get("one")
