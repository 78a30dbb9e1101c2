"""What every request must show, and who it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal
from urllib.parse import urlsplit

from fastapi import HTTPException, Request

from remit.bus.clock import Clock
from remit.panel.access.session import COOKIE, person_in, seal
from remit.panel.access.tokens import Tokens
from remit.panel.settings import is_loopback

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Who looks at the panel.

    Attributes:
        person: The person, in the console's identities.
        by: How they showed it.
    """

    person: str
    by: Literal["session", "bearer", "open"]


class LoginNeeded(Exception):
    """A page was asked for by somebody who is not logged in."""


class Guard:
    """Lets people in.

    Args:
        tokens: Who may; None lets everybody in who reaches this machine's own addresses.
        person: Who a visitor is where nobody is asked.
        lasts: How long a login lasts.
        public_url: Where people reach the panel, where that is not where it listens.
        clock: Tells when a login is over.
    """

    def __init__(
        self,
        tokens: Tokens | None,
        *,
        person: str,
        lasts: timedelta,
        public_url: str | None,
        clock: Clock,
    ) -> None:
        self._tokens = tokens
        self._person = person
        self.lasts = lasts
        self._public = urlsplit(public_url) if public_url else None
        self._clock = clock

    @property
    def open(self) -> bool:
        """Nobody is asked for a token."""
        return self._tokens is None

    def visitor(self, request: Request) -> Visitor | None:
        """Return who sends a request; None where they did not show it."""
        if self._tokens is None:
            # A name that leads here by somebody else's DNS is not this machine's own.
            host = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
            return Visitor(self._person, "open") if is_loopback(host) else None
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        if scheme.casefold() == "bearer":
            holder = self._tokens.holder_of(given.strip())
            return Visitor(holder.person, "bearer") if holder else None
        person = person_in(request.cookies.get(COOKIE, ""), self._tokens, now=self._clock.now())
        return Visitor(person, "session") if person else None

    async def api(self, request: Request) -> Visitor:
        """Return who calls the API.

        Raises:
            HTTPException: 401 without a login, 403 for a change that another site asks for.
        """
        visitor = self.visitor(request)
        if visitor is None:
            raise HTTPException(
                401,
                "Log in, or send the panel's token as Authorization: Bearer TOKEN.",
                headers={"WWW-Authenticate": "Bearer"},
            )
        self.check_origin(request, visitor)
        return visitor

    async def page(self, request: Request) -> Visitor:
        """Return who looks at a page.

        Raises:
            LoginNeeded: They are not logged in.
            HTTPException: 403 for a change that another site asks for.
        """
        visitor = self.visitor(request)
        if visitor is None:
            raise LoginNeeded
        self.check_origin(request, visitor)
        return visitor

    def check_origin(self, request: Request, visitor: Visitor | None) -> None:
        """Let changes come from the panel's own pages, or from programs that show a token.

        Raises:
            HTTPException: 403; another site's page asked the browser to send this.
        """
        if request.method in SAFE_METHODS or (visitor and visitor.by == "bearer"):
            return
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site")
        if origin is None and site is None and visitor is not None and visitor.by == "open":
            # Browsers name the origin of every such request; a program on this machine does not.
            return
        # A page that sends no referrer sends the origin "null": then the browser's word counts.
        named = origin if origin != "null" else None
        foreign = named is not None and not self._is_own(named, request)
        if foreign or (site or "same-origin") != "same-origin" or not (named or site):
            raise HTTPException(403, "This change was not asked for by a page of this panel.")

    def log_in(self, given: str) -> str | None:
        """Return the session cookie for a token; None where it is nobody's."""
        holder = self._tokens.holder_of(given) if self._tokens else None
        return seal(holder, now=self._clock.now(), lasts=self.lasts) if holder else None

    def is_secure(self, request: Request) -> bool:
        """Say whether people reach the panel over TLS, so that its cookies stay on it."""
        scheme = self._public.scheme if self._public else request.url.scheme
        return scheme == "https"

    def _is_own(self, origin: str, request: Request) -> bool:
        given = urlsplit(origin).netloc
        own = {request.headers.get("host", "")}
        if self._public:
            own.add(self._public.netloc)
        return bool(given) and given in own
