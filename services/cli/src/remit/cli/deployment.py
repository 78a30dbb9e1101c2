"""A whole deployment on this machine: bus, coordination and every service, from start to stop."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from remit.bus.clock import Clock, SystemClock
from remit.bus.nats import NatsBus
from remit.bus.ports import Bus
from remit.bus.provisioning import apply
from remit.cli import fleet, starter
from remit.cli.embedded import NatsServer, ValkeyServer
from remit.cli.embedded.folder import FolderLock
from remit.cli.embedded.server import ask
from remit.cli.layout import DataFolder, Ports
from remit.cli.logs import LogFiles
from remit.cli.policy_apply import apply_policy, policy_in_force
from remit.cli.policy_file import PolicyFile, read_policy
from remit.cli.processes import spawn
from remit.cli.servers import ServerKeeper
from remit.cli.supervisor import Supervisor
from remit.cli.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """Servers of others, used instead of embedded ones.

    Attributes:
        nats_url: Where NATS is.
        redis_url: Where Redis or Valkey is.
    """

    nats_url: str
    redis_url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What a person may say about a deployment.

    Attributes:
        folder: Where its data is.
        external: Servers of others; None starts embedded ones.
        panel_port: Where the panel listens; None keeps the port it had.
        source_port: Where webhooks arrive; None keeps the port it had.
        policy: A Policy to put in force; None leaves what is in force, and puts the data folder's
            own in force where nothing is.
        log_level: debug, info, warning or error.
        extra: More variables, by service.
    """

    folder: DataFolder
    external: Neighbours | None = None
    panel_port: int | None = None
    source_port: int | None = None
    policy: Path | None = None
    log_level: str = "info"
    extra: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


class Deployment:
    """Everything that `remit up` runs, while its context is entered.

    Args:
        options: What a person said.
        view: Where what happens is shown.
        clock: Paces restarts.
    """

    def __init__(self, options: Options, view: View, clock: Clock | None = None) -> None:
        self._options = options
        self._view = view
        self._clock = clock or SystemClock()
        self._stack = AsyncExitStack()
        self._logs = LogFiles(options.folder.logs)
        self._supervisor: Supervisor | None = None
        self._wiring: fleet.Wiring | None = None
        self._valkey: ValkeyServer | None = None

    @property
    def wiring(self) -> fleet.Wiring:
        """Where its parts are."""
        assert self._wiring is not None, "not entered yet"
        return self._wiring

    @property
    def supervisor(self) -> Supervisor:
        """What keeps the services running."""
        assert self._supervisor is not None, "not entered yet"
        return self._supervisor

    @property
    def folder(self) -> DataFolder:
        """Where its data is."""
        return self._options.folder

    @property
    def panel_link(self) -> str:
        """The panel's address with the token that lets a person in."""
        token = self.folder.secret("panel-token").read_text()
        return f"{self.wiring.panel_url}/login?token={token}"

    async def __aenter__(self) -> Self:
        """Start everything; the services may still be starting when this returns.

        Raises:
            DataFolderBusy: Another `remit up` uses the data folder.
            DataFolderInvalid: The data folder cannot be used.
            PolicyFileInvalid: The Policy to put in force is broken.
            ServerFailed: An embedded server does not start.
            BusError: The bus is not there, or is too old.
            ServiceMissing: A service is not installed.
        """
        # Read before anything runs: a broken document is refused whole.
        policy = read_policy(self._options.policy) if self._options.policy else None
        folder = self.folder
        folder.create()
        async with AsyncExitStack() as stack:
            lock = FolderLock(folder.root)
            await lock.acquire()
            stack.callback(lock.release)
            starter.write_missing(folder)
            stack.callback(self._logs.close)
            nats_url, redis_url = await self._servers(stack)
            await self._provision(nats_url, policy)
            ports = Ports(folder.ports)
            self._wiring = fleet.Wiring(
                nats_url=nats_url,
                redis_url=redis_url,
                panel_port=ports.of("panel", self._options.panel_port),
                source_port=ports.of("source", self._options.source_port),
                log_level=self._options.log_level,
                extra=self._options.extra,
            )
            self._supervisor = Supervisor(
                fleet.programs(folder, self._wiring),
                spawn=spawn,
                clock=self._clock,
                on_change=self._view.change,
                on_line=self._hear,
            )
            self._supervisor.start()
            stack.push_async_callback(self._supervisor.stop)
            self._tell_where()
            stack.callback(folder.running.unlink, missing_ok=True)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the services in order, then the servers."""
        await self._stack.aclose()

    def stop_at_once(self) -> None:
        """Let a stop that is under way wait for nobody."""
        if self._supervisor is not None:
            self._supervisor.stop_at_once()

    async def forget_coordination(self) -> None:
        """Empty the embedded Valkey, as an operator might; costs time and nothing else."""
        if self._valkey is None:
            raise ValueError("the servers of others are not emptied")
        answer = await ask(self._valkey.port, b"FLUSHALL\r\n")
        if not answer.startswith(b"+OK"):
            raise ConnectionError(f"Valkey did not empty itself: {answer!r}")

    # -- parts ------------------------------------------------------------------------------

    async def _servers(self, stack: AsyncExitStack) -> tuple[str, str]:
        external = self._options.external
        if external is not None:
            return external.nats_url, external.redis_url
        nats = NatsServer(data_dir=self.folder.root / "nats")
        valkey = ValkeyServer(data_dir=self.folder.root / "valkey")
        for name, server in (("nats", nats), ("valkey", valkey)):
            keeper = ServerKeeper(name, server, self._clock, self._view.change)
            await keeper.start()
            stack.push_async_callback(keeper.stop)
        self._valkey = valkey
        return nats.url, valkey.url

    async def _provision(self, nats_url: str, policy: PolicyFile | None) -> None:
        bus = await NatsBus.connect(nats_url.split(","), name="remit-up")
        try:
            await apply(bus)
            await self._put_in_force(bus, policy)
        finally:
            await bus.close()

    async def _put_in_force(self, bus: Bus, policy: PolicyFile | None) -> None:
        if policy is None:
            current, _ = await policy_in_force(bus)
            if current is not None:
                return
            policy = read_policy(self.folder.policy)
        applied = await apply_policy(bus, policy, by="remit up", clock=self._clock)
        if applied.changed:
            self._view.say(f"policy {applied.version} is in force")

    def _hear(self, name: str, line: bytes) -> None:
        self._logs.write(name, line)
        self._view.line(name, line)

    def _tell_where(self) -> None:
        """Let commands beside this one find what runs."""
        where = {
            "pid": os.getpid(),
            "nats_url": self.wiring.nats_url,
            "redis_url": self.wiring.redis_url,
            "panel_url": self.wiring.panel_url,
            "source_url": self.wiring.source_url,
        }
        self.folder.running.write_text(json.dumps(where, indent=2) + "\n")
