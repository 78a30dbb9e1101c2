"""Closing what a crash left open, so that a session can go on.

Every tool call without a result gets an error result that says what is known of it, then the open
step and the open turn end. A call that nothing took up is recorded as taken up first, because the
format's other readers take a result without that in one exact wording only. The closing events carry
the time of the last event before them: nothing is known of any later time.
"""

from __future__ import annotations

from remit.harness.log.lifecycle import Lifecycle, OpenCall
from remit.harness.log.messages import TextBlock, ToolMessage, ToolSource
from remit.harness.log.payloads import (
    Payload,
    StepEnd,
    ToolCall,
    ToolFailure,
    ToolResult,
    TurnEnd,
    TurnEndReason,
)

_UNKNOWN = (
    "Error: the harness stopped while this tool was running. What it did before that is unknown; "
    "look before you run it again."
)
_NOT_STARTED = "Error: the harness stopped before this tool was started. It had no effect."


def closing_events(lifecycle: Lifecycle, next_seq: int) -> list[tuple[Payload, tuple[int, ...]]]:
    """What must be appended to close an interrupted log, each with its sources.

    Args:
        lifecycle: Where the log stands.
        next_seq: The place the first of them will take.
    """
    closing: list[tuple[Payload, tuple[int, ...]]] = []
    turn, step = lifecycle.open_turn, lifecycle.open_step
    if turn is None:
        return closing
    if step is not None:
        for call in lifecycle.open_calls:
            call_seq = call.call_seq
            if call_seq is None:
                call_seq = next_seq + len(closing)
                closing.append((_taken_up(call, turn, step), ()))
            result = _result(call, turn, step, next_seq + len(closing))
            closing.append((result, (call_seq,)))
        closing.append((StepEnd(turn=turn, step=step), ()))
    closing.append((TurnEnd(turn=turn, reason=TurnEndReason(kind="interrupted")), ()))
    return closing


def _taken_up(call: OpenCall, turn: int, step: int) -> ToolCall:
    block = call.block
    return ToolCall(
        turn=turn, step=step, call_id=block.id, name=block.name, arguments=block.arguments
    )


def _result(call: OpenCall, turn: int, step: int, seq: int) -> ToolResult:
    started = call.call_seq is not None
    call_id = call.block.id
    return ToolResult(
        turn=turn,
        step=step,
        message=ToolMessage(
            source=ToolSource(call_id=call_id),
            tool_call_id=call_id,
            content=(TextBlock(text=_UNKNOWN if started else _NOT_STARTED),),
            is_error=True,
            id=f"interrupted-tool-result-{call_id}-{seq}",
        ),
        error=ToolFailure(
            name="ToolInterruptedError",
            code="TOOL_OUTCOME_UNKNOWN" if started else "TOOL_NOT_STARTED",
        ),
    )
