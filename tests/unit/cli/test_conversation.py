from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from remit.bus.clock import ManualClock
from remit.cli.conversation import Ending, ask
from remit.cli.panel_client import PanelClient, PanelProblem

TRIGGER = "console:talk/1"


class PlayedPanel:
    """A panel whose answers change with each look.

    Args:
        looks: What each look at the Trigger finds, and how much the agent has said by then; the
            last one stays.
    """

    def __init__(self, *looks: tuple[Mapping[str, Any] | None, list[str]]) -> None:
        self._looks = list(looks)
        self.said: list[str] = []

    def client(self) -> PanelClient:
        transport = httpx.MockTransport(self._answer)
        return PanelClient(httpx.AsyncClient(transport=transport, base_url="http://panel"))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            self.said.append(request.read().decode())
            return httpx.Response(202, json={"trigger": TRIGGER})
        fate, lines = self._looks[0] if self.said else (None, [])
        if request.url.path.startswith("/api/console/"):
            found = [{"author": "remit", "agent": True, "text": text} for text in lines]
            person = {"author": "local", "agent": False, "text": "please"}
            return httpx.Response(200 if lines else 404, json={"lines": [person, *found]})
        if len(self._looks) > 1:
            self._looks.pop(0)
        return httpx.Response(200, json=fate) if fate else httpx.Response(404, json={})


def fate(*tickets: Mapping[str, Any], opens: tuple[str, ...] = ("t-1",)) -> dict[str, Any]:
    line = "evaluated (why)"
    return {
        "settled": True,
        "dispositions": [{"line": line, "disposition": {"tickets": list(opens)}}],
        "tickets": list(tickets),
    }


def standing(stage: str | None, status: str = "open") -> dict[str, Any]:
    return {"stage": stage, "status": status}


async def follow(panel: PlayedPanel, patience: float = 60) -> tuple[Ending, str, list[str]]:
    clock = ManualClock()
    heard: list[str] = []
    asking = asyncio.create_task(
        ask(
            panel.client(),
            "talk",
            "please",
            clock=clock,
            patience=patience,
            hear=lambda _, text: heard.append(text),
        )
    )
    while not asking.done():
        await clock.advance(0.3)
    ending, why = asking.result()
    return ending, why, heard


async def test_answers_are_heard_once_until_the_next_word_is_a_persons() -> None:
    panel = PlayedPanel(
        (None, []),
        (fate(), ["On it."]),
        (fate(standing("working")), ["On it."]),
        (fate(standing("awaiting_review")), ["On it.", "Done."]),
        (fate(standing("awaiting_review")), ["On it.", "Done."]),
    )
    ending, _, heard = await follow(panel)
    assert ending is Ending.ANSWERED
    assert heard == ["On it.", "Done."]


@pytest.mark.parametrize(
    "ticket", [standing("awaiting_answer"), standing("stuck"), standing(None, "ended")]
)
async def test_a_question_a_trouble_and_an_end_are_answers_too(ticket: dict[str, Any]) -> None:
    ending, _, _ = await follow(PlayedPanel((fate(ticket), ["Which one?"])))
    assert ending is Ending.ANSWERED


async def test_what_came_of_nothing_is_told_with_its_reason() -> None:
    ending, why, heard = await follow(PlayedPanel((fate(opens=()), [])))
    assert (ending, why, heard) == (Ending.NOTHING_CAME, "evaluated (why)", [])


async def test_a_ticket_that_the_panel_does_not_know_yet_is_waited_for() -> None:
    panel = PlayedPanel((fate(), []), (fate(standing("awaiting_review")), ["Done."]))
    ending, _, heard = await follow(panel)
    assert ending is Ending.ANSWERED
    assert heard == ["Done."]


async def test_nobody_waits_for_ever() -> None:
    panel = PlayedPanel((fate(standing("working")), ["On it."]))
    ending, _, heard = await follow(panel, patience=3)
    assert (ending, heard) == (Ending.TOO_LONG, ["On it."])


async def test_a_panel_that_is_away_is_told_with_its_address() -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    client = httpx.AsyncClient(transport=httpx.MockTransport(refuse), base_url="http://panel")
    with pytest.raises(PanelProblem, match="the panel at http://panel does not answer"):
        await PanelClient(client).get("overview")
