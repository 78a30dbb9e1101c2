"""Asking the model, with a bounded number of tries, and recording every one of them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass

from remit.harness.clock import Sleep
from remit.harness.log.messages import AssistantMessage, ModelSource
from remit.harness.log.payloads import (
    AssistantAttempt,
    AssistantMessageRecorded,
    LlmFailure,
    LlmRetry,
    LlmRetryStarted,
)
from remit.harness.loop.opening import next_request
from remit.harness.loop.reply import Reply
from remit.harness.loop.session import Session
from remit.harness.models.port import FinishKind, ModelError
from remit.harness.models.retry import RetryPolicy


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer, as it is in the log.

    Attributes:
        recorded: The event's data.
        finish: How it ended.
    """

    recorded: AssistantMessageRecorded
    finish: FinishKind


@dataclass(frozen=True, slots=True)
class Retrying:
    """How failed calls are tried again.

    Attributes:
        policy: When and how often.
        sleep: Waits.
        random: Gives a number from 0 to 1.
    """

    policy: RetryPolicy
    sleep: Sleep
    random: Callable[[], float]


async def ask_model(session: Session, turn: int, step: int, retrying: Retrying) -> Answer:
    """Ask until there is an answer, or until there is to be none.

    Raises:
        ModelError: No try gave an answer; each is in the log.
        asyncio.CancelledError: The work was cancelled; what had been said until then is in the log.
    """
    retry_id = session.services.new_id()
    retry = 0
    while True:
        try:
            return await _ask_once(session, turn, step)
        except ModelError as error:
            retry += 1
            delay = retrying.policy.delay(retry, error, retrying.random)
            if delay is None:
                raise
            await session.note(
                LlmRetry(
                    retry_id=retry_id,
                    turn=turn,
                    step=step,
                    provider=session.services.model.provider,
                    mode="normal",
                    policy_key=retrying.policy.key,
                    retry=retry,
                    max_retries=retrying.policy.max_retries,
                    delay_ms=math.ceil(delay * 1000),
                    failure=failure_of(error),
                )
            )
        await retrying.sleep(delay)
        await session.note(LlmRetryStarted(retry_id=retry_id, turn=turn, step=step, retry=retry))


def failure_of(error: ModelError) -> LlmFailure:
    """A model's failure as the log records it."""
    after = error.retry_after
    return LlmFailure(
        message=str(error),
        code=error.code,
        status=error.status,
        provider_retry_after_ms=None if after is None else math.ceil(after * 1000),
    )


async def _ask_once(session: Session, turn: int, step: int) -> Answer:
    model = session.services.model
    reply = Reply(session.services.clock, provider=model.provider, model=model.name)
    try:
        async with aclosing(model.stream(next_request(session))) as events:
            async for event in events:
                reply.feed(event)
    except asyncio.CancelledError:
        reply.cut_short()
        await _note_interrupted(session, turn, step, reply)
        raise
    except ModelError as error:
        reply.fail(failure_of(error))
        await session.note(AssistantAttempt(turn=turn, step=step, stream=reply.stream()))
        raise
    if reply.finish is None:
        raise await _no_end(session, turn, step, reply)
    recorded = _recorded(session, turn, step, reply, interrupted=False)
    await session.note(recorded)
    return Answer(recorded, reply.finish)


async def _no_end(session: Session, turn: int, step: int, reply: Reply) -> ModelError:
    error = ModelError("the model ended its answer in the middle", code="BAD_RESPONSE")
    reply.fail(failure_of(error))
    await session.note(AssistantAttempt(turn=turn, step=step, stream=reply.stream()))
    return error


async def _note_interrupted(session: Session, turn: int, step: int, reply: Reply) -> None:
    if reply.content():
        await session.note(_recorded(session, turn, step, reply, interrupted=True))
    else:
        await session.note(AssistantAttempt(turn=turn, step=step, stream=reply.stream()))


def _recorded(
    session: Session, turn: int, step: int, reply: Reply, *, interrupted: bool
) -> AssistantMessageRecorded:
    model = session.services.model
    return AssistantMessageRecorded(
        turn=turn,
        step=step,
        message=AssistantMessage(
            content=reply.content(),
            source=ModelSource(
                provider=model.provider,
                model=model.name,
                replay_state=None if interrupted else reply.replay_state(),
            ),
            id=session.services.new_id(),
        ),
        usage=reply.usage,
        interrupted=True if interrupted else None,
        stream=reply.stream(),
    )
