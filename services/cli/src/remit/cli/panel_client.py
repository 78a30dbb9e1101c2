"""A client of the panel's JSON API, for commands that show what became of something."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import httpx

from remit.cli.traces import Span

_ANSWER_WITHIN = 10.0


class PanelProblem(Exception):
    """The panel did not give what was asked for.

    Attributes:
        status: The HTTP status, 0 where there was no answer.
    """

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


class PanelClient:
    """Asks the panel.

    Args:
        client: An HTTP client whose base is the panel.
    """

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def get(self, path: str) -> Mapping[str, Any]:
        """Return the JSON at a path of the API.

        Raises:
            PanelProblem: There is none, or no panel.
        """
        return await self._ask("GET", path)

    async def say(self, conversation: str, text: str) -> str:
        """Say something in a conversation of the console; return the Trigger that it becomes.

        Raises:
            PanelProblem: It was not taken.
        """
        said = await self._ask("POST", f"console/{quote(conversation, safe='')}", {"text": text})
        return str(said["trigger"])

    async def _ask(self, method: str, path: str, body: object = None) -> Mapping[str, Any]:
        try:
            answer = await self._client.request(method, f"/api/{path}", json=body)
        except httpx.TransportError as error:
            where = self._client.base_url
            raise PanelProblem(0, f"the panel at {where} does not answer: {error}") from error
        if not answer.is_success:
            raise PanelProblem(answer.status_code, _problem(answer))
        found: Mapping[str, Any] = answer.json()
        return found

    async def trace(self, trace_id: str) -> tuple[Span, ...]:
        """Return the spans that the panel keeps of a trace; none where it keeps none."""
        try:
            found = await self.get(f"traces/{trace_id}")
        except PanelProblem as problem:
            if problem.status == httpx.codes.NOT_FOUND:
                return ()
            raise
        return tuple(_spans(found))


@asynccontextmanager
async def panel_at(url: str, token: str) -> AsyncIterator[PanelClient]:
    """Yield a client that shows ``token``."""
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=_ANSWER_WITHIN) as client:
        yield PanelClient(client)


def _problem(answer: httpx.Response) -> str:
    try:
        said = answer.json()
    except ValueError:
        said = {}
    detail = said.get("detail") or said.get("error") if isinstance(said, dict) else None
    return str(detail or f"the panel answered {answer.status_code}")


def _spans(found: Mapping[str, Any]) -> list[Span]:
    """Return the spans of a trace, which the panel gives as a tree."""
    todo = list(found["tree"]["roots"])
    spans: list[Span] = []
    while todo:
        node = todo.pop()
        one = node["span"]
        spans.append(
            Span(
                id=one["span_id"],
                parent=one.get("parent_id") or "",
                name=one["name"],
                service=one["service"],
                start_ns=one["start_ns"],
                end_ns=one["end_ns"],
                failed=one.get("status") == "error",
            )
        )
        todo += node["children"]
    return spans
