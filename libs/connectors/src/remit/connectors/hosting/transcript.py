"""Console transcripts on the bus: one subject for each conversation."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import TypeAdapter

from remit.bus import subjects
from remit.bus.errors import BusUnavailable, Conflict
from remit.bus.message import Message
from remit.bus.ports import Bus
from remit.connectors.console import Entry, TranscriptUnavailable
from remit.domain.ids import ThreadKey

STREAM = "CONSOLE"
TRIES = 20
"""How often an entry is put at the end of a conversation that others write in too."""

_ENTRY = TypeAdapter(Entry)


class BusTranscript:
    """A transcript that every replica shares and that survives them all."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus

    async def append(self, conversation: ThreadKey, entry: Entry) -> None:
        """See `remit.connectors.console.Transcript.append`.

        Fenced by the conversation's last entry: between the look for the key and the write
        nobody else can have written.
        """
        subject = subjects.console(conversation)
        message = Message(
            subject=subject,
            id=f"console/{entry.key}",
            type="remit.console.entry",
            source="/remit/channel",
            data=_ENTRY.dump_json(entry),
        )
        try:
            for _ in range(TRIES):
                held, last = await self._read(conversation)
                if any(one.key == entry.key for one in held):
                    return
                try:
                    await self._bus.replace(message, expected=last)
                except Conflict:
                    continue
                return
        except BusUnavailable as error:
            raise TranscriptUnavailable(str(error)) from error
        raise TranscriptUnavailable(f"{conversation} is being written to without pause")

    async def entries(self, conversation: ThreadKey) -> Sequence[Entry]:
        """See `remit.connectors.console.Transcript.entries`."""
        try:
            return (await self._read(conversation))[0]
        except BusUnavailable as error:
            raise TranscriptUnavailable(str(error)) from error

    async def _read(self, conversation: ThreadKey) -> tuple[list[Entry], int]:
        entries: list[Entry] = []
        last = 0
        async for delivery in self._bus.history(STREAM, subjects.console(conversation)):
            entries.append(_ENTRY.validate_json(delivery.message.data))
            last = delivery.sequence
        return entries, last
