"""The pages."""

from contextlib import suppress
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from fastapi.responses import RedirectResponse, Response

from remit.domain.disposition import DispositionKind
from remit.domain.ticket import Stage, TicketStatus
from remit.panel.access.guard import Guard, Visitor
from remit.panel.answers.desk import Desk
from remit.panel.answers.tickets import TicketFilter
from remit.panel.answers.triggers import TriggerFilter
from remit.panel.answers.unknown import Unknown
from remit.panel.api.events import pulse
from remit.panel.console_sender import CONVERSATION, LONGEST, ConsoleClosed, ConsoleSender
from remit.panel.traces.tree import rows
from remit.panel.web.form import read_form
from remit.panel.web.pages import Pages
from remit.panel.web.route import page_route
from remit.panel.web.showing import path_to

RECENT = 10
"""Triggers on the overview."""
_SEEN_WITHIN = 2.0
"""Seconds that a page waits for what was just said to show."""

Before = Annotated[int | None, Query()]
Name = Annotated[str, Path(pattern=CONVERSATION)]
OPEN = "open"
"""The filter for Triggers without a Disposition, beside the kinds of Disposition."""


def web_router(desk: Desk, guard: Guard, console: ConsoleSender, pages: Pages) -> APIRouter:
    """Return the pages that need a login, and the answer for those that do not exist."""
    router = APIRouter(
        route_class=page_route(pages),
        dependencies=[Depends(guard.page)],
        include_in_schema=False,
    )

    @router.get("/")
    async def overview(request: Request) -> Response:
        return pages.show(
            request,
            "overview.html",
            place="overview",
            live=True,
            overview=await desk.overview(),
            recent=await desk.triggers(TriggerFilter(limit=RECENT)),
        )

    @router.get("/live")
    async def live(about: Annotated[str | None, Query()] = None) -> Response:
        return pulse(desk.live, about=about or None)

    @router.get("/triggers")
    async def triggers(
        request: Request,
        q: str = "",
        source: str = "",
        fate: str = "",
        before: Before = None,
    ) -> Response:
        kind = DispositionKind(fate) if fate in tuple(DispositionKind) else None
        wanted = TriggerFilter(
            search=q.strip() or None,
            source=source.strip() or None,
            disposition=kind,
            settled=False if fate == OPEN else None,
            before=before,
        )
        return pages.show(
            request,
            "triggers.html",
            place="triggers",
            live=before is None,
            page=await desk.triggers(wanted),
            asked={"q": q, "source": source, "fate": fate},
            fates=(OPEN, *DispositionKind),
        )

    @router.get("/triggers/{id:path}")
    async def trigger(request: Request, id: str) -> Response:
        return pages.show(
            request, "trigger.html", place="triggers", about=id, answer=await desk.trigger(id)
        )

    @router.get("/threads/{key:path}")
    async def thread(
        request: Request, key: str, before: Annotated[datetime | None, Query()] = None
    ) -> Response:
        return pages.show(
            request,
            "thread.html",
            place="triggers",
            about=key if before is None else None,
            answer=await desk.thread(key, before=before),
        )

    @router.get("/tickets")
    async def tickets(
        request: Request, q: str = "", stage: str = "", status: str = "", before: Before = None
    ) -> Response:
        wanted = TicketFilter(
            search=q.strip() or None,
            stage=Stage(stage) if stage in tuple(Stage) else None,
            status=TicketStatus(status) if status in tuple(TicketStatus) else None,
            before=before,
        )
        return pages.show(
            request,
            "tickets.html",
            place="tickets",
            live=before is None,
            page=await desk.tickets(wanted),
            asked={"q": q, "stage": stage, "status": status},
            stages=tuple(Stage),
            statuses=tuple(TicketStatus),
        )

    @router.get("/tickets/{id}")
    async def ticket(request: Request, id: str) -> Response:
        return pages.show(
            request,
            "ticket.html",
            place="tickets",
            about=id,
            answer=await desk.ticket(id),
            console=console.source,
        )

    @router.get("/traces/{trace_id}")
    async def trace(
        request: Request, trace_id: Annotated[str, Path(pattern="^[0-9a-f]{32}$")]
    ) -> Response:
        return pages.show(
            request, "trace.html", place="triggers", trace=await desk.trace(trace_id), rows=rows
        )

    @router.get("/sources")
    async def sources(
        request: Request, source: str = "", reason: str = "", before: Before = None
    ) -> Response:
        return pages.show(
            request,
            "sources.html",
            place="sources",
            live=before is None,
            overview=await desk.overview(),
            drops=await desk.drops(source=source or None, reason=reason or None, before=before),
            asked={"source": source, "reason": reason},
        )

    @router.get("/dead-letters")
    async def dead_letters(request: Request, before: Before = None) -> Response:
        return pages.show(
            request,
            "dead_letters.html",
            place="overview",
            live=before is None,
            page=await desk.dead_letters(before=before),
        )

    @router.get("/policy")
    async def policy(request: Request) -> Response:
        return pages.show(request, "policy.html", place="policy", answer=await desk.policy())

    @router.get("/console")
    async def conversations(request: Request) -> Response:
        return pages.show(
            request,
            "conversations.html",
            place="console",
            live=True,
            conversations=await desk.conversations(),
            open=console.open,
            longest=LONGEST,
        )

    @router.post("/console")
    async def begin(request: Request, visitor: Annotated[Visitor, Depends(guard.page)]) -> Response:
        return await _say(request, console.new_conversation(), visitor)

    @router.get("/console/{conversation}")
    async def conversation(request: Request, conversation: Name) -> Response:
        found = await desk.conversation(conversation)
        return pages.show(
            request,
            "conversation.html",
            place="console",
            about=found.thread,
            conversation=found,
            open=console.open,
            longest=LONGEST,
        )

    @router.post("/console/{conversation}")
    async def go_on(
        request: Request, conversation: Name, visitor: Annotated[Visitor, Depends(guard.page)]
    ) -> Response:
        return await _say(request, conversation, visitor)

    async def _say(request: Request, conversation: str, visitor: Visitor) -> Response:
        text = (await read_form(request)).get("text", "").strip()
        if len(text) > LONGEST:
            raise HTTPException(413, f"The message is over the limit of {LONGEST} characters.")
        if text:
            try:
                trigger = await console.say(conversation, person=visitor.person, text=text)
            except ConsoleClosed as error:
                raise HTTPException(
                    503 if error.away else 502,
                    f"{pages.say(request, 'error.not_taken')} {error}",
                ) from error
            with suppress(Unknown):
                await desk.trigger(trigger, wait=_SEEN_WITHIN)
        return RedirectResponse(f"{path_to('console', conversation)}#last", 303)

    return router


def no_such_page_router(pages: Pages) -> APIRouter:
    """Return the answer to every other address; it must be the last of the panel's routers."""
    router = APIRouter(route_class=page_route(pages), include_in_schema=False)

    @router.get("/{path:path}")
    async def no_such_page(request: Request, path: str) -> Response:  # noqa: ARG001 - any
        problem = pages.say(request, "error.unknown_page")
        return pages.show(request, "error.html", status=404, problem=problem)

    return router
