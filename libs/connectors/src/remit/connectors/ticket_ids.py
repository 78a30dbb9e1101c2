"""Finds the Tickets that a message names outright (SUB-7)."""

from __future__ import annotations

import re

_TICKET_ID = re.compile(r"(?<![\w-])t-[a-z2-7]{16}(?![\w-])", re.ASCII)
"""The form of `remit.domain.ids.ticket_id_for`. A write's id goes on after it and is none."""


def ticket_ids_in(text: str) -> tuple[str, ...]:
    """Return the ids of Tickets in ``text``, each once, in order; whether they exist is not asked."""
    return tuple(dict.fromkeys(_TICKET_ID.findall(text)))
