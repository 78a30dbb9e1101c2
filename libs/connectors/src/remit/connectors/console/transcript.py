"""Where a console conversation is written down: the provider's place in this kind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from remit.domain.ids import ThreadKey


class TranscriptUnavailable(Exception):
    """The transcript cannot be reached now; try again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One thing that was said in a conversation.

    Attributes:
        key: Names it: a second one of the same key is not taken (CHN-3).
        author: Who said it, as it is shown.
        text: What was said.
        at: When.
    """

    key: str
    author: str
    text: str
    at: datetime


class Transcript(Protocol):
    """What is said in console conversations, in the order in which it was taken."""

    async def append(self, conversation: ThreadKey, entry: Entry) -> None:
        """Put ``entry`` at the end of a conversation, unless one of its key is there already.

        Args:
            conversation: The conversation's Thread, so that two instances never share one.
            entry: What is said.

        Raises:
            TranscriptUnavailable: It may or may not have been taken.
        """
        ...

    async def entries(self, conversation: ThreadKey) -> Sequence[Entry]:
        """Return what was said, oldest first; nothing for a conversation nobody wrote in.

        Raises:
            TranscriptUnavailable: It cannot be read now.
        """
        ...


class InMemoryTranscript:
    """A transcript that ends with its process."""

    def __init__(self) -> None:
        self._conversations: dict[ThreadKey, dict[str, Entry]] = {}

    async def append(self, conversation: ThreadKey, entry: Entry) -> None:
        """See `Transcript.append`."""
        self._conversations.setdefault(conversation, {}).setdefault(entry.key, entry)

    async def entries(self, conversation: ThreadKey) -> Sequence[Entry]:
        """See `Transcript.entries`."""
        return tuple(self._conversations.get(conversation, {}).values())
