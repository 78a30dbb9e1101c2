"""The data folder of `remit up`: where everything lies that outlives a restart."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from secrets import token_urlsafe

DEFAULT = Path(".remit")
"""Where `remit up` keeps its data unless told otherwise."""

_OWNER_ONLY_FOLDER = 0o700
_OWNER_ONLY_FILE = 0o600


class DataFolderInvalid(Exception):
    """The data folder cannot be used.

    Attributes:
        path: The folder, or the file in it that is wrong.
    """

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The places in a data folder.

    Attributes:
        root: The folder.
    """

    root: Path

    @property
    def logs(self) -> Path:
        """One log file for each service."""
        return self.root / "logs"

    @property
    def secrets(self) -> Path:
        """Files that only the owner may read, one secret each."""
        return self.root / "secrets"

    @property
    def tickets(self) -> Path:
        """One directory for each Ticket, in which its agent works."""
        return self.root / "tickets"

    @property
    def agent(self) -> Path:
        """The agents' own sessions, from which they go on after a restart."""
        return self.root / "agent"

    @property
    def panel(self) -> Path:
        """The panel's read model; can be removed at any time and is built again."""
        return self.root / "panel"

    @property
    def sources(self) -> Path:
        """The Sources document."""
        return self.root / "sources.yaml"

    @property
    def policy(self) -> Path:
        """The Policy document that is applied on the first start."""
        return self.root / "policy.yaml"

    @property
    def executor(self) -> Path:
        """The Executor document."""
        return self.root / "executor.yaml"

    @property
    def ports(self) -> Path:
        """The ports that stay the same after a restart."""
        return self.root / "ports.json"

    @property
    def running(self) -> Path:
        """What runs now and where, for commands beside `remit up`; gone when nothing runs."""
        return self.root / "running.json"

    def create(self) -> None:
        """Make what is missing, readable by the owner only.

        Raises:
            DataFolderInvalid: A folder cannot be made.
        """
        for folder in (
            self.root,
            self.logs,
            self.secrets,
            self.tickets,
            self.agent,
            self.panel,
        ):
            try:
                folder.mkdir(mode=_OWNER_ONLY_FOLDER, parents=True, exist_ok=True)
            except OSError as error:
                raise DataFolderInvalid(folder, f"cannot be made: {error.strerror}") from error

    def log(self, name: str) -> Path:
        """Return where a service's log lines go."""
        return self.logs / f"{name}.log"

    def secret(self, name: str, make: Callable[[], str] = token_urlsafe) -> Path:
        """Return the file that holds a secret, made with ``make`` where there is none yet."""
        path = self.secrets / name
        if not path.exists():
            write_secret(path, make())
        return path


def write_secret(path: Path, value: str) -> None:
    """Write ``value`` so that only the owner can ever read it, and never half of it."""
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY_FILE)
    with os.fdopen(descriptor, "w") as file:
        file.write(value)
    fresh.replace(path)


class Ports:
    """The ports of what people and providers reach: the same after a restart.

    Args:
        path: Where they are remembered.
        is_free: Says whether a port can be listened on now.
    """

    def __init__(self, path: Path, is_free: Callable[[int], bool] | None = None) -> None:
        self._path = path
        self._is_free = is_free or port_is_free

    def of(self, name: str, wanted: int | None = None) -> int:
        """Return the port of ``name``: the one asked for, else the one it had, else a free one.

        Raises:
            DataFolderInvalid: What is remembered cannot be read.
        """
        remembered = self._read()
        port = wanted or remembered.get(name)
        if port is None or (wanted is None and not self._is_free(port)):
            port = free_port()
        if remembered.get(name) != port:
            self._path.write_text(json.dumps({**remembered, name: port}, indent=2) + "\n")
        return port

    def _read(self) -> dict[str, int]:
        try:
            found = json.loads(self._path.read_text())
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise DataFolderInvalid(self._path, f"is not JSON ({error}); remove it") from error
        if not isinstance(found, dict) or not all(isinstance(one, int) for one in found.values()):
            raise DataFolderInvalid(self._path, "does not hold ports by name; remove it")
        return found


def port_is_free(port: int) -> bool:
    """Say whether nothing listens on ``port`` of the loopback interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Return a port of the loopback interface that nothing listens on."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
