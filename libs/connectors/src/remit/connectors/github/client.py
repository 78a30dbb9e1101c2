"""A thin client of GitHub's REST API: what its answers mean, and nothing about the product."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from remit.connectors.clock import Clock
from remit.connectors.contract import ProviderUnavailable
from remit.connectors.github.limits import is_limit, wait_after
from remit.connectors.github.pace import Pace
from remit.connectors.github.settings import GitHubSettings
from remit.connectors.secrets import SecretUnavailable
from remit.connectors.settings import dotted
from remit.domain.ids import SourceName

API_VERSION = "2022-11-28"
"""Sent with each request: without it, GitHub takes what it holds for the default."""

_HEADERS = {
    "accept": "application/vnd.github+json",
    "user-agent": "remit",
    "x-github-api-version": API_VERSION,
}
M = TypeVar("M", bound=BaseModel)

_MOST_REDIRECTS = 5
_MOST_PAGES = 100
_PAGE_SIZE = 100
_LONGEST_REASON = 300


class Refused(Exception):
    """GitHub will not do what was asked, now or later.

    Attributes:
        status: The HTTP status.
        reason: GitHub's words.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason


class CredentialsRefused(ProviderUnavailable):
    """GitHub does not take the token; it works again once the token is replaced."""


class GitHubClient:
    """Asks and tells GitHub as one account.

    Args:
        source: The instance, for errors.
        settings: Addresses, token and limits.
        clock: Tells the time and waits.
        transport: Carries requests; the network unless given.
    """

    def __init__(
        self,
        source: SourceName,
        settings: GitHubSettings,
        *,
        clock: Clock,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._source = source
        self._settings = settings
        self._clock = clock
        self._pace = Pace(settings.write_interval, clock)
        self._http = httpx.AsyncClient(
            base_url=settings.api_url,
            headers=_HEADERS,
            timeout=settings.timeout.total_seconds(),
            transport=transport,
        )

    async def close(self) -> None:
        """Let go of connections."""
        await self._http.aclose()

    async def get(self, model: type[M], path: str) -> M:
        """Return what GitHub knows of something.

        Raises:
            Refused: GitHub will not answer.
            ProviderUnavailable: It did not answer, or not in the form that it documents.
        """
        return self._read(model, self._json(await self._send("GET", path)), f"GET {path}")

    async def items(self, model: type[M], path: str, params: Mapping[str, str]) -> AsyncIterator[M]:
        """Yield the items of a list, over all of its pages.

        Raises:
            Refused: GitHub will not answer.
            ProviderUnavailable: It did not answer, or not in the form that it documents.
        """
        answer = await self._send("GET", path, params={**params, "per_page": str(_PAGE_SIZE)})
        for _ in range(_MOST_PAGES):
            page = self._json(answer)
            if not isinstance(page, list):
                raise ProviderUnavailable(self._source, f"GET {path}: the answer is no list")
            for item in page:
                yield self._read(model, item, f"GET {path}")
            following = answer.links.get("next", {}).get("url")
            if following is None:
                return
            answer = await self._send("GET", following)
        raise ProviderUnavailable(
            self._source, f"GET {path}: the list goes on after {_MOST_PAGES} pages"
        )

    async def post(self, model: type[M], path: str, body: Mapping[str, Any]) -> M:
        """Write something, in the account's turn, and return what it became.

        Raises:
            Refused: GitHub will not take it.
            ProviderUnavailable: It may or may not have been written.
        """
        async with self._pace.turn():
            answer = await self._send("POST", path, body=body)
        return self._read(model, self._json(answer), f"POST {path}")

    async def _send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        silence = self._pace.silence()
        if silence:
            raise ProviderUnavailable(
                self._source, "GitHub asked to be left alone for a while", silence
            )
        # GitHub moves a renamed repository with a redirect, and wants the same method again;
        # an HTTP client would turn it into a GET.
        url: str | httpx.URL = path
        for _ in range(_MOST_REDIRECTS + 1):
            request = self._http.build_request(
                method, url, params=params, json=body, headers=self._authorization()
            )
            self._stays_at_home(request.url)
            try:
                answer = await self._http.send(request)
            except httpx.RequestError as error:
                problem = f"{method} {path}: {type(error).__name__} {error}".rstrip()
                raise ProviderUnavailable(self._source, problem) from error
            if not answer.has_redirect_location:
                return self._judge(method, path, answer)
            url = request.url.join(answer.headers["location"])
            params = None if url.query else params
        raise ProviderUnavailable(self._source, f"{method} {path}: GitHub redirects in a circle")

    def _authorization(self) -> dict[str, str]:
        try:
            token = self._settings.token.read()
        except SecretUnavailable as error:
            raise ProviderUnavailable(self._source, f"token: {error}") from error
        return {"authorization": f"Bearer {token}"}

    def _stays_at_home(self, url: httpx.URL) -> None:
        """Never take the token to another host, whatever a redirect or a list's link says."""
        home = self._http.base_url
        if (url.scheme, url.host, url.port) != (home.scheme, home.host, home.port):
            raise ProviderUnavailable(self._source, f"GitHub leads to another host, {url.host}")

    def _judge(self, method: str, path: str, answer: httpx.Response) -> httpx.Response:
        if answer.is_success:
            return answer
        status, reason = answer.status_code, _reason(answer)
        what = f"{method} {path}: GitHub answered {status}: {reason}"
        if is_limit(status, answer.headers, reason):
            wait = wait_after(
                answer.headers, self._clock.now(), longest=self._settings.longest_wait
            )
            self._pace.fall_silent(wait)
            raise ProviderUnavailable(self._source, what, wait)
        if status == HTTPStatus.UNAUTHORIZED:
            raise CredentialsRefused(self._source, f"{what}; put a valid token in its place")
        if answer.is_server_error or status == HTTPStatus.REQUEST_TIMEOUT:
            raise ProviderUnavailable(self._source, what)
        raise Refused(status, reason)

    def _json(self, answer: httpx.Response) -> Any:
        try:
            return answer.json()
        except ValueError as error:
            raise ProviderUnavailable(self._source, "GitHub's answer is not JSON") from error

    def _read(self, model: type[M], document: Any, what: str) -> M:
        try:
            return model.model_validate(document)
        except ValidationError as error:
            first = error.errors()[0]
            problem = f"{what}: {dotted(first['loc'])}: {first['msg']}"
            raise ProviderUnavailable(self._source, problem) from error


def _reason(answer: httpx.Response) -> str:
    """Return GitHub's words on why not, with those on each field."""
    try:
        document = answer.json()
    except ValueError:
        return answer.reason_phrase
    if not isinstance(document, dict):
        return answer.reason_phrase
    errors = document.get("errors")
    words = [str(document.get("message", answer.reason_phrase))]
    for error in errors if isinstance(errors, list) else []:
        if isinstance(error, dict):
            told = error.get("message") or f"{error.get('field')} {error.get('code')}"
        else:
            told = error
        words.append(str(told))
    return "; ".join(words)[:_LONGEST_REASON]
