"""How every endpoint of the API answers what goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response
from fastapi.routing import APIRoute

from remit.panel.answers.unknown import Unknown
from remit.panel.console_sender import ConsoleClosed
from remit.panel.database import DatabaseDamaged

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class ApiRoute(APIRoute):
    """Answers in JSON, always: unknown ids with 404 and a sentence, what is away with 502 or 503."""

    def get_route_handler(self) -> Handler:
        """Return the endpoint with its errors told."""
        handle = super().get_route_handler()

        async def told(request: Request) -> Response:
            try:
                response = await handle(request)
            except Unknown as error:
                response = JSONResponse({"detail": str(error)}, 404)
            except ConsoleClosed as error:
                response = JSONResponse({"detail": str(error)}, 503 if error.away else 502)
            except DatabaseDamaged:
                response = JSONResponse(
                    {"detail": "The read model is being built again; try again."},
                    503,
                    {"Retry-After": "2"},
                )
            response.headers.setdefault("Cache-Control", "no-store")
            response.headers["X-Content-Type-Options"] = "nosniff"
            return response

        return told
