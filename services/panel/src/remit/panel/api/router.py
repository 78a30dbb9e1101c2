"""The endpoints of the API."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from remit.domain.decision import Outcome
from remit.domain.disposition import DispositionKind
from remit.domain.ticket import Stage, TicketStatus
from remit.panel.access.guard import Guard, Visitor
from remit.panel.answers.console import Conversation
from remit.panel.answers.dead_letters import DeadLetterPage
from remit.panel.answers.desk import Desk
from remit.panel.answers.drops import DropPage
from remit.panel.answers.overview import Overview
from remit.panel.answers.policy import PolicyAnswer
from remit.panel.answers.threads import ThreadAnswer
from remit.panel.answers.tickets import TicketAnswer, TicketFilter, TicketPage
from remit.panel.answers.triggers import TriggerAnswer, TriggerFilter, TriggerPage
from remit.panel.answers.unknown import Unknown
from remit.panel.api.events import event_stream
from remit.panel.api.route import ApiRoute
from remit.panel.console_sender import CONVERSATION, LONGEST, ConsoleSender
from remit.panel.live import ChangeKind
from remit.panel.traces.store import Trace

LONGEST_WAIT = 30.0
"""Seconds that a request may wait for a Disposition."""

Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Before = Annotated[
    int | None, Query(description="The `before` of the last page, for the one after it.")
]
Name = Annotated[str, Path(pattern=CONVERSATION)]


class Saying(BaseModel):
    """A message to the agent."""

    text: str = Field(min_length=1, max_length=LONGEST)


class Said(BaseModel):
    """A message that was taken.

    Attributes:
        trigger: The Trigger that it becomes; ask `/api/triggers/{id}` what became of it.
    """

    trigger: str


def api_router(desk: Desk, guard: Guard, console: ConsoleSender, *, version: str) -> APIRouter:
    """Return the API.

    Args:
        desk: Answers.
        guard: Lets people in.
        console: Takes messages to the agent.
        version: The panel's version, for the API's own description.
    """
    router = APIRouter(
        prefix="/api", route_class=ApiRoute, dependencies=[Depends(guard.api)], tags=["panel"]
    )

    @router.get("/overview", summary="What needs a person, and how the system does")
    async def overview() -> Overview:
        return await desk.overview()

    @router.get("/triggers", summary="Triggers, the last that came first")
    async def triggers(
        q: Annotated[str | None, Query(description="Words that title or text must hold.")] = None,
        source: str | None = None,
        kind: str | None = None,
        actor: str | None = None,
        thread: str | None = None,
        disposition: DispositionKind | None = None,
        outcome: Outcome | None = None,
        settled: Annotated[
            bool | None, Query(description="Only those with a Disposition, or only those without.")
        ] = None,
        before: Before = None,
        limit: Limit = 50,
    ) -> TriggerPage:
        return await desk.triggers(
            TriggerFilter(
                search=q,
                source=source,
                kind=kind,
                actor=actor,
                thread=thread,
                disposition=disposition,
                outcome=outcome,
                settled=settled,
                before=before,
                limit=limit,
            )
        )

    @router.get("/triggers/{id:path}", summary="What became of a Trigger, and why (DSP-2)")
    async def trigger(
        id: str,
        wait: Annotated[
            float,
            Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for its Disposition."),
        ] = 0,
    ) -> TriggerAnswer:
        return await desk.trigger(id, wait=wait)

    @router.get("/threads/{key:path}", summary="A Thread with its timeline")
    async def thread(
        key: str,
        before: Annotated[
            datetime | None, Query(description="The `before` of the last page.")
        ] = None,
        limit: Limit = 100,
    ) -> ThreadAnswer:
        return await desk.thread(key, limit=limit, before=before)

    @router.get("/tickets", summary="Tickets, the last changed first")
    async def tickets(
        q: Annotated[str | None, Query(description="Words that the title must hold.")] = None,
        status: TicketStatus | None = None,
        stage: Stage | None = None,
        source: str | None = None,
        before: Before = None,
        limit: Limit = 50,
    ) -> TicketPage:
        return await desk.tickets(
            TicketFilter(
                search=q, status=status, stage=stage, source=source, before=before, limit=limit
            )
        )

    @router.get("/tickets/{id}", summary="A Ticket with its history")
    async def ticket(id: str) -> TicketAnswer:
        return await desk.ticket(id)

    @router.get("/drops", summary="Events that became no Trigger, by Source and reason")
    async def drops(
        source: str | None = None,
        reason: str | None = None,
        before: Before = None,
        limit: Limit = 50,
    ) -> DropPage:
        return await desk.drops(source=source, reason=reason, limit=limit, before=before)

    @router.get("/dead-letters", summary="Messages that were given up on")
    async def dead_letters(before: Before = None, limit: Limit = 50) -> DeadLetterPage:
        return await desk.dead_letters(limit=limit, before=before)

    @router.get("/policy", summary="The Policy in force and the versions before")
    async def policy() -> PolicyAnswer:
        return await desk.policy()

    @router.get("/traces/{trace_id}", summary="A trace as a tree with durations (DSP-1)")
    async def trace(trace_id: Annotated[str, Path(pattern="^[0-9a-f]{32}$")]) -> Trace:
        return await desk.trace(trace_id)

    @router.get("/console/{conversation}", summary="A conversation with the agent")
    async def conversation(conversation: Name) -> Conversation:
        found = await desk.conversation(conversation)
        if not found.lines:
            raise Unknown("conversation", conversation)
        return found

    @router.post("/console/{conversation}", status_code=202, summary="Say something to the agent")
    async def say(
        conversation: Name, saying: Saying, visitor: Annotated[Visitor, Depends(guard.api)]
    ) -> Said:
        trigger = await console.say(conversation, person=visitor.person, text=saying.text)
        return Said(trigger=trigger)

    @router.get(
        "/events",
        response_class=StreamingResponse,
        summary="Changes as they happen, as server-sent events",
        responses={200: {"content": {"text/event-stream": {}}}},
    )
    async def events(
        kind: Annotated[
            list[ChangeKind] | None, Query(description="Only changes of these kinds.")
        ] = None,
        about: Annotated[
            str | None,
            Query(description="Only changes that bear on this Trigger, Thread or Ticket."),
        ] = None,
    ) -> Response:
        return event_stream(desk.live, kinds=kind or (), about=about)

    @router.get("/openapi.json", include_in_schema=False)
    async def openapi() -> dict[str, Any]:
        return get_openapi(
            title="Remit panel",
            version=version,
            summary="What came in, what became of it, and why.",
            routes=router.routes,
        )

    @router.get("/{path:path}", include_in_schema=False)
    async def no_such_endpoint(path: str) -> None:
        raise HTTPException(
            404, f"There is no /api/{path}; see /api/openapi.json for what there is."
        )

    return router
