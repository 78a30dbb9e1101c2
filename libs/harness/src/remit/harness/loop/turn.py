"""One turn: a prompt, and the steps until the model is done with it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from remit.harness.log.messages import UserMessage
from remit.harness.log.payloads import (
    CancelCause,
    InboxSpliced,
    LlmFailure,
    StepEnd,
    StepStart,
    TurnEnd,
    TurnEndReason,
    TurnStart,
    Usage,
)
from remit.harness.loop.asking import Retrying, ask_model, failure_of
from remit.harness.loop.calls import abort_calls, run_calls
from remit.harness.loop.opening import open_turn, refresh_request
from remit.harness.loop.session import Session
from remit.harness.models.port import ModelError

End = Literal["completed", "cancelled", "max-tokens", "refusal", "max-steps", "failed"]
"""The ways a turn ends."""

Cause = Literal["user", "disposed"]
"""Who cancels a turn: a person, or whoever ends the session."""


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn ended.

    Attributes:
        end: In which way.
        failure: Why, where it failed, ran out of steps or was declined.
        usage: The tokens of all its model calls together.
    """

    end: End
    failure: LlmFailure | None
    usage: Usage


class Turn:
    """Work on one prompt.

    `run` does it; `cancel` ends it early from outside, at once and in order.
    """

    def __init__(
        self, session: Session, prompt: UserMessage, *, retrying: Retrying, max_steps: int
    ) -> None:
        """Make a turn.

        Args:
            session: The session; it has no other turn under way.
            prompt: What is asked for.
            retrying: How failed model calls are tried again.
            max_steps: How many steps the turn may take.
        """
        self._session = session
        self._prompt = prompt
        self._retrying = retrying
        self._max_steps = max_steps
        self._task: asyncio.Task[TurnOutcome] | None = None
        self._cause: Cause | None = None
        self._begun = False
        self._settling = False
        self._input_tokens = 0
        self._output_tokens = 0
        self._cache_read_tokens = 0
        self._cache_write_tokens = 0

    def start(self) -> asyncio.Task[TurnOutcome]:
        """Begin; the task gives how the turn ended.

        The task raises `LogError` where the log does not take what happened: the session cannot go
        on then.
        """
        self._task = asyncio.create_task(self._run(), name=f"turn of {self._session.id}")
        return self._task

    def cancel(self, cause: Cause) -> None:
        """End the turn early; it settles by itself. A second call changes nothing."""
        if self._cause is not None or self._settling:
            return
        self._cause = cause
        if self._begun and self._task is not None:
            self._task.cancel()

    async def _run(self) -> TurnOutcome:
        self._begun = True
        turn = self._session.record.lifecycle.turns + 1
        end: End = "cancelled"
        failure: LlmFailure | None = None
        if self._cause is None:
            try:
                end, failure = await self._work(turn)
                # A cancel that came while nothing waited arrives here, and not while it settles.
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                end, failure = "cancelled", None
                if self._task is not None:
                    self._task.uncancel()
        self._settling = True
        await self._settle(turn, end, failure)
        return TurnOutcome(end, failure, self._usage())

    async def _work(self, turn: int) -> tuple[End, LlmFailure | None]:
        session = self._session
        inbox = InboxSpliced(target="next-turn", start=0, inserted=(self._prompt,))
        taken = InboxSpliced(target="next-turn", start=0, removed_count=1, inserted=())
        await session.note(inbox)
        await session.note(TurnStart(turn=turn))
        await session.note(taken)
        for step in range(1, self._max_steps + 1):
            await session.note(StepStart(turn=turn, step=step))
            if step == 1:
                await open_turn(session, self._prompt, turn)
            else:
                await refresh_request(session)
            end, failure = await self._step(turn, step)
            if end is not None:
                return end, failure
            await session.note(StepEnd(turn=turn, step=step))
        return "max-steps", LlmFailure(
            message=f"the turn was ended after {self._max_steps} steps", code="MAX_STEPS"
        )

    async def _step(self, turn: int, step: int) -> tuple[End | None, LlmFailure | None]:
        try:
            answer = await ask_model(self._session, turn, step, self._retrying)
        except ModelError as error:
            return "failed", failure_of(error)
        self._count(answer.recorded.usage)
        if answer.finish == "max-tokens":
            return "max-tokens", None
        if answer.finish == "refusal":
            return "refusal", LlmFailure(message="the model declined to answer", code="REFUSAL")
        calls = answer.recorded.message.tool_calls()
        if not calls:
            return "completed", None
        await run_calls(self._session, turn, step, calls)
        return None, None

    async def _settle(self, turn: int, end: End, failure: LlmFailure | None) -> None:
        """Close what is open, so that the log says how the turn ended."""
        session, lifecycle = self._session, self._session.record.lifecycle
        if lifecycle.open_turn != turn:
            for withdrawal in session.record.inbox.withdrawals():
                await session.note(withdrawal)
            return
        if lifecycle.open_step is not None:
            step = lifecycle.open_step
            await abort_calls(session, turn, step, _NOT_RUN.get(end))
            await session.note(StepEnd(turn=turn, step=step))
        await session.note(TurnEnd(turn=turn, reason=self._reason(end, failure)))

    def _reason(self, end: End, failure: LlmFailure | None) -> TurnEndReason:
        if failure is not None:
            return TurnEndReason(kind="error", error=failure)
        if end == "cancelled":
            return TurnEndReason(kind="aborted", reason=CancelCause(kind=self._cause or "disposed"))
        return TurnEndReason(kind="max-tokens" if end == "max-tokens" else "completed")

    def _count(self, usage: Usage | None) -> None:
        if usage is not None:
            self._input_tokens += usage.input_tokens
            self._output_tokens += usage.output_tokens
            self._cache_read_tokens += usage.cache_read_tokens or 0
            self._cache_write_tokens += usage.cache_write_tokens or 0

    def _usage(self) -> Usage:
        counts = (
            self._input_tokens,
            self._output_tokens,
            self._cache_read_tokens,
            self._cache_write_tokens,
        )
        return Usage(
            input_tokens=counts[0],
            output_tokens=counts[1],
            cache_read_tokens=counts[2],
            cache_write_tokens=counts[3],
            total_tokens=sum(counts),
        )


_NOT_RUN: dict[End, str] = {
    "max-tokens": "not run: the answer was cut off by its token limit",
    "refusal": "not run: the model declined to go on",
}
