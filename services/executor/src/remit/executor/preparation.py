"""Preparing a Ticket's directory in its execution environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit, urlunsplit

from remit.bus.clock import Clock
from remit.connectors.contract import GitRemote, ProviderUnavailable
from remit.connectors.secrets import SecretUnavailable
from remit.domain.ticket import Ticket
from remit.executor.code_hosts import CodeHosts
from remit.executor.configuration import PreparePart
from remit.executor.directory import PreparationFailed, Prepared, TicketDirectory, branch_of
from remit.executor.environment import ExecutionEnvironment, Reach, Variable, inherited
from remit.executor.fencing import plain
from remit.executor.git import credential_for
from remit.executor.hearing import Arrived
from remit.telemetry import names, tracing

EXECUTOR = "the executor"
"""The registrant of the variables below."""

_TICKET_VARIABLES = {
    "REMIT_TICKET_ID": "The id of this piece of work.",
    "REMIT_TICKET_TITLE": "Its short name.",
    "REMIT_SOURCE": "The Source that the request came from.",
    "REMIT_SCOPE_NAME": "The repository or chat that the request came from.",
    "REMIT_BRANCH": "The branch for this work.",
    "REMIT_REPOSITORY_URL": "The repository, without a credential.",
}


def ticket_variables(values: Mapping[str, str]) -> list[Variable]:
    """Return the variables that the Executor registers for each Ticket, those that have values."""
    return [
        Variable(key=key, value=values[key], description=description, registrant=EXECUTOR)
        for key, description in _TICKET_VARIABLES.items()
        if key in values
    ]


def executor_variables(author_name: str, author_email: str) -> list[Variable]:
    """Return the variables that the Executor registers for all Tickets: who commits are from."""
    return [
        Variable(
            key=f"GIT_{role}_{part}",
            value=value,
            description="Whom commits name.",
            registrant=EXECUTOR,
        )
        for role in ("AUTHOR", "COMMITTER")
        for part, value in (("NAME", author_name), ("EMAIL", author_email))
    ]


def reserved() -> list[Variable]:
    """Return the Tickets' variables without values, to find at start what clashes with them."""
    return ticket_variables(dict.fromkeys(_TICKET_VARIABLES, ""))


class Preparation:
    """Prepares the directories of Tickets.

    Args:
        part: The prepare command and its limits.
        environment: What every Ticket's environment has.
        code_hosts: Where Tickets' branches go.
        clock: Says when.
    """

    def __init__(
        self,
        part: PreparePart,
        environment: ExecutionEnvironment,
        code_hosts: CodeHosts,
        clock: Clock,
    ) -> None:
        self._part = part
        self._environment = environment
        self._code_hosts = code_hosts
        self._clock = clock

    @property
    def tries(self) -> int:
        """How often it is tried."""
        return self._part.tries

    def environment(self, prepared: Prepared) -> ExecutionEnvironment:
        """Return the execution environment of the Ticket that ``prepared`` is for."""
        return self._environment.joined(ticket_variables(prepared.variables))

    async def prepare(
        self, directory: TicketDirectory, ticket: Ticket, request: Arrived | None, trace: str | None
    ) -> Prepared:
        """Prepare a Ticket's directory, unless it was; one try.

        Raises:
            PreparationFailed: It could not be done.
        """
        prepared = await directory.prepared()
        if prepared is not None:
            return prepared
        facts = {names.TICKET_ID: ticket.id}
        with tracing.span(names.SPAN_PREPARE, on=trace, attributes=facts):
            return await self._prepare(directory, ticket, request)

    async def _prepare(
        self, directory: TicketDirectory, ticket: Ticket, request: Arrived | None
    ) -> Prepared:
        try:
            remote = await self._remote(ticket)
            own = _of(ticket, request, remote)
            environment = self._environment.joined(ticket_variables(own))
            values = environment.values(Reach.PREPARE)
            secrets = environment.secrets(Reach.PREPARE)
        except (ProviderUnavailable, SecretUnavailable) as error:
            raise PreparationFailed(ticket.id, str(error)) from error
        credential: dict[str, str] = {}
        if remote is not None and self._part.credential:
            credential = credential_for(remote)
            secrets = (*secrets, remote.password)
        return await directory.prepare(
            self._part,
            environment={**inherited(os.environ), **values},
            variables=own,
            secrets=secrets,
            credential=credential,
            clock=self._clock,
        )

    async def _remote(self, ticket: Ticket) -> GitRemote | None:
        if not ticket.channels:
            return None
        return await self._code_hosts.remote(ticket.channels[0])


def _of(ticket: Ticket, request: Arrived | None, remote: GitRemote | None) -> dict[str, str]:
    values = {
        "REMIT_TICKET_ID": str(ticket.id),
        "REMIT_TICKET_TITLE": " ".join(plain(ticket.title).split()),
        "REMIT_SOURCE": str(ticket.mandate.source),
        "REMIT_BRANCH": branch_of(ticket.id),
    }
    if request is not None and request.input.trigger is not None:
        values["REMIT_SCOPE_NAME"] = request.input.trigger.scope.name
    if remote is not None:
        values["REMIT_REPOSITORY_URL"] = without_credential(remote.url)
    return values


def without_credential(url: str) -> str:
    """Return ``url`` without a user or a password in it."""
    parts = urlsplit(url)
    if not parts.scheme or "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
