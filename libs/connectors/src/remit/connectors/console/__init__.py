"""The console: a conversation in the panel and the command line that needs no account."""

from remit.connectors.console.connector import ConsoleConnector, ConsoleInstance
from remit.connectors.console.message import Author, ConsoleMessage
from remit.connectors.console.transcript import (
    Entry,
    InMemoryTranscript,
    Transcript,
    TranscriptUnavailable,
)

__all__ = [
    "Author",
    "ConsoleConnector",
    "ConsoleInstance",
    "ConsoleMessage",
    "Entry",
    "InMemoryTranscript",
    "Transcript",
    "TranscriptUnavailable",
]
