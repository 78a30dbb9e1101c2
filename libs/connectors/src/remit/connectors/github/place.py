"""Where things are on GitHub: Threads and the addresses of their Channels (SRC-6).

Threads are keyed by the repository's numeric id, which stays when it is renamed or moved.
Addresses go by name, as GitHub's API does, and follow its redirects.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from remit.domain.channel import Address
from remit.domain.ids import SourceName, ThreadKey

CONVERSATION = "issue"
"""The kind of address of an issue's or pull request's conversation: ``owner/repo#12``."""
REVIEW_THREAD = "review_thread"
"""The kind of address of a review thread: ``owner/repo#12/34``, 34 being its first comment."""

_NAME = r"[\w-]+/(?!\.{1,2}(?:#|$))[\w.-]+"
"""Owner and name; the names that a URL takes for a step up are none."""
_REPOSITORY = re.compile(_NAME, re.ASCII)
_TARGET = re.compile(rf"(?P<repository>{_NAME})#(?P<number>[0-9]+)(?:/(?P<root>[0-9]+))?", re.ASCII)


def is_repository(name: str) -> bool:
    """Say whether ``name`` has the form of a repository's."""
    return _REPOSITORY.fullmatch(name) is not None


def pull_request_thread(source: SourceName, repository_id: int, number: int) -> ThreadKey:
    """Return the Thread of a pull request."""
    return ThreadKey(f"{source}:{repository_id}/pr/{number}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """An issue or a pull request.

    Attributes:
        source: The instance.
        repository_id: The repository's numeric id.
        repository: Its name at the time, ``owner/name``.
        number: The issue's or pull request's number.
        is_pull: It is a pull request.
    """

    source: SourceName
    repository_id: int
    repository: str
    number: int
    is_pull: bool

    @property
    def thread(self) -> ThreadKey:
        """Its conversation's Thread."""
        if self.is_pull:
            return pull_request_thread(self.source, self.repository_id, self.number)
        return ThreadKey(f"{self.source}:{self.repository_id}/issue/{self.number}")

    @property
    def conversation(self) -> Address:
        """Where a comment on it goes."""
        return Address(
            source=self.source,
            thread=self.thread,
            kind=CONVERSATION,
            target=f"{self.repository}#{self.number}",
        )

    def review_thread(self, root: int) -> ThreadKey:
        """Return the Thread of the review thread that began with the comment ``root``."""
        return ThreadKey(f"{self.thread}/rt/{root}")

    def reply_to(self, root: int) -> Address:
        """Return where a reply in that review thread goes (field report C12)."""
        return Address(
            source=self.source,
            thread=self.review_thread(root),
            kind=REVIEW_THREAD,
            target=f"{self.repository}#{self.number}/{root}",
        )


@dataclass(frozen=True, slots=True)
class Target:
    """An address, read.

    Attributes:
        repository: ``owner/name`` as it was called when the address was made.
        number: The issue or pull request.
        root: The first comment of the review thread; None for the conversation.
    """

    repository: str
    number: int
    root: int | None


def target_of(address: Address) -> Target | None:
    """Return what ``address`` names, or None where it is none of GitHub's."""
    match = _TARGET.fullmatch(address.target)
    if match is None:
        return None
    root = match["root"]
    if {CONVERSATION: root is None, REVIEW_THREAD: root is not None}.get(address.kind):
        return Target(match["repository"], int(match["number"]), int(root) if root else None)
    return None
