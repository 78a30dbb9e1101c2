"""What surrounds every REST answer: who asks, limits, ids, versions, ETags, and error bodies.

Pure ASGI, so that it sees each answer whole, writes the snapshot before the answer leaves, and
can turn an answer that the client already has into a 304, which costs no rate-limit point.
"""

import hashlib
import json
import uuid
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from .accounts import authenticate
from .errors import ApiError, ForbiddenError
from .hub import Hub
from .limits import rate_limit, rate_limit_json
from .state import Account, RateLimit

VERSIONS = ("2022-11-28", "2026-03-10")
_REQUEST_IDS = uuid.UUID("6d0a7a1e-4c0c-4a0e-9d55-6a9d6f1f3c77")


class Envelope:
    """Wraps the REST application of one emulator."""

    def __init__(self, app: ASGIApp, *, hub: Hub) -> None:
        self._app = app
        self._hub = hub

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = _Answer()
        scope = dict(scope) | {"headers": _as_json(scope["headers"])}
        is_person = "emulator.login" in scope
        headers = Headers(scope=scope)
        limit: RateLimit | None = None
        try:
            self._check_client(headers)
            caller = self._caller(scope, headers)
            if not is_person:
                limit = rate_limit(self._hub, caller)
                self._count(scope, limit)
            await self._app(scope, receive, answer.take)
        except ApiError as error:
            answer.put(error)
        if scope["method"] == "GET" and answer.status == 200:
            self._put_etag(headers, answer, limit)
        elif scope["method"] != "GET":
            self._hub.save()
        self._put_headers(headers, answer, limit, scope)
        await answer.give(send)

    def _check_client(self, headers: Headers) -> None:
        if not headers.get("user-agent"):
            raise ForbiddenError(
                "Request forbidden by administrative rules. "
                "Please make sure your request has a User-Agent header."
            )
        version = headers.get("x-github-api-version")
        if version is not None and version not in VERSIONS:
            raise ApiError(f"'{version}' is not a valid API version.", status=400)

    def _caller(self, scope: Scope, headers: Headers) -> Account | None:
        if (login := scope.get("emulator.login")) is not None:
            caller: Account | None = self._hub.account(login)
            scopes: list[str] = []
        else:
            found = authenticate(self._hub, headers.get("authorization"))
            caller, scopes = (None, []) if found is None else (found[0], found[1].scopes)
        scope["emulator.caller"] = caller
        scope["emulator.scopes"] = scopes
        return caller

    def _count(self, scope: Scope, limit: RateLimit) -> None:
        if scope["path"].endswith("/rate_limit"):
            return
        if limit.used >= limit.limit:
            caller = scope["emulator.caller"]
            whose = "your address" if caller is None else f"user ID {caller.id}"
            raise ForbiddenError(f"API rate limit exceeded for {whose}.")
        limit.used += 1

    def _put_etag(self, headers: Headers, answer: "_Answer", limit: RateLimit | None) -> None:
        etag = f'W/"{hashlib.sha256(bytes(answer.body)).hexdigest()}"'
        answer.headers["ETag"] = etag
        known = [it.strip() for it in headers.get("if-none-match", "").split(",")]
        if etag in known or etag.removeprefix("W/") in known:
            answer.status = 304
            answer.body = bytearray()
            answer.headers["Content-Length"] = "0"
            if limit is not None and "authorization" in headers:
                limit.used -= 1

    def _put_headers(
        self, headers: Headers, answer: "_Answer", limit: RateLimit | None, scope: Scope
    ) -> None:
        number = self._hub.state.next_id("request")
        answer.headers["X-GitHub-Request-Id"] = uuid.uuid5(_REQUEST_IDS, str(number)).hex.upper()
        if answer.headers.get("content-type") == "application/json":
            answer.headers["Content-Type"] = "application/json; charset=utf-8"
        answer.headers["X-GitHub-Media-Type"] = "github.v3; format=json"
        version = headers.get("x-github-api-version", VERSIONS[0])
        answer.headers["X-GitHub-Api-Version-Selected"] = version
        answer.headers["Cache-Control"] = "private, max-age=60, s-maxage=60"
        if limit is not None:
            for name, value in rate_limit_json(limit).items():
                answer.headers[f"X-RateLimit-{name.capitalize()}"] = str(value)
            answer.headers["X-RateLimit-Resource"] = "core"
        if scope.get("emulator.scopes"):
            answer.headers["X-OAuth-Scopes"] = ", ".join(scope["emulator.scopes"])


def _as_json(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Take every body for JSON, as GitHub does, whatever its content type says."""
    others = [(name, value) for name, value in headers if name != b"content-type"]
    return [*others, (b"content-type", b"application/json")]


class _Answer:
    """An answer that is kept until it is complete."""

    def __init__(self) -> None:
        self.status = 500
        self.headers = MutableHeaders()
        self.body = bytearray()

    async def take(self, message: Message) -> None:
        """Keep what the application sends."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = MutableHeaders(raw=list(message["headers"]))
        elif message["type"] == "http.response.body":
            self.body += message.get("body", b"")

    def put(self, error: ApiError) -> None:
        """Become an error answer."""
        self.status = error.status
        self.body = bytearray(json.dumps(error.body()).encode())
        self.headers = MutableHeaders(error.headers)
        self.headers["Content-Type"] = "application/json; charset=utf-8"
        self.headers["Content-Length"] = str(len(self.body))

    async def give(self, send: Send) -> None:
        """Send what is kept."""
        start: dict[str, Any] = {
            "type": "http.response.start",
            "status": self.status,
            "headers": self.headers.raw,
        }
        await send(start)
        await send({"type": "http.response.body", "body": bytes(self.body)})
