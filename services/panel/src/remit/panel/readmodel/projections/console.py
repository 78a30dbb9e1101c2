"""The CONSOLE stream: what the agent says in console conversations.

What people say there is a Trigger like any other, on the conversation's Thread.
"""

from __future__ import annotations

from datetime import datetime

from remit.bus import subjects, tokens
from remit.bus.errors import TokenError
from remit.bus.message import Delivery
from remit.domain.model import Model
from remit.panel.live import Change, ChangeKind
from remit.panel.readmodel.rows import ConsoleLineRow, Projected
from remit.panel.readmodel.times import micros
from remit.runtime.wire import read


class ConsoleEntry(Model):
    """One entry of a transcript.

    Attributes:
        key: Names it: the id of the Channel write it came from.
        author: Who said it, as it is shown.
        text: What was said.
        at: When.
    """

    key: str
    author: str
    text: str
    at: datetime


def conversation_token(thread: str) -> str:
    """Return what names a conversation in the read model: the token of its Thread."""
    return subjects.console(thread).partition(".")[2]


def project_console(delivery: Delivery) -> Projected:
    """Return what an entry of a transcript means for the read model."""
    entry = read(delivery, ConsoleEntry)
    conversation = delivery.message.subject.partition(".")[2]
    return Projected(
        rows=(
            ConsoleLineRow(
                position=delivery.sequence,
                conversation=conversation,
                at=micros(entry.at),
                document=delivery.message.data.decode(),
            ),
        ),
        change=Change(
            kind=ChangeKind.CONSOLE,
            id=conversation,
            at=delivery.stored_at,
            about=_threads(conversation),
            facts={"author": entry.author, "text": entry.text},
        ),
    )


def _threads(conversation: str) -> tuple[str, ...]:
    try:
        return (tokens.decode(conversation),)
    except TokenError:
        # Too long to be kept in a token: who watches that conversation sees this line later.
        return ()
