"""Answering an agent's permission requests by the deployment's configuration. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One answer that the agent offers, in ACP's words.

    Attributes:
        id: Names it in the answer.
        kind: ``allow_once``, ``allow_always``, ``reject_once`` or ``reject_always``.
    """

    id: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the agent is told.

    Attributes:
        allowed: Whether it may.
        option: The option that says so; None where it offers none, which cancels the request.
    """

    allowed: bool
    option: str | None


def answer(kind: str | None, options: Sequence[Option], allow: frozenset[str]) -> Answer:
    """Answer one request.

    Never for always: what is allowed is looked at again each time.

    Args:
        kind: The kind of tool call that the agent wants to make; None where it did not say.
        options: The answers it offers.
        allow: The kinds that are allowed.
    """
    if kind in allow:
        once = _first(options, "allow_once")
        if once is not None:
            return Answer(allowed=True, option=once)
    return Answer(allowed=False, option=_first(options, "reject_once"))


def _first(options: Sequence[Option], kind: str) -> str | None:
    return next((option.id for option in options if option.kind == kind), None)
