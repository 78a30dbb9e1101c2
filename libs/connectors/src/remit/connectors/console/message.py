"""The one document that a console sends."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

EVENT = "message"
"""The name of the only event there is."""

Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9._~-]{1,128}$")]
"""No slash: a conversation and a message's id together must name one message only."""


class Author(BaseModel):
    """Who wrote it, as the panel or the command line knows them.

    Attributes:
        id: What the Policy's lists hold.
        name: For display only.
    """

    model_config = ConfigDict(frozen=True)

    id: Annotated[str, StringConstraints(min_length=1, max_length=256)]
    name: str = ""


class ConsoleMessage(BaseModel):
    """One message of a person.

    Attributes:
        conversation: The conversation it belongs to.
        id: Names it within the conversation; the same message sent again keeps it (SRC-7).
        author: Who wrote it.
        text: What was written.
        at: When it was written, with its offset from UTC.
    """

    model_config = ConfigDict(frozen=True)

    conversation: Key
    id: Key
    author: Author
    text: str = Field(max_length=65_536)
    at: AwareDatetime
