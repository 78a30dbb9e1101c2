"""What can go wrong on the bus.

``BusError``
├── ``BusUnavailable``     no answer in time; a write may have been stored
├── ``PublishRefused``     the server will not take the message
├── ``Conflict``           another commit on the same subject came first
│   └── ``Contended``      and so it went every time within the bound
├── ``StreamMismatch``     a stream is missing or is not as the code says
├── ``ServerTooOld``       the server lacks what Remit needs
├── ``TokenError``         a text has no token, or a token no text
└── ``NotAnEvent``         a stored message lacks what every message of Remit carries
"""

from __future__ import annotations

_APPLY = "run 'remit admin streams apply' to bring it up to date"


class BusError(Exception):
    """Anything the bus could not do."""


class BusUnavailable(BusError):
    """The server did not answer in time; what was sent may have been stored.

    Attributes:
        action: What was being done.
        reason: What stood in the way, where that is known.
    """

    def __init__(self, action: str, reason: str = "") -> None:
        because = f" ({reason})" if reason else ""
        super().__init__(f"NATS did not answer in time while trying to {action}{because}")
        self.action = action
        self.reason = reason


class PublishRefused(BusError):
    """The server will not take a message.

    Attributes:
        subject: Where it was to go.
        code: JetStream's error code, 0 where no stream answered.
        reason: The server's words.
    """

    def __init__(self, subject: str, code: int, reason: str) -> None:
        super().__init__(f"NATS refused a message on {subject}: {reason} (code {code})")
        self.subject = subject
        self.code = code
        self.reason = reason


class Conflict(BusError):
    """Another message came first on a subject.

    Attributes:
        subject: The subject.
        expected: The sequence that was thought to be the last.
    """

    def __init__(self, subject: str, expected: int) -> None:
        super().__init__(f"{subject} has moved past sequence {expected}")
        self.subject = subject
        self.expected = expected


class Contended(Conflict):
    """A commit lost every race within its bound.

    Attributes:
        tries: How many were made.
    """

    def __init__(self, subject: str, expected: int, tries: int) -> None:
        super().__init__(subject, expected)
        self.tries = tries


class StreamMismatch(BusError):
    """A stream is missing or differs from `remit.bus.streams`.

    Attributes:
        stream: Its name.
        difference: What differs, in words.
    """

    def __init__(self, stream: str, difference: str, *, remedy: str = _APPLY) -> None:
        super().__init__(f"stream {stream}: {difference}; {remedy}")
        self.stream = stream
        self.difference = difference


class ServerTooOld(BusError):
    """The server is older than what Remit needs.

    Attributes:
        version: What the server says it is.
        needed: The oldest version that will do.
    """

    def __init__(self, version: str, needed: str) -> None:
        super().__init__(f"NATS {version} is too old: Remit needs {needed} or later")
        self.version = version
        self.needed = needed


class TokenError(BusError, ValueError):
    """A text cannot be a token, or a token cannot be read back.

    Attributes:
        text: The text or the token.
        reason: Why, in words that follow it.
    """

    def __init__(self, text: str, reason: str) -> None:
        super().__init__(f"{text[:80]!r} {reason}")
        self.text = text
        self.reason = reason


class NotAnEvent(BusError):
    """A stored message does not carry the CloudEvents headers that Remit writes.

    Attributes:
        subject: Where it was stored.
        reason: What is missing or wrong.
    """

    def __init__(self, subject: str, reason: str) -> None:
        super().__init__(f"the message on {subject} is not a CloudEvent of Remit: {reason}")
        self.subject = subject
        self.reason = reason
