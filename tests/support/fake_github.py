"""As much of GitHub's REST API as the Channel asks, in memory, for tests without sockets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx

API = "https://api.github.example"
START = datetime(2026, 11, 30, 12, tzinfo=UTC)

_LIST = re.compile(r"/repos/(?P<repo>[^/]+/[^/]+)/(?P<kind>issues|pulls)/(?P<number>\d+)/comments")
_REPLY = re.compile(
    r"/repos/(?P<repo>[^/]+/[^/]+)/pulls/(?P<number>\d+)/comments/(?P<root>\d+)/replies"
)
_PULLS = re.compile(r"/repos/(?P<repo>[^/]+/[^/]+)/pulls")
_REPOSITORY = re.compile(r"/repos/(?P<repo>[^/]+/[^/]+)")


class TestClock:
    """A clock that only sleeping and the test move."""

    __test__ = False

    def __init__(self) -> None:
        self.time = START
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += timedelta(seconds=seconds)


@dataclass
class FakeGitHub:
    """Answers requests, and misbehaves as told.

    Attributes:
        clock: Its time.
        account: Whose token it sees.
        comments: Everything that was commented, in order.
        pulls: Every pull request.
        requests: Every request that came.
        before: Answers in place of the next requests; nothing is done.
        after: Answers in place of the next writes' own; they are done.
        page_size: Rows of a page, whatever was asked for.
    """

    clock: TestClock
    account: dict[str, Any]
    comments: list[dict[str, Any]] = field(default_factory=list)
    pulls: list[dict[str, Any]] = field(default_factory=list)
    requests: list[httpx.Request] = field(default_factory=list)
    before: list[Callable[[httpx.Request], httpx.Response]] = field(default_factory=list)
    after: list[Callable[[httpx.Request], httpx.Response]] = field(default_factory=list)
    page_size: int = 100

    @property
    def transport(self) -> httpx.MockTransport:
        return httpx.MockTransport(self.answer)

    @property
    def posts(self) -> list[str]:
        return [request.url.path for request in self.requests if request.method == "POST"]

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.before:
            return self.before.pop(0)(request)
        response = self._route(request)
        if request.method == "POST" and response.is_success and self.after:
            return self.after.pop(0)(request)
        return response

    def _route(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path == "/user":
            return httpx.Response(200, json=self.account)
        if match := _REPLY.fullmatch(path):
            return self._comment(request, "pulls", int(match["number"]), int(match["root"]))
        if match := _LIST.fullmatch(path):
            if request.method == "POST":
                return self._comment(request, match["kind"], int(match["number"]), None)
            return self._list_comments(request, match["kind"], int(match["number"]))
        if _PULLS.fullmatch(path):
            return self._open(request) if request.method == "POST" else self._list_pulls(request)
        if match := _REPOSITORY.fullmatch(path):
            document = {"id": 77, "full_name": match["repo"], "default_branch": "main"}
            return httpx.Response(200, json=document)
        return httpx.Response(404, json={"message": "Not Found"})

    def say(self, number: int, body: str, user: dict[str, Any], *, kind: str = "issues") -> None:
        """Let somebody comment."""
        self._keep(kind, number, None, body, user)

    def _comment(
        self, request: httpx.Request, kind: str, number: int, root: int | None
    ) -> httpx.Response:
        body = json.loads(request.content)["body"]
        if len(body) > 65_536:
            return httpx.Response(422, json={"message": "Validation Failed"})
        return httpx.Response(201, json=self._keep(kind, number, root, body, self.account))

    def _keep(
        self, kind: str, number: int, root: int | None, body: str, user: dict[str, Any]
    ) -> dict[str, Any]:
        comment_id = 8001 + len(self.comments)
        row = {
            "id": comment_id,
            "kind": kind,
            "number": number,
            "in_reply_to_id": root,
            "body": body,
            "user": user,
            "html_url": f"https://github.example/c/{comment_id}",
            "updated_at": self.clock.now().isoformat(),
        }
        self.comments.append(row)
        return row

    def _list_comments(self, request: httpx.Request, kind: str, number: int) -> httpx.Response:
        since = datetime.fromisoformat(request.url.params["since"])
        rows = [
            row
            for row in self.comments
            if (row["kind"], row["number"]) == (kind, number)
            and datetime.fromisoformat(row["updated_at"]) >= since
        ]
        return self._page(request, rows)

    def _page(self, request: httpx.Request, rows: list[dict[str, Any]]) -> httpx.Response:
        page = int(request.url.params.get("page", "1"))
        end = page * self.page_size
        headers = {}
        if end < len(rows):
            following = request.url.copy_set_param("page", str(page + 1))
            headers["link"] = f'<{following}>; rel="next"'
        return httpx.Response(200, json=rows[end - self.page_size : end], headers=headers)

    def _list_pulls(self, request: httpx.Request) -> httpx.Response:
        branch = request.url.params["head"].partition(":")[2]
        return self._page(request, [row for row in self.pulls if row["head"]["ref"] == branch])

    def _open(self, request: httpx.Request) -> httpx.Response:
        wanted = json.loads(request.content)
        if any(row["head"]["ref"] == wanted["head"] for row in self.pulls):
            message = f"A pull request already exists for acme:{wanted['head']}."
            errors = [{"resource": "PullRequest", "code": "custom", "message": message}]
            return httpx.Response(422, json={"message": "Validation Failed", "errors": errors})
        number = 40 + len(self.pulls)
        row = {
            "number": number,
            "title": wanted["title"],
            "body": wanted["body"],
            "user": self.account,
            "head": {"ref": wanted["head"]},
            "base": {"ref": wanted["base"]},
            "html_url": f"https://github.example/acme/website/pull/{number}",
        }
        self.pulls.append(row)
        return httpx.Response(201, json=row)


def answering(
    status: int, message: str = "No", **headers: str
) -> Callable[[httpx.Request], httpx.Response]:
    """Return an answer; underscores in header names stand for hyphens."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _: httpx.Response(status, json={"message": message}, headers=fields)


def losing_the_answer(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("the read timed out", request=request)
