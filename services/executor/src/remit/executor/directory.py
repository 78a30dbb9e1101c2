"""A Ticket's directory: one each, prepared once, never made again over work in it (ENV-3).

Below the work root, for each Ticket::

    <ticket>/work/           the agent's working directory
    <ticket>/prepared.json   written once the directory was prepared, never before
    <ticket>/journal.json    what the Executor remembers of the Session
    <ticket>/outbox.git/     from where the branch is pushed
    <ticket>/unprepared-N/   what a failed preparation left

A directory without ``prepared.json`` never had an agent in it. What a failed preparation left is set
aside, not deleted: it may tell why.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from remit.bus.clock import Clock
from remit.domain.ids import TicketId
from remit.executor.commands import CommandMissing, CommandTooSlow, run_command
from remit.executor.configuration import PreparePart
from remit.executor.files import write_whole
from remit.executor.git import GitFailed, git
from remit.executor.redaction import without

_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")


class PreparationFailed(Exception):
    """A Ticket's directory could not be prepared.

    Attributes:
        ticket: The Ticket.
        reason: Why, in one line.
        output: The end of what the command wrote, without secrets.
    """

    def __init__(self, ticket: TicketId, reason: str, output: str = "") -> None:
        super().__init__(f"{ticket}: the directory could not be prepared: {reason}")
        self.ticket = ticket
        self.reason = reason
        self.output = output


class Prepared(BaseModel):
    """What is remembered of a preparation.

    Attributes:
        at: When it was done.
        branch: The branch for the Ticket's work.
        base: The commit that the branch started from; None where there was none.
        variables: The Ticket's own variables of the execution environment.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    at: datetime
    branch: str
    base: str | None = None
    variables: Mapping[str, str] = {}


def branch_of(ticket: TicketId) -> str:
    """Return the name of the branch for a Ticket's work."""
    return f"remit/{ticket}"


class TicketDirectory:
    """The directory of one Ticket.

    Args:
        work_root: Where all of them are.
        ticket: The Ticket.

    Raises:
        ValueError: The Ticket's id is no plain name, so it names no directory.
    """

    def __init__(self, work_root: Path, ticket: TicketId) -> None:
        if not _PLAIN_NAME.fullmatch(ticket):
            raise ValueError(f"{ticket!r} cannot name a directory")
        self.ticket = ticket
        self.root = (work_root / ticket).absolute()
        self.work = self.root / "work"
        self.journal = self.root / "journal.json"
        self.outbox = self.root / "outbox.git"
        self._prepared = self.root / "prepared.json"

    async def prepared(self) -> Prepared | None:
        """Return what is known of its preparation, None where it was not prepared yet.

        Raises:
            PreparationFailed: It was prepared, and is not there any more.
        """
        return await asyncio.to_thread(self._read_prepared)

    def _read_prepared(self) -> Prepared | None:
        try:
            prepared = Prepared.model_validate_json(self._prepared.read_bytes())
        except FileNotFoundError:
            return None
        if not self.work.is_dir():
            # Making it again would look like a recovery and lose what was in it.
            raise PreparationFailed(self.ticket, f"{self.work} was prepared and is gone")
        return prepared

    async def prepare(
        self,
        part: PreparePart,
        *,
        environment: Mapping[str, str],
        variables: Mapping[str, str],
        secrets: tuple[str, ...],
        credential: Mapping[str, str],
        clock: Clock,
    ) -> Prepared:
        """Prepare it: run the command in a new, empty directory, then mark it as prepared.

        Args:
            part: The command and its limits.
            environment: The variables that the command gets.
            variables: The Ticket's own variables; remembered with it.
            secrets: Values that must not show in the output.
            credential: Variables by which its git reaches the code host.
            clock: Says when.

        Raises:
            PreparationFailed: It could not be done; another try starts afresh.
        """
        branch = branch_of(self.ticket)
        await asyncio.to_thread(self._clear)
        try:
            if part.command is None:
                where = ("init", "--quiet", f"--initial-branch={branch}")
                await git(*where, cwd=self.work, action="make a repository")
                base = None
            else:
                command = [_filled_in(word, environment) for word in part.command]
                await self._run(part, command, {**environment, **credential}, secrets)
                base = await self._branch_off(branch)
        except (GitFailed, CommandMissing) as error:
            raise PreparationFailed(self.ticket, without(str(error), secrets)) from error
        prepared = Prepared(at=clock.now(), branch=branch, base=base, variables=variables)
        content = prepared.model_dump_json().encode()
        await asyncio.to_thread(write_whole, self._prepared, content)
        return prepared

    async def _run(
        self,
        part: PreparePart,
        command: list[str],
        environment: Mapping[str, str],
        secrets: tuple[str, ...],
    ) -> None:
        try:
            ran = await run_command(command, cwd=self.work, env=environment, limit=part.limit)
        except CommandTooSlow as error:
            output = without(error.output, secrets)
            raise PreparationFailed(self.ticket, str(error), output) from error
        if ran.status != 0:
            reason = f"{command[0]} ended with status {ran.status}"
            raise PreparationFailed(self.ticket, reason, without(ran.output, secrets))

    async def _branch_off(self, branch: str) -> str | None:
        """Put the work on a branch of its own, where it is in git; return where that starts."""
        if not (self.work / ".git").exists():
            return None
        try:
            found = await git(
                "rev-parse",
                "--verify",
                "--quiet",
                "HEAD^{commit}",
                cwd=self.work,
                action="find HEAD",
            )
        except GitFailed:
            return None  # A repository without a commit.
        current = await git("branch", "--show-current", cwd=self.work, action="find the branch")
        if current.output != branch:
            await git("checkout", "--quiet", "-B", branch, cwd=self.work, action="make the branch")
        return found.output

    def _clear(self) -> None:
        if self._read_prepared() is not None:
            raise PreparationFailed(self.ticket, f"{self.work} is in use and is not made again")
        if self.work.exists():
            number = sum(1 for _ in self.root.glob("unprepared-*")) + 1
            os.rename(self.work, self.root / f"unprepared-{number}")  # noqa: PTH104 - never replaces
        self.work.mkdir(parents=True)


def _filled_in(word: str, environment: Mapping[str, str]) -> str:
    """Return ``word`` with variables filled in; one that is not set stays as it is written."""
    return _VARIABLE.sub(
        lambda found: environment.get(found[1] or found[2], found[0]),
        word,
    )
