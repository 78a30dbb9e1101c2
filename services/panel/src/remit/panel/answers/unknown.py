"""What is asked for and not there."""

from __future__ import annotations


class Unknown(Exception):
    """Nothing is known of what was asked for.

    Attributes:
        kind: What it would be, as the vocabulary says, such as ``Trigger``.
        id: Its id.
    """

    def __init__(self, kind: str, id: str) -> None:
        super().__init__(
            f"There is no {kind} {id!r} here: it never came, has not been read yet, "
            "or is older than what the streams keep."
        )
        self.kind = kind
        self.id = id
