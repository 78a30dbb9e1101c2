"""Turns, steps and tool calls: what may come after what.

Turns count from one, steps from one in each turn, and neither overlap. A tool call must have been
asked for by an answer of the open step, is taken up once and answered once, and no step ends with
a call unanswered.
"""

from __future__ import annotations

from dataclasses import dataclass

from remit.harness.log.errors import RowError
from remit.harness.log.event import Event, Replace
from remit.harness.log.messages import ToolCallBlock
from remit.harness.log.payloads import (
    AssistantAttempt,
    AssistantMessageRecorded,
    DeveloperMessageRecorded,
    RequestContext,
    RequestHeader,
    StepEnd,
    StepStart,
    SystemMessageRecorded,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
)

_InStep = (
    SystemMessageRecorded
    | DeveloperMessageRecorded
    | AssistantMessageRecorded
    | AssistantAttempt
    | ToolCall
    | ToolResult
)


@dataclass(slots=True)
class OpenCall:
    """A tool call without its result.

    Attributes:
        block: The call as the model asked for it.
        call_seq: The `tool/call` event that took it up; None while nothing did.
    """

    block: ToolCallBlock
    call_seq: int | None = None


class Lifecycle:
    """Where a session stands, kept up to date as events are added."""

    def __init__(self) -> None:
        self._turns = 0
        self._steps = 0
        self._turn_open = False
        self._step_open = False
        self._calls: dict[str, OpenCall] = {}

    @property
    def turns(self) -> int:
        """How many turns have begun."""
        return self._turns

    @property
    def open_turn(self) -> int | None:
        """The number of the turn under way."""
        return self._turns if self._turn_open else None

    @property
    def open_step(self) -> int | None:
        """The number of the step under way in the open turn."""
        return self._steps if self._step_open else None

    @property
    def open_calls(self) -> tuple[OpenCall, ...]:
        """The tool calls that still need a result, in the order they were asked for."""
        return tuple(self._calls.values())

    def add(self, event: Event) -> None:
        """Take note of one event.

        Raises:
            RowError: The event may not come now.
        """
        match event.payload:
            case TurnStart(turn=turn):
                self._start_turn(turn)
            case TurnEnd(turn=turn):
                self._end_turn(turn)
            case StepStart(turn=turn, step=step):
                self._start_step(turn, step)
            case StepEnd(turn=turn, step=step):
                self._end_step(turn, step)
            case RequestHeader() | RequestContext():
                if not self._turn_open:
                    raise RowError(f"{event.type} stands outside any turn")
            case ToolResult() if isinstance(event.placement, Replace):
                return
            case (
                SystemMessageRecorded()
                | DeveloperMessageRecorded()
                | AssistantMessageRecorded()
                | AssistantAttempt()
                | ToolCall()
                | ToolResult()
            ) as payload:
                self._in_step(event, payload)
            case _:
                return

    def _start_turn(self, turn: int) -> None:
        if self._turn_open:
            raise RowError(f"turn {turn} starts while turn {self._turns} is open")
        if turn != self._turns + 1:
            raise RowError(f"turn {turn} starts where turn {self._turns + 1} is due")
        self._turns, self._steps, self._turn_open = turn, 0, True

    def _end_turn(self, turn: int) -> None:
        if not self._turn_open or turn != self._turns:
            raise RowError(f"turn {turn} ends and is not open")
        if self._step_open:
            raise RowError(f"turn {turn} ends while its step {self._steps} is open")
        self._turn_open = False

    def _start_step(self, turn: int, step: int) -> None:
        if not self._turn_open or turn != self._turns:
            raise RowError(f"a step of turn {turn} starts and that turn is not open")
        if self._step_open:
            raise RowError(f"step {step} starts while step {self._steps} is open")
        if step != self._steps + 1:
            raise RowError(f"step {step} starts where step {self._steps + 1} is due")
        self._steps, self._step_open = step, True

    def _end_step(self, turn: int, step: int) -> None:
        if not self._step_open or (turn, step) != (self._turns, self._steps):
            raise RowError(f"step {step} of turn {turn} ends and is not open")
        if self._calls:
            raise RowError(
                f"step {step} ends and tool call {next(iter(self._calls))} has no result"
            )
        self._step_open = False

    def _in_step(self, event: Event, payload: _InStep) -> None:
        if not self._step_open or (payload.turn, payload.step) != (self._turns, self._steps):
            raise RowError(
                f"{event.type} belongs to step {payload.step} of turn {payload.turn}, "
                "which is not open"
            )
        if isinstance(payload, AssistantMessageRecorded):
            self._advertise(payload)
        elif isinstance(payload, ToolCall):
            self._take_up(payload, event.seq)
        elif isinstance(payload, ToolResult):
            self._answer(payload)

    def _advertise(self, payload: AssistantMessageRecorded) -> None:
        for block in payload.message.tool_calls():
            if block.id in self._calls:
                raise RowError(f"tool call {block.id} is asked for twice")
            self._calls[block.id] = OpenCall(block)

    def _take_up(self, payload: ToolCall, seq: int) -> None:
        call = self._calls.get(payload.call_id)
        if call is None:
            raise RowError(f"tool call {payload.call_id} was not asked for in this step")
        if call.call_seq is not None:
            raise RowError(f"tool call {payload.call_id} is taken up twice")
        if (payload.name, payload.arguments) != (call.block.name, call.block.arguments):
            raise RowError(f"tool call {payload.call_id} is not the one that was asked for")
        call.call_seq = seq

    def _answer(self, payload: ToolResult) -> None:
        if payload.message.tool_call_id not in self._calls:
            raise RowError(f"tool call {payload.message.tool_call_id} waits for no result")
        if payload.error is not None and payload.message.is_error is not True:
            raise RowError("a tool/result names an error and is not marked as one")
        del self._calls[payload.message.tool_call_id]
