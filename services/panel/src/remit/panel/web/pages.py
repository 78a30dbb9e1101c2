"""Rendering: a template, its words, and the headers that every page carries."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from remit.panel.access.guard import Guard
from remit.panel.web import showing
from remit.panel.web.static import Static
from remit.panel.web.words import Tongue, Words, wanted_by

LANGUAGE_COOKIE = "remit_language"

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""No script, style or frame but the panel's own, and nothing inline."""

_HTMX = json.dumps(
    {
        "allowEval": False,
        "includeIndicatorStyles": False,
        "selfRequestsOnly": True,
        "historyEnabled": False,
    }
)

NAVIGATION = ("overview", "triggers", "tickets", "sources", "policy", "console")


class Pages:
    """Renders pages.

    Args:
        words: What they say.
        static: Scripts and styles.
        guard: Says whether there is anything to log out of.
    """

    def __init__(self, words: Words, static: Static, guard: Guard) -> None:
        self._words = words
        self._guard = guard
        self._templates = Environment(
            loader=PackageLoader("remit.panel.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(
            glossary=words.glossary,
            tongues=tuple(Tongue),
            navigation=NAVIGATION,
            static=static.address,
            htmx_config=_HTMX,
            path_to=showing.path_to,
            web_address=showing.web_address,
            between=showing.between,
            bar=showing.bar,
        )
        self._templates.filters.update(
            moment=showing.moment, instant=showing.instant, took=showing.took
        )

    def tongue(self, request: Request) -> Tongue:
        """Return the language of a page: the one that was chosen, else what the browser asks for."""
        chosen = request.cookies.get(LANGUAGE_COOKIE)
        if chosen in tuple(Tongue):
            return Tongue(chosen)
        return wanted_by(request.headers.get("accept-language", ""))

    def show(
        self,
        request: Request,
        template: str,
        *,
        status: int = 200,
        place: str = "",
        about: str | None = None,
        live: bool = False,
        here: str | None = None,
        **values: Any,
    ) -> HTMLResponse:
        """Return a page, or only the part of it that changes where a page asks for it anew.

        Args:
            request: What is answered.
            template: Its template.
            status: The HTTP status.
            place: Which entry of the navigation it belongs to.
            about: What it is about: changes of that make it show itself anew.
            live: It shows itself anew with any change.
            here: Its address, where that is not the one that was asked for.
            values: What the template shows.
        """
        tongue = self.tongue(request)
        query = f"?{request.url.query}" if request.url.query else ""
        part = request.headers.get("hx-request") == "true"
        text = self._templates.get_template(template).render(
            layout="part.html" if part else "page.html",
            t=partial(self._words.text, tongue),
            word=partial(self._words.word, tongue),
            tongue=tongue,
            here=here or f"{request.url.path}{query}",
            place=place,
            about=about,
            live=live or about is not None,
            can_log_out=not self._guard.open,
            **values,
        )
        return HTMLResponse(text, status)

    def say(self, request: Request, key: str) -> str:
        """Return a text in the language of a page."""
        return self._words.text(self.tongue(request), key)
