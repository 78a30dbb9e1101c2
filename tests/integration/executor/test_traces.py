"""What an agent does for one Ticket is on that Ticket's trace, and on no other's."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.domain.assignment import AssignmentState
from support.acp_agents import PlannedAgents, running_agents
from support.domain import opening, trigger
from support.executor_world import ExecutorWorld
from support.spans import recorded_spans

TRACES = [f"00-{n}af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" for n in (1, 2)]


@pytest.mark.timeout(120)
@pytest.mark.rule("DSP-1")
@pytest.mark.field("D12")
async def test_each_tickets_tool_calls_are_on_its_own_trace(
    world: ExecutorWorld, tmp_path: Path
) -> None:
    done = {"tool": "report", "args": {"kind": "ready", "text": "Done.", "final": True}}
    planned = PlannedAgents(tmp_path / "agent", [[{"say": "hm"}, {"ask": "read"}, done]])
    with recorded_spans() as spans:
        async with running_agents(planned.command()) as (agents, server):
            world.start_with(agents, server)
            for number, trace in enumerate(TRACES, 1):
                asked = opening(trigger(number))
                traced = asked.model_copy(
                    update={"ref": asked.ref.model_copy(update={"trace": trace})}
                )
                ticket = await world.open_with(traced)
                await world.until(
                    ticket,
                    lambda t: (
                        t.assignment is not None and t.assignment.state is AssignmentState.ENDED
                    ),
                )
                await world.left()
            await world.stop()
    for trace in TRACES:
        names = spans.names_of_trace(int(trace.split("-")[1], 16))
        assert names.count("tools/call report") == 1
        assert names.count("deliver input") == 1
        assert not [name for name in names if name.startswith("acp.")]
    assert not [span.name for span in spans.all() if span.name.startswith("acp.")]
