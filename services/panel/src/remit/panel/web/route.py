"""How every page answers what goes wrong, and what it carries in any case."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any
from urllib.parse import quote

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute

from remit.panel.access.guard import LoginNeeded
from remit.panel.answers.unknown import Unknown
from remit.panel.database import DatabaseDamaged
from remit.panel.web.pages import HEADERS, Pages

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


def page_route(pages: Pages) -> type[APIRoute]:
    """Return the kind of route that pages are served by."""

    class PageRoute(APIRoute):
        """Shows errors as pages and sends strangers to the login."""

        def get_route_handler(self) -> Handler:
            handle = super().get_route_handler()

            async def shown(request: Request) -> Response:
                response = await _answered(pages, request, handle)
                for name, value in HEADERS.items():
                    response.headers.setdefault(name, value)
                return response

            return shown

    return PageRoute


async def _answered(pages: Pages, request: Request, handle: Handler) -> Response:
    try:
        return await handle(request)
    except LoginNeeded:
        if request.headers.get("hx-request") == "true":
            return Response(status_code=401, headers={"HX-Redirect": "/login"})
        here = request.url.path if request.method == "GET" else "/"
        return RedirectResponse(f"/login?next={quote(here, safe='')}", 303)
    except Unknown as error:
        return _error(pages, request, 404, str(error))
    except DatabaseDamaged:
        return _error(pages, request, 503, pages.say(request, "error.rebuilding"))
    except HTTPException as error:
        return _error(pages, request, error.status_code, str(error.detail))
    except RequestValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"][1:])
        return _error(pages, request, 422, f"{place}: {first['msg']}")


def _error(pages: Pages, request: Request, status: int, problem: str) -> Response:
    return pages.show(request, "error.html", status=status, problem=problem)
