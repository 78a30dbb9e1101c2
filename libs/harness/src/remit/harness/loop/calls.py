"""Running the tools a model asked for."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from remit.harness.log.errors import LogError
from remit.harness.log.messages import TextBlock, ToolCallBlock, ToolMessage, ToolSource
from remit.harness.log.payloads import (
    ApprovalAsked,
    ApprovalDecided,
    ApprovalOutcome,
    ToolCall,
    ToolFailure,
    ToolResult,
)
from remit.harness.loop.session import Session
from remit.harness.tools.errors import (
    InvalidArgumentsError,
    PermissionDeniedError,
    ToolAbortedError,
    ToolError,
    ToolTimeoutError,
    UnknownToolError,
)
from remit.harness.tools.registry import ToolView
from remit.harness.tools.tool import Effect, Tool, ToolOutput

_logger = logging.getLogger(__name__)

_BESIDE_EACH_OTHER = 10

_DOES: dict[Effect, str] = {
    "read": "looks at something",
    "write": "changes files",
    "execute": "runs a command",
    "external": "acts outside the session",
}

_DENIALS: dict[ApprovalOutcome, str] = {
    "rejected": "the call was not allowed; do something else, or say what you need",
    "cancelled": "the question whether this may run was withdrawn",
    "unavailable": "nobody answered whether this may run, so it did not",
}


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a call ended."""

    text: str
    failure: ToolFailure | None = None
    is_error: bool = False
    meta: Any = None


async def run_calls(session: Session, turn: int, step: int, calls: Sequence[ToolCallBlock]) -> None:
    """Run the calls of one answer and record their results in its order.

    Neighbours that may run beside each other do; every other call runs alone.

    Raises:
        asyncio.CancelledError: The work was cancelled. Calls that had been started have their
            results; `abort_calls` closes the others.
    """
    view = session.tools()
    for batch in _batches(view, calls):
        started = [(call, await session.note(_taken_up(turn, step, call))) for call in batch]
        running = [asyncio.create_task(_run(session, view, call)) for call in batch]
        try:
            await asyncio.wait(running)
        except asyncio.CancelledError:
            for task in running:
                task.cancel()
            await asyncio.wait(running)
            await _note_results(session, turn, step, started, running)
            raise
        await _note_results(session, turn, step, started, running)


async def abort_calls(session: Session, turn: int, step: int, message: str | None = None) -> None:
    """Give every call of the open step that has no result the result that it was never started.

    Args:
        session: The session.
        turn: Its open turn.
        step: The open step.
        message: What the model is told; that the work was cancelled, if left out.
    """
    error = ToolAbortedError(started=False)
    for open_call in session.record.lifecycle.open_calls:
        call, seq = open_call.block, open_call.call_seq
        if seq is None:
            seq = (await session.note(_taken_up(turn, step, call))).seq
        ended = _Ended(f"Error: {message or error}", _failure(error), is_error=True)
        await _note_result(session, turn, step, call, seq, ended)


def _batches(view: ToolView, calls: Sequence[ToolCallBlock]) -> Iterator[list[ToolCallBlock]]:
    batch: list[ToolCallBlock] = []
    for call in calls:
        if not _is_concurrent(view, call.name):
            if batch:
                yield batch
            batch = []
            yield [call]
            continue
        batch.append(call)
        if len(batch) == _BESIDE_EACH_OTHER:
            yield batch
            batch = []
    if batch:
        yield batch


def _is_concurrent(view: ToolView, name: str) -> bool:
    try:
        return view.get(name).concurrent
    except UnknownToolError:
        return False


async def _run(session: Session, view: ToolView, call: ToolCallBlock) -> _Ended:
    try:
        tool = view.get(call.name)
        arguments = tool.check(_arguments(call))
        await _permit(session, call, tool, arguments)
        output = await _in_time(session, tool, arguments)
    except ToolError as error:
        return _Ended(f"Error: {error}", _failure(error), is_error=True, meta=error.meta)
    except LogError:
        raise
    except Exception as error:  # a tool may be anybody's, and its fault ends its call alone
        _logger.exception("tool %s failed", call.name)
        fault = ToolError(f"{call.name} failed: {type(error).__name__}: {error}")
        return _Ended(f"Error: {fault}", _failure(fault), is_error=True)
    text = f"Error: {output.text}" if output.is_error else output.text
    return _Ended(text, is_error=output.is_error, meta=output.meta)


async def _in_time(session: Session, tool: Tool, arguments: Any) -> ToolOutput:
    try:
        async with asyncio.timeout(tool.time_limit) as limit:
            return await tool.run(arguments, session.context)
    except TimeoutError:
        if not limit.expired():
            raise
        raise ToolTimeoutError(f"{tool.name} did not end within {tool.time_limit:g} s") from None


def _arguments(call: ToolCallBlock) -> dict[str, Any]:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentsError(f"{call.name}: the arguments are not JSON: {error}") from None
    if not isinstance(arguments, dict):
        raise InvalidArgumentsError(f"{call.name}: the arguments are not a JSON object")
    return arguments


async def _permit(session: Session, call: ToolCallBlock, tool: Tool, arguments: Any) -> None:
    if tool.effect not in session.rules.asks:
        return
    request = session.services.new_id()
    await session.note(
        ApprovalAsked(
            id=request,
            tool_name=tool.name,
            call_id=call.id,
            reason=f"{session.rules.preset} asks before a tool {_DOES[tool.effect]}",
        )
    )
    outcome: ApprovalOutcome = "cancelled"
    try:
        outcome = await session.audience.ask(call, tool, arguments)
    finally:
        await session.note(ApprovalDecided(id=request, outcome=outcome))
    if outcome != "allowed-once":
        raise PermissionDeniedError(_DENIALS[outcome])


async def _note_results(
    session: Session,
    turn: int,
    step: int,
    started: Sequence[tuple[ToolCallBlock, Any]],
    tasks: Sequence[asyncio.Task[_Ended]],
) -> None:
    for (call, event), task in zip(started, tasks, strict=True):
        if task.cancelled():
            error = ToolAbortedError(started=True)
            ended = _Ended(f"Error: {error}", _failure(error), is_error=True)
        else:
            ended = task.result()
        await _note_result(session, turn, step, call, event.seq, ended)


async def _note_result(
    session: Session, turn: int, step: int, call: ToolCallBlock, call_seq: int, ended: _Ended
) -> None:
    await session.note(
        ToolResult(
            turn=turn,
            step=step,
            message=ToolMessage(
                source=ToolSource(call_id=call.id),
                tool_call_id=call.id,
                content=(TextBlock(text=ended.text),),
                is_error=ended.is_error,
                id=session.services.new_id(),
            ),
            error=ended.failure,
            meta=ended.meta,
        ),
        sources=(call_seq,),
    )


def _taken_up(turn: int, step: int, call: ToolCallBlock) -> ToolCall:
    return ToolCall(turn=turn, step=step, call_id=call.id, name=call.name, arguments=call.arguments)


def _failure(error: ToolError) -> ToolFailure:
    return ToolFailure(name=type(error).__name__, code=error.code)
