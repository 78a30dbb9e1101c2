"""How any event becomes a Trigger, whatever its family.

There are three ways: somebody wrote a message, somebody changed a message, and something else
changed. The first two are dropped where they are the agent's own; the third is kept, because
the agent's merges and closes are news (SRC-3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from pydantic import JsonValue

from remit.connectors.contract import Drop, DropReason, Identity, Normalised, RawDelivery
from remit.connectors.github.actors import actor_of
from remit.connectors.github.events.payloads import Account, Numbered, Repository, Written
from remit.connectors.github.place import Place
from remit.connectors.mentions import is_addressed
from remit.connectors.ticket_ids import ticket_ids_in
from remit.domain.channel import Address
from remit.domain.ids import SourceName, ThreadKey, TriggerId
from remit.domain.trigger import Addressing, ReceivingScope, ScopeKind, Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The issue or pull request that an event is about, and what is said of it in each Trigger.

    Attributes:
        place: Where it is.
        repository: The repository it is in.
        numbered: The issue or pull request itself.
        facts: What its family adds to the Triggers' metadata.
        thread: The review thread, where the event is in one.
        address: Where an answer goes; None where there is nothing to answer.
    """

    place: Place
    repository: Repository
    numbered: Numbered
    facts: Mapping[str, JsonValue] = field(default_factory=dict)
    thread: ThreadKey | None = None
    address: Address | None = None

    @property
    def threads(self) -> tuple[ThreadKey, ...]:
        """Its Threads; the pull request's is the home of its review threads.

        So a review with many comments waits for one Eval (B8), and reaches the Ticket that
        follows the pull request.
        """
        home = self.place.thread
        return (home,) if self.thread is None else (home, self.thread)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What happened to a subject.

    Attributes:
        key: The provider's object and revision: the Trigger's id after the Source's name.
        kind: What happened, as ``<event>.<action>``.
        at: The provider's time.
        url: Where a person can look at it.
    """

    key: str
    kind: str
    at: datetime
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One delivery being read.

    Attributes:
        source: The instance.
        identity: Who the agent is.
        raw: The delivery.
    """

    source: SourceName
    identity: Identity
    raw: RawDelivery

    def message(
        self, subject: Subject, event: Event, written: Written, *, title: str = ""
    ) -> Normalised:
        """Return the Trigger of something that was written.

        Its actor is who wrote the words, not who happened to deliver them: the one who moves an
        issue to another repository is not its author.

        Args:
            subject: What it is about.
            event: What happened.
            written: What was written.
            title: A title that was written with it, which addresses the agent too (C23).
        """
        if self.is_own(written.user):
            return Drop(DropReason.OWN_MESSAGE, event.key)
        return self._trigger(
            subject,
            event,
            written.user,
            text=_lines(written.body),
            addressing=self._addressing(title, written.body),
            facts=_facts_of(written),
        )

    def edit(
        self,
        subject: Subject,
        event: Event,
        written: Written,
        editor: Account | None,
        *,
        changed: Sequence[str],
    ) -> Normalised:
        """Return the Trigger of a message that was changed.

        Its actor is who changed it. It addresses the agent only where the author changed their
        own words: who tidies up somebody else's has not asked for what these ask for (EVL-9).
        The agent's own words stay its own, whoever changed them.

        Args:
            subject: What it is about.
            event: What happened.
            written: The message as it is now.
            editor: Who changed it.
            changed: The texts that the change bears on.
        """
        if self.is_own(editor) or self.is_own(written.user):
            return Drop(DropReason.OWN_MESSAGE, event.key)
        own_words = actor_of(editor).id == actor_of(written.user).id
        return self._trigger(
            subject,
            event,
            editor,
            text=_lines(written.body),
            addressing=self._addressing(*changed) if own_words else Addressing.NONE,
            facts=_facts_of(written) | {"edited": True},
        )

    def change(
        self,
        subject: Subject,
        event: Event,
        sender: Account | None,
        facts: Mapping[str, JsonValue] | None = None,
    ) -> Trigger:
        """Return the Trigger of anything else that happened: it says nothing and asks nothing."""
        return self._trigger(
            subject,
            event,
            sender,
            text="",
            addressing=Addressing.NONE,
            facts=facts or {},
            is_message=False,
        )

    def is_own(self, account: Account | None) -> bool:
        """Say whether ``account`` is the agent, by its numeric id alone."""
        return account is not None and str(account.id) in self.identity.ids

    def _addressing(self, *texts: str) -> Addressing:
        called = any(is_addressed(text.strip(), logins=self.identity.names) for text in texts)
        return Addressing.MENTION if called else Addressing.NONE

    def _trigger(
        self,
        subject: Subject,
        event: Event,
        account: Account | None,
        *,
        text: str,
        addressing: Addressing,
        facts: Mapping[str, JsonValue],
        is_message: bool = True,
    ) -> Trigger:
        repository = subject.repository
        return Trigger(
            id=TriggerId(f"{self.source}:{event.key}"),
            source=self.source,
            kind=event.kind,
            actor=actor_of(account),
            addressing=addressing,
            scope=ReceivingScope(
                kind=ScopeKind.REPOSITORY,
                name=repository.full_name,
                public=not repository.private,
            ),
            occurred_at=event.at,
            received_at=self.raw.received_at,
            received_by=self.raw.received_by,
            threads=subject.threads,
            channels=() if subject.address is None else (subject.address,),
            title=subject.numbered.title or None,
            text=text,
            url=event.url or None,
            is_message=is_message,
            points_at=ticket_ids_in(text),
            metadata={
                "repository_id": repository.id,
                "default_branch": repository.default_branch,
                "number": subject.place.number,
                **subject.facts,
                **facts,
            },
        )


def revision(moment: datetime) -> str:
    """Return a time in the one form that it has in ids, whatever form it came in."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _lines(text: str) -> str:
    """Return ``text`` with plain line ends; GitHub keeps those of the browser."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _facts_of(written: Written) -> dict[str, JsonValue]:
    """Return what GitHub says about a message; the association is a hint and no more (A7)."""
    author = actor_of(written.user)
    app = written.performed_via_github_app
    facts: dict[str, JsonValue] = {
        "author": {"id": author.id, "name": author.name},
        "author_association": written.author_association,
        "edited": False,
    }
    return facts if app is None else facts | {"via_app": app.slug}
