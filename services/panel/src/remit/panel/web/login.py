"""Logging in and out, and choosing a language."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from remit.panel.access.guard import Guard
from remit.panel.access.session import COOKIE
from remit.panel.web.form import read_form
from remit.panel.web.pages import LANGUAGE_COOKIE, Pages
from remit.panel.web.route import page_route
from remit.panel.web.showing import local_path
from remit.panel.web.words import Tongue

HERE = "/login"
"""The login's address on the pages it shows: without the token that may have come with it."""
_YEAR = 365 * 24 * 3600


def login_router(pages: Pages, guard: Guard) -> APIRouter:
    """Return the pages that need no login."""
    router = APIRouter(route_class=page_route(pages), include_in_schema=False)

    @router.get("/login")
    async def login(request: Request, token: str = "", next: str = "/") -> Response:  # noqa: A002
        if guard.open:
            return RedirectResponse("/", 303)
        if not token:
            return pages.show(request, "login.html", here=HERE, wrong=False, next=local_path(next))
        return _log_in(request, token, next)

    @router.post("/login")
    async def enter(request: Request) -> Response:
        guard.check_origin(request, None)
        form = await read_form(request)
        return _log_in(request, form.get("token", "").strip(), form.get("next", "/"))

    @router.post("/logout")
    async def leave(request: Request) -> Response:
        guard.check_origin(request, guard.visitor(request))
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE, path="/")
        return response

    @router.get("/language/{tongue}")
    async def language(request: Request, tongue: Tongue, next: str = "/") -> Response:  # noqa: A002
        response = RedirectResponse(local_path(next), 303)
        response.set_cookie(
            LANGUAGE_COOKIE,
            tongue,
            max_age=_YEAR,
            httponly=True,
            samesite="strict",
            secure=guard.is_secure(request),
        )
        return response

    def _log_in(request: Request, token: str, go_on: str) -> Response:
        cookie = guard.log_in(token)
        if cookie is None:
            return pages.show(
                request, "login.html", here=HERE, status=401, wrong=True, next=local_path(go_on)
            )
        # A page, not a redirect: a browser that came here by a link from elsewhere would not
        # send a strict cookie along with the redirect.
        response = pages.show(request, "entered.html", here="/", next=local_path(go_on))
        response.set_cookie(
            COOKIE,
            cookie,
            max_age=int(guard.lasts.total_seconds()),
            httponly=True,
            samesite="strict",
            secure=guard.is_secure(request),
            path="/",
        )
        return response

    return router
