"""Talking to the agent in the console: the panel hands a message to the source service."""

from __future__ import annotations

from collections.abc import Callable

import httpx
from pydantic import AwareDatetime, BaseModel

from remit.bus.clock import Clock

CONVERSATION = r"^[A-Za-z0-9._~-]{1,128}$"
"""What a conversation may be called."""
LONGEST = 65_536
"""Characters of a message at most."""


class Author(BaseModel):
    """Who wrote a message."""

    id: str
    name: str


class ConsoleMessage(BaseModel):
    """A message as the source service's console takes it.

    Attributes:
        conversation: The conversation it belongs to.
        id: Names it within the conversation; the same message sent again keeps it (SRC-7).
        author: Who wrote it.
        text: What was written.
        at: When.
    """

    conversation: str
    id: str
    author: Author
    text: str
    at: AwareDatetime


class ConsoleClosed(Exception):
    """The message could not be handed over.

    Attributes:
        away: The source service may take it later; False where it will not.
    """

    def __init__(self, message: str, *, away: bool) -> None:
        super().__init__(message)
        self.away = away


class ConsoleSender:
    """Hands messages to the console of the source service.

    Args:
        http: Where requests go out.
        source_url: Where the source service is; None where it was not said.
        source: The Source instance of the console.
        token: What that instance wants as a bearer token.
        clock: Stamps messages.
        new_id: Makes an id for a message.
    """

    def __init__(
        self,
        http: httpx.AsyncClient,
        *,
        source_url: str | None,
        source: str,
        token: str | None,
        clock: Clock,
        new_id: Callable[[], str],
    ) -> None:
        self._http = http
        self._url = f"{source_url.rstrip('/')}/webhook/{source}" if source_url else None
        self._token = token
        self._clock = clock
        self._new_id = new_id
        self.source = source

    @property
    def open(self) -> bool:
        """Messages can be sent."""
        return self._url is not None

    def new_conversation(self) -> str:
        """Return a name for a conversation that nobody had yet."""
        return self._new_id()

    async def say(self, conversation: str, *, person: str, text: str) -> str:
        """Hand a message over; return the id of the Trigger that it becomes.

        Raises:
            ConsoleClosed: It was not taken.
        """
        if self._url is None:
            raise ConsoleClosed(
                "The panel does not know the source service; set REMIT_SOURCE_URL.", away=False
            )
        message = ConsoleMessage(
            conversation=conversation,
            id=self._new_id(),
            author=Author(id=person, name=person),
            text=text,
            at=self._clock.now(),
        )
        headers = {"Content-Type": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            answer = await self._http.post(
                self._url, content=message.model_dump_json().encode(), headers=headers
            )
        except httpx.HTTPError as error:
            raise ConsoleClosed(
                f"The source service at {self._url} does not answer ({type(error).__name__}); "
                "try again.",
                away=True,
            ) from error
        if not answer.is_success:
            raise ConsoleClosed(
                f"The source service did not take the message: {answer.status_code} "
                f"{answer.text[:500]}",
                away=answer.is_server_error,
            )
        return f"{self.source}:{conversation}/{message.id}"
