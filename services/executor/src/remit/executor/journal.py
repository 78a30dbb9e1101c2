"""The journal of an Executor Session: what a host must know to go on where another one was.

It lies beside the agent's working directory, outside its reach. It is no part of the Ticket's state
(TKT-4): without it nothing is lost, but an agent may be told something twice.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from remit.executor.files import write_whole
from remit.telemetry.logs import logger


class Journal(BaseModel):
    """What is remembered of one Ticket's Session.

    Attributes:
        key: Drawn for the Ticket; marks its Inputs in prompts.
        agent: The agent whose session it is.
        session: The session's id, in the agent's words; None before there is one.
        giving: The Inputs of the exchange under way: being given, or given and not answered yet.
        owed: People wait for a word on how things stand (field report C13).
        said: Digests of what it said in this exchange, so that a repetition says it once (B10).
        hosts: How many hosts have been in this exchange.
        pull_request: Where the Ticket's pull request is, once there is one.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    key: str
    agent: str | None = None
    session: str | None = None
    giving: tuple[int, ...] = ()
    owed: bool = True
    said: tuple[str, ...] = ()
    hosts: int = 0
    pull_request: str | None = None


class JournalFile:
    """The journal on disk and its present state.

    Args:
        path: Where it is.
        new_key: Draws the key of a new journal.
    """

    def __init__(self, path: Path, new_key: str) -> None:
        self._path = path
        self._lock = asyncio.Lock()
        self.now = Journal(key=new_key)
        self.found = False

    async def load(self) -> None:
        """Read it, where there is one. One that cannot be read counts as missing, and is logged."""
        try:
            content = await asyncio.to_thread(self._path.read_bytes)
            self.now = Journal.model_validate_json(content)
            self.found = True
        except FileNotFoundError:
            return
        except (OSError, ValidationError) as error:
            logger("remit.executor.journal").warning(
                "a journal cannot be read", path=str(self._path), reason=str(error)
            )

    async def note(self, **changes: object) -> None:
        """Change it, on disk before this returns."""
        async with self._lock:
            self.now = self.now.model_copy(update=changes)
            content = self.now.model_dump_json().encode()
            await asyncio.to_thread(write_whole, self._path, content)
