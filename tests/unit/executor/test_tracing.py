"""An Input's work goes on the trace of its Trigger, in short spans (DSP-1)."""

from __future__ import annotations

import pytest

from remit.domain.assignment import AssignmentState
from remit.domain.messages import FromAssignment
from remit.runtime.wire import trace_of
from remit.telemetry import names, tracing
from support.domain import delivery, opening, trigger
from support.executor_world import ExecutorWorld
from support.fake_agents import FakeTurn, ready
from support.spans import recorded_spans

FIRST = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
SECOND = "00-1af7651916cd43dd8448eb211c80319c-b7ad6b7169203332-01"


async def ready_for_review(turn: FakeTurn) -> None:
    await turn.call("report", kind="ready", text="Have a look.")


def trace_id(traceparent: str | None) -> str | None:
    return tracing.trace_id_of(traceparent)


@pytest.mark.rule("DSP-1")
@pytest.mark.field("D12")
async def test_an_inputs_work_goes_on_the_trace_of_its_trigger(world: ExecutorWorld) -> None:
    with recorded_spans() as spans:
        world.start(world.fake_agents(ready_for_review, ready))
        asked = opening(trigger(1))
        ticket = await world.open_with(
            asked.model_copy(update={"ref": asked.ref.model_copy(update={"trace": FIRST})})
        )
        await world.until(ticket, lambda t: t.report is not None)
        await world.at_rest(ticket)
        further = delivery(trigger(2))
        await world.ask(
            ticket,
            further.model_copy(update={"ref": further.ref.model_copy(update={"trace": SECOND})}),
        )
        await world.until(
            ticket,
            lambda t: t.assignment is not None and t.assignment.state is AssignmentState.ENDED,
        )
        await world.stop()
    given = spans.named(names.SPAN_DELIVER_INPUT)
    assert [f"{span.context.trace_id:032x}" for span in given if span.context] == [
        trace_id(FIRST),
        trace_id(SECOND),
    ]
    opened = spans.named(names.SPAN_SESSION)
    assert len(opened) == 1
    assert opened[0].parent is not None
    assert given[0].context is not None
    assert opened[0].parent.span_id == given[0].context.span_id
    assert not [span.name for span in spans.all() if span.name.startswith("process assignment")]


@pytest.mark.rule("DSP-1")
async def test_what_is_said_goes_on_the_trace_of_the_input_it_answers(
    world: ExecutorWorld,
) -> None:
    seen: list[tuple[str, str | None]] = []
    publish = world.bus.publish

    async def listen(message):  # type: ignore[no-untyped-def]
        if message.type == "remit.report":
            said = FromAssignment.model_validate_json(message.data).said
            seen.append((said.command, trace_id(message.trace.get("traceparent"))))
        return await publish(message)

    world.bus.publish = listen  # type: ignore[method-assign]
    world.start(world.fake_agents(ready))
    asked = opening(trigger(1))
    ticket = await world.open_with(
        asked.model_copy(update={"ref": asked.ref.model_copy(update={"trace": FIRST})})
    )
    await world.until(ticket, lambda t: t.report is not None)
    assert seen == [
        (command, trace_id(FIRST)) for command in ("take_assignment", "take_input", "give_report")
    ]
    last = await world.bus.last("INPUT", f"input.{ticket}")
    assert last is not None
    assert trace_id(trace_of(last)) == trace_id(FIRST)
