"""How the domain's messages go over the bus: one subject and one type for each payload."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from remit.bus import subjects
from remit.bus.message import Delivery, Message
from remit.domain.channel import ChannelWrite
from remit.domain.disposition import Disposition
from remit.domain.effects import Effect
from remit.domain.inputs import Input
from remit.domain.messages import (
    EvalFailure,
    EvalProposal,
    EvalRequest,
    EventDropped,
    FromAssignment,
    Offer,
    PolicyInForce,
    ToThread,
    ToTicket,
)
from remit.domain.trigger import Trigger

POLICY_DOCUMENT = "document"
"""The part of the POLICY stream that holds the whole document."""

Payload = (
    Trigger
    | EvalRequest
    | EvalProposal
    | EvalFailure
    | ToThread
    | ToTicket
    | FromAssignment
    | Offer
    | Input
    | ChannelWrite
    | Disposition
    | PolicyInForce
    | EventDropped
)

T = TypeVar("T", bound=BaseModel)


class PayloadUnreadable(Exception):
    """A message does not hold what its subject promises; it goes to the dead letters.

    Attributes:
        message_id: The message.
        wanted: What it should have held.
    """

    def __init__(self, message_id: str, wanted: str, problem: str) -> None:
        super().__init__(f"message {message_id} is no {wanted}: {problem}")
        self.message_id = message_id
        self.wanted = wanted


def message_of(payload: Payload, *, id: str, source: str, trace: str | None = None) -> Message:
    """Return the message that carries ``payload``.

    Args:
        payload: What it says.
        id: Names the fact; the same over all tries.
        source: The service that says it, such as ``ticket``.
        trace: The ``traceparent`` it goes on; None takes that of the current span.
    """
    subject, kind = _place_of(payload)
    return Message(
        subject=subject,
        id=id,
        type=kind,
        source=f"/remit/{source}",
        data=payload.model_dump_json().encode(),
        trace={"traceparent": trace} if trace else {},
    )


def message_of_effect(effect: Effect, *, source: str) -> Message:
    """Return the message that carries what a commit causes."""
    return message_of(effect.payload, id=effect.id, source=source, trace=effect.trace)


def _place_of(payload: Payload) -> tuple[str, str]:
    match payload:
        case Trigger():
            return subjects.trigger(payload.source, payload.id, payload.home), "remit.trigger"
        case EvalRequest():
            return subjects.eval_request(payload.thread), "remit.eval.request"
        case EvalProposal() | EvalFailure():
            return subjects.eval_result(payload.thread), "remit.eval.result"
        case ToThread():
            return subjects.command_thread(payload.thread), "remit.thread.command"
        case ToTicket():
            return subjects.command_ticket(payload.ticket), "remit.ticket.command"
        case FromAssignment():
            return subjects.report(payload.ticket), "remit.report"
        case Offer():
            return subjects.assignment(payload.executor, payload.ticket), "remit.assignment.offer"
        case Input():
            return subjects.input_(payload.ticket), "remit.input"
        case ChannelWrite():
            address = payload.address
            return subjects.channel(address.source, address.thread), "remit.channel.write"
        case Disposition():
            return subjects.disposition(payload.trigger), "remit.disposition"
        case EventDropped():
            return subjects.drop(payload.source, payload.reason), "remit.event.dropped"
        case PolicyInForce():
            return subjects.policy(POLICY_DOCUMENT), "remit.policy"


def read(delivery: Delivery, model: type[T] | TypeAdapter[T]) -> T:
    """Return what a delivery holds.

    Raises:
        PayloadUnreadable: It holds something else.
    """
    message = delivery.message
    try:
        if isinstance(model, TypeAdapter):
            return model.validate_json(message.data)
        return model.model_validate_json(message.data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise PayloadUnreadable(message.id, message.type, f"{place}: {first['msg']}") from error


def trace_of(delivery: Delivery) -> str | None:
    """Return the ``traceparent`` that a message came with."""
    return delivery.message.trace.get("traceparent")
