"""Markers: the line before each Input in a prompt, by which it is found again (INP-1).

After a crash the agent's session is loaded and its history replayed. An Input whose marker is in
it was read; one whose marker is not is given again. The key is drawn for each Ticket and never
shown to whoever writes the texts, so no text can pass for an Input.
"""

from __future__ import annotations

import re

from remit.domain.ids import TicketId


def marker(ticket: TicketId, number: int, key: str) -> str:
    """Return the line that stands before Input ``number`` of ``ticket``."""
    return f'<input number="{number}" ticket="{ticket}" key="{key}">'


def mandate_marker(ticket: TicketId, key: str) -> str:
    """Return the line that stands before what an agent is told first."""
    return f'<mandate ticket="{ticket}" key="{key}">'


def markers_in(history: str, ticket: TicketId, key: str) -> frozenset[int]:
    """Return the numbers of the Inputs of ``ticket`` whose markers are in ``history``."""
    pattern = rf'<input number="(\d+)" ticket="{re.escape(ticket)}" key="{re.escape(key)}">'
    return frozenset(int(found) for found in re.findall(pattern, history))
