"""The loop: a prompt, the model's answers, the tools they ask for, and all of it on record."""

from __future__ import annotations

from remit.harness.loop.asking import Retrying
from remit.harness.loop.session import Audience, Services, Session
from remit.harness.loop.turn import Cause, Turn, TurnOutcome

__all__ = ["Audience", "Cause", "Retrying", "Services", "Session", "Turn", "TurnOutcome"]
