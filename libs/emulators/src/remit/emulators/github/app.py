"""Puts one emulator together; the only place that builds its parts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from . import (
    accounts,
    comments,
    control,
    git_http,
    issues,
    limits,
    pages,
    pulls,
    reactions,
    repositories,
    reviews,
    webhooks,
)
from .dispatch import HttpSender, Sender
from .envelope import Envelope
from .errors import ApiError, NotFoundError
from .git import GitError
from .hub import Clock, Hub
from .misbehave import Misbehave
from .settings import GitHubEmulatorSettings
from .state import State, read_state

_REST = (limits, accounts, repositories, comments, issues, reviews, pulls, reactions, webhooks)


def _system_clock() -> datetime:
    return datetime.now(UTC)


def create_app(
    settings: GitHubEmulatorSettings,
    *,
    clock: Clock = _system_clock,
    sender: Sender | None = None,
) -> FastAPI:
    """Return the application of one emulator.

    Args:
        settings: Its addresses and folders.
        clock: Where its times come from; aware, any zone.
        sender: Carries webhook deliveries; over HTTP unless one is given.

    Raises:
        StateFileError: The state file is there and cannot be read.
    """
    state = State() if settings.state_file is None else read_state(settings.state_file)
    over_http = None if sender else HttpSender(timeout=settings.delivery_timeout)
    hub = Hub(settings, state, clock=clock, sender=sender or over_http)  # type: ignore[arg-type]

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        settings.git_root.mkdir(parents=True, exist_ok=True)
        hub.dispatcher.resume()
        yield
        await hub.dispatcher.close()
        if over_http is not None:
            await over_http.close()
        hub.save()

    rest = Envelope(_part(hub, *_REST), hub=hub)
    app = FastAPI(title="GitHub emulator", openapi_url=None, lifespan=lifespan)
    app.add_middleware(Misbehave, hub=hub)
    app.mount(f"{control.PREFIX}/as", control.ActAs(rest))
    app.mount("/api/v3", rest)
    app.mount("", _ByFirstPart(rest, _part(hub, control, git_http, pages)))
    return app


def _part(hub: Hub, *modules: Any) -> FastAPI:
    part = FastAPI(openapi_url=None)
    part.state.hub = hub
    for module in modules:
        part.include_router(module.router)
    part.add_exception_handler(ApiError, _answer_api_error)
    part.add_exception_handler(GitError, _answer_git_error)
    part.add_exception_handler(RequestValidationError, _answer_invalid_request)
    part.add_exception_handler(HTTPException, _answer_http_error)
    return part


class _ByFirstPart:
    """Serves the REST API at the root too, beside the control API, git, and the pages."""

    def __init__(self, rest: ASGIApp, others: ASGIApp) -> None:
        self._rest = rest
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        first = scope["path"].lstrip("/").split("/", 1)[0]
        app = self._rest if first in control.RESERVED else self._others
        await app(scope, receive, send)


async def _answer_api_error(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ApiError)
    return JSONResponse(error.body(), error.status, error.headers)


async def _answer_git_error(request: Request, error: Exception) -> JSONResponse:
    return await _answer_api_error(request, ApiError(str(error)))


async def _answer_http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    # An address that another method has is not there for this one, as on GitHub.
    found = NotFoundError() if error.status_code in {404, 405} else ApiError(str(error.detail))
    return await _answer_api_error(request, found)


async def _answer_invalid_request(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    reasons = []
    for found in error.errors():
        place = "/".join(str(part) for part in found["loc"][1:])
        if found["type"] == "json_invalid":
            return await _answer_api_error(request, ApiError("Problems parsing JSON", status=400))
        if found["type"] == "missing" and place:
            reasons.append(f'"{place}" wasn\'t supplied.')
        else:
            reasons.append(f"For 'properties/{place}', {found['msg']}.")
    message = "Invalid request.\n\n" + "\n".join(reasons)
    return await _answer_api_error(request, ApiError(message, status=422))
