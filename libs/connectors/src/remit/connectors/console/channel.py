"""The write side of a console: the transcript of a conversation."""

from __future__ import annotations

from remit.connectors.clock import Clock
from remit.connectors.console.source import CONVERSATION
from remit.connectors.console.transcript import Entry, Transcript, TranscriptUnavailable
from remit.connectors.contract import ConfigurationInvalid, ProviderUnavailable
from remit.domain.channel import ChannelWrite, Receipt, WriteKind, WriteOutcome
from remit.domain.ids import SourceName, ThreadKey


class ConsoleChannel:
    """Writes into conversations.

    Args:
        name: The instance.
        author: The name under which the agent speaks.
        transcript: Where it writes; None in a process that only reads.
        clock: Tells the time.
    """

    def __init__(
        self,
        name: SourceName,
        author: str,
        transcript: Transcript | None,
        clock: Clock,
    ) -> None:
        self._name = name
        self._author = author
        self._transcript = transcript
        self._clock = clock

    async def write(self, write: ChannelWrite) -> Receipt:
        """See `remit.connectors.contract.Channel.write`.

        Raises:
            ConfigurationInvalid: This process was built without a transcript.
            ProviderUnavailable: The transcript cannot be reached now.
        """
        if write.kind is WriteKind.PULL_REQUEST:
            return _refused(write, "a console conversation has no repository to open one in")
        if write.kind is WriteKind.RESOLVE:
            return _refused(write, "a console conversation has nothing to resolve")
        if write.address.kind != CONVERSATION:
            return _refused(write, f"{write.address.kind!r} is no place in a console")
        if self._transcript is None:
            raise ConfigurationInvalid(
                self._name, "transcript", "this process was built without one; give it one"
            )
        entry = Entry(key=write.id, author=self._author, text=write.body, at=self._clock.now())
        conversation = ThreadKey(f"{self._name}:{write.address.target}")
        try:
            await self._transcript.append(conversation, entry)
        except TranscriptUnavailable as error:
            raise ProviderUnavailable(self._name, str(error)) from error
        return Receipt(write=write.id, outcome=WriteOutcome.ACCEPTED, object_id=write.id)


def _refused(write: ChannelWrite, reason: str) -> Receipt:
    return Receipt(write=write.id, outcome=WriteOutcome.REFUSED, reason=reason)
