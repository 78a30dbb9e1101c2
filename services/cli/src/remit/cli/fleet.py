"""The services of Remit as programs: what is run, with which variables, and in which order."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec

from remit.cli.layout import DataFolder
from remit.cli.supervisor import Program

HOST = "127.0.0.1"
PERSON = "local"
"""Who the person at this machine is, in the console's identities."""

STOP_ORDER = (("source",), ("executor",), ("eval",), ("ticket",), ("channel",), ("panel",))
"""What is stopped together, first to last: nothing new comes in, work is handed back, what was
decided is written, and people can look at it to the end."""

SERVICES = tuple(name for stage in STOP_ORDER for name in stage)


class ServiceMissing(Exception):
    """A service is not installed beside the command.

    Attributes:
        names: The services.
    """

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            f"not installed: {', '.join(f'remit.{name}' for name in names)}; "
            "install the services with remit-cli[up]"
        )
        self.names = tuple(names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """Where the parts of a deployment find each other.

    Attributes:
        nats_url: The bus.
        redis_url: Read positions and leases.
        panel_port: Where the panel listens.
        source_port: Where webhooks arrive.
        log_level: debug, info, warning or error.
        extra: More variables, by service.
    """

    nats_url: str
    redis_url: str
    panel_port: int
    source_port: int
    log_level: str = "info"
    extra: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def panel_url(self) -> str:
        """Where people look."""
        return f"http://{HOST}:{self.panel_port}"

    @property
    def source_url(self) -> str:
        """Where providers deliver."""
        return f"http://{HOST}:{self.source_port}"


def missing() -> list[str]:
    """Return the services that are not installed."""
    return [name for name in SERVICES if find_spec(f"remit.{name}") is None]


def programs(folder: DataFolder, wiring: Wiring) -> list[Program]:
    """Return the services of the deployment in ``folder``.

    Raises:
        ServiceMissing: Some are not installed.
    """
    if absent := missing():
        raise ServiceMissing(absent)
    common = {
        "REMIT_NATS_URL": wiring.nats_url,
        "REMIT_REDIS_URL": wiring.redis_url,
        "REMIT_HOST": HOST,
        "REMIT_PORT": "0",
        "REMIT_SOURCES_FILE": str(folder.sources.absolute()),
        "REMIT_LOG_LEVEL": wiring.log_level,
        "PYTHONUNBUFFERED": "1",
    }
    # Traces go to the panel; its own would have nowhere to go once it stops.
    traced = {"REMIT_PANEL_URL": wiring.panel_url}
    own: Mapping[str, Mapping[str, str]] = {
        "source": {"REMIT_PORT": str(wiring.source_port)},
        "executor": {
            "REMIT_WORK_ROOT": str(folder.tickets.absolute()),
            "REMIT_EXECUTOR_FILE": str(folder.executor.absolute()),
            "REMIT_AGENT_HOME": str(folder.agent.absolute()),
        },
        "panel": {
            "REMIT_PORT": str(wiring.panel_port),
            "REMIT_PANEL_DATA_DIR": str(folder.panel.absolute()),
            "REMIT_PANEL_TOKEN_FILE": str((folder.secrets / "panel-token").absolute()),
            "REMIT_PANEL_PERSON": PERSON,
            "REMIT_SOURCE_URL": wiring.source_url,
            "REMIT_CONSOLE_TOKEN_FILE": str((folder.secrets / "console-token").absolute()),
        },
    }
    return [
        Program(
            name=name,
            command=(sys.executable, "-m", f"remit.{name}"),
            environment={
                **common,
                **(traced if name != "panel" else {}),
                **own.get(name, {}),
                **wiring.extra.get(name, {}),
            },
            stage=stage,
            # Paths in the documents start where the documents are.
            cwd=folder.root,
        )
        for stage, names in enumerate(STOP_ORDER)
        for name in names
    ]
