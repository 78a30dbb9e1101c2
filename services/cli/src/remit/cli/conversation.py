"""Asking in the console, and following the answer."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from remit.bus.clock import Clock
from remit.cli.panel_client import PanelClient, PanelProblem

_LOOK_EVERY = 0.3
_NOT_FOUND = 404
RESTING = frozenset({"awaiting_answer", "awaiting_review", "stuck"})
"""Stages of a Ticket in which the next word is a person's."""


class Ending(StrEnum):
    """How a question came to its end, as far as whoever asked is concerned."""

    ANSWERED = "answered"
    """The next word is a person's."""
    NOTHING_CAME = "nothing came of it"
    TOO_LONG = "it still works; look at the panel"


async def ask(
    panel: PanelClient,
    conversation: str,
    text: str,
    *,
    clock: Clock,
    patience: float,
    hear: Callable[[str, str], None],
) -> tuple[Ending, str]:
    """Say ``text`` and pass on what is answered.

    Args:
        panel: The panel.
        conversation: The conversation.
        text: What to say.
        clock: Paces looks.
        patience: Seconds to follow the answer.
        hear: Told the author and the text of each answer.

    Returns:
        How it ended, and the Disposition's line where nothing came of it.

    Raises:
        PanelProblem: The panel does not take it, or is gone.
    """
    heard = await _answers(panel, conversation)
    trigger = await panel.say(conversation, text)
    began = clock.now()
    count = len(heard)
    while (clock.now() - began).total_seconds() < patience:
        answers = await _answers(panel, conversation)
        for author, said in answers[count:]:
            hear(author, said)
        count = max(count, len(answers))
        fate = await _fate(panel, trigger)
        if fate is not None and fate["settled"]:
            if not any(one["disposition"]["tickets"] for one in fate["dispositions"]):
                return Ending.NOTHING_CAME, "; ".join(one["line"] for one in fate["dispositions"])
            # The panel may know of the Disposition before it knows of the Ticket.
            tickets = fate["tickets"]
            if tickets and count > len(heard) and all(_rests(one) for one in tickets):
                return Ending.ANSWERED, ""
        await clock.sleep(_LOOK_EVERY)
    return Ending.TOO_LONG, ""


def _rests(ticket: Any) -> bool:
    return ticket["status"] == "ended" or ticket["stage"] in RESTING


async def _answers(panel: PanelClient, conversation: str) -> list[tuple[str, str]]:
    try:
        found = await panel.get(f"console/{conversation}")
    except PanelProblem as problem:
        if problem.status == _NOT_FOUND:
            return []
        raise
    return [(line["author"], line["text"]) for line in found["lines"] if line["agent"]]


async def _fate(panel: PanelClient, trigger: str) -> Any:
    try:
        return await panel.get(f"triggers/{trigger}")
    except PanelProblem as problem:
        if problem.status == _NOT_FOUND:
            return None
        raise
