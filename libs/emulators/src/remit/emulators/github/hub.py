"""What every part of one emulator shares: its memory, its clock, its git, and its addresses."""

import asyncio
import base64
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

from .dispatch import Dispatcher, Sender
from .errors import NotFoundError
from .faults import Faults
from .git import Git
from .settings import GitHubEmulatorSettings
from .state import Account, Repository, State, Token, Writing, write_state

Clock = Callable[[], datetime]

_GUIDS = uuid.UUID("9f6c1f52-6a55-4c5c-8b8f-2f6f0d3f6d1e")
_TOKENS = uuid.UUID("0b6a3a53-5f0e-4b53-9d52-0b0c3a3b6a11")


def timestamp(moment: datetime) -> str:
    """Return a time in the API's form: UTC, whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node_id(prefix: str, number: int) -> str:
    """Return the global id of an object, opaque as GitHub's are."""
    return (
        f"{prefix}_{base64.urlsafe_b64encode(f'{prefix}:{number}'.encode()).decode().rstrip('=')}"
    )


class Hub:
    """One running emulator.

    Args:
        settings: Its addresses and folders.
        state: Its memory.
        clock: Where its times come from.
        sender: Carries its webhook deliveries.

    Attributes:
        settings: Its addresses and folders.
        state: Its memory.
        git: Its repositories.
        faults: What is to go wrong.
        dispatcher: Its outgoing webhook deliveries.
    """

    def __init__(
        self,
        settings: GitHubEmulatorSettings,
        state: State,
        *,
        clock: Clock,
        sender: Sender,
    ) -> None:
        self.settings = settings
        self.state = state
        self.git = Git(settings.git_root)
        self.faults = Faults()
        self._clock = clock
        self._git_locks: dict[int, asyncio.Lock] = {}
        self.dispatcher = Dispatcher(
            state,
            sender=sender,
            faults=self.faults,
            clock=self.now,
            new_guid=self.new_guid,
            changed=self.save,
            kept=settings.deliveries_kept,
        )

    def now(self) -> datetime:
        """Return the time in whole seconds, as GitHub keeps it."""
        return self._clock().replace(microsecond=0)

    def save(self) -> None:
        """Write the snapshot, where one is wanted."""
        if self.settings.state_file is not None:
            write_state(self.state, self.settings.state_file)

    def clear(self) -> None:
        """Forget everything, and delete the repositories that this emulator made."""
        for repository in self.state.repositories.values():
            self.git.remove(self.git_path(repository))
        empty = State()
        for name in State.model_fields:
            setattr(self.state, name, getattr(empty, name))
        self.faults.clear()
        self.save()

    def api(self, path: str) -> str:
        """Return the REST address of a path."""
        return f"{self.settings.base_url}/api/v3{path}"

    def web(self, path: str) -> str:
        """Return the address of a page for people."""
        return f"{self.settings.base_url}{path}"

    def new_guid(self) -> str:
        """Return the next delivery GUID; the same run gives the same ones."""
        return str(uuid.uuid5(_GUIDS, str(self.state.next_id("guid"))))

    def new_token(self, account: Account) -> str:
        """Return a fresh token in a classic token's form."""
        number = self.state.next_id("token")
        parts = (uuid.uuid5(_TOKENS, f"{account.id}/{number}/{half}").hex for half in (1, 2))
        return "ghp_" + "".join(parts)[:36]

    def find_account(self, login: str) -> Account | None:
        """Return the account with this login, whatever its case."""
        wanted = login.casefold()
        return next(
            (it for it in self.state.accounts.values() if it.login.casefold() == wanted), None
        )

    def account(self, login: str) -> Account:
        """Return the account with this login.

        Raises:
            NotFoundError: There is none.
        """
        found = self.find_account(login)
        if found is None:
            raise NotFoundError
        return found

    def account_of_token(self, token: str) -> tuple[Account, Token] | None:
        """Return whose token this is, with the token's record."""
        record = self.state.tokens.get(token)
        return None if record is None else (self.state.accounts[record.account_id], record)

    def find_repository(self, owner: str, name: str) -> Repository | None:
        """Return the repository of this name, whatever its case."""
        wanted = (owner.casefold(), name.casefold())
        for repository in self.state.repositories.values():
            if (self.owner(repository).login.casefold(), repository.name.casefold()) == wanted:
                return repository
        return None

    def owner(self, repository: Repository) -> Account:
        """Return the account that owns a repository."""
        return self.state.accounts[repository.owner_id]

    def full_name(self, repository: Repository) -> str:
        """Return ``owner/name``."""
        return f"{self.owner(repository).login}/{repository.name}"

    def git_path(self, repository: Repository) -> Path:
        """Return the folder of a repository's git data."""
        return self.git.path(self.owner(repository).login, repository.name)

    def git_lock(self, repository: Repository) -> asyncio.Lock:
        """Return the lock under which refs are compared and moved."""
        return self._git_locks.setdefault(repository.id, asyncio.Lock())

    def api_of(self, repository: Repository, path: str = "") -> str:
        """Return the REST address of something in a repository."""
        return self.api(f"/repos/{quote(self.full_name(repository))}{path}")

    def web_of(self, repository: Repository, path: str = "") -> str:
        """Return the page of something in a repository."""
        return self.web(f"/{quote(self.full_name(repository))}{path}")

    def record(self, by: Account, repository: Repository, **entry: object) -> None:
        """Add a line to the journal of what was written."""
        self.state.journal.append(
            Writing.model_validate(
                {
                    "seq": len(self.state.journal) + 1,
                    "at": self.now(),
                    "by": by.login,
                    "repository": self.full_name(repository),
                }
                | entry
            )
        )
