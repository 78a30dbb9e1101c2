"""What the executor service can be told from outside."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import Field

from remit.runtime.settings import ServiceSettings


def default_work_root() -> Path:
    """Return where Tickets' directories are where nothing else is said."""
    return Path.home() / ".local" / "share" / "remit" / "tickets"


class ExecutorSettings(ServiceSettings):
    """Settings of the executor service.

    Attributes:
        executor: Which kind of Executor this is: whose offers it takes.
        capacity: How many Executor Sessions this process hosts together.
        work_root: Where Tickets' directories are. Hosts that take over from each other share it.
        executor_file: The Executor document: agents, prepare command, variables.
        agent_command: The agent's command line; takes the place of the document's.
        agent_pass: Names of variables that the agent gets from this process, separated by commas,
            beside the document's.
        prepare_command: The prepare command line; takes the place of the document's.
        ack_wait_seconds: How long a host may be silent before another takes over (ASG-7).
        lease_seconds: How long a lease on a Session outlives a host that died.
        bus_patience_seconds: How long a host goes on with its Sessions while the bus is away.
        turn_limit_seconds: How long an agent may work on what it was given.
        attempts: How often the work on one Input is tried before a person is told that it failed.
        retry_seconds: How long to wait before the second try; it doubles from then on.
        cancel_seconds: How long a cancelled agent may take to stop before it is ended.
        receipt_seconds: How long a pull request is waited for.
    """

    executor: str = "default"
    capacity: int = Field(default=16, ge=1)
    work_root: Path = Field(default_factory=default_work_root)
    executor_file: Path | None = None
    agent_command: str | None = None
    agent_pass: str = ""
    prepare_command: str | None = None
    ack_wait_seconds: float = Field(default=10.0, ge=1)
    lease_seconds: float = Field(default=10.0, ge=1)
    bus_patience_seconds: float = Field(default=60.0, gt=0)
    turn_limit_seconds: float = Field(default=3600.0, gt=0)
    attempts: int = Field(default=3, ge=1)
    retry_seconds: float = Field(default=2.0, ge=0)
    cancel_seconds: float = Field(default=10.0, gt=0)
    receipt_seconds: float = Field(default=60.0, gt=0)

    @property
    def ack_wait(self) -> timedelta:
        """``ack_wait_seconds`` as a duration."""
        return timedelta(seconds=self.ack_wait_seconds)

    @property
    def lease_ttl(self) -> timedelta:
        """``lease_seconds`` as a duration."""
        return timedelta(seconds=self.lease_seconds)
