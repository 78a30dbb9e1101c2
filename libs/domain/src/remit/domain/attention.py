"""Attentions: a question on a Ticket that waits for a person (ATT-1, ATT-2)."""

from __future__ import annotations

from datetime import datetime

from remit.domain.model import Model


class Attention(Model):
    """One open question; a Ticket has at most one.

    Attributes:
        question: One concrete question (TON-3).
        choices: The choices, where there are some.
        after: The number of the last Input when it was asked; a person's later Input answers it.
        asked_at: When it was asked.
    """

    question: str
    choices: tuple[str, ...] = ()
    after: int
    asked_at: datetime
