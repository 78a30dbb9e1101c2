"""How commands beside `remit up` find the deployment they speak to."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from remit.bus.nats import NatsBus
from remit.cli.layout import DataFolder, DataFolderInvalid
from remit.cli.panel_client import PanelClient, panel_at
from remit.runtime.settings import ServiceSettings

PANEL_TOKEN = "REMIT_PANEL_TOKEN_FILE"  # noqa: S105 - the name of a variable
"""Names the file with the token that the panel wants."""


class NothingRuns(Exception):
    """No deployment can be found.

    Attributes:
        folder: The data folder that was looked at.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"nothing runs from {folder}: start it with 'remit up', name its folder with --data, "
            "or set REMIT_NATS_URL and REMIT_PANEL_URL"
        )
        self.folder = folder


class TokenMissing(Exception):
    """The panel's token cannot be read.

    Attributes:
        path: Where it should be.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"the panel's token at {path} cannot be read ({reason}): set {PANEL_TOKEN}"
        )
        self.path = path


@dataclass(frozen=True, slots=True)
class Running:
    """Where a deployment on this machine is.

    Attributes:
        folder: Its data folder.
        pid: The process of its `remit up`.
        nats_url: Its bus.
        redis_url: Its coordination.
        panel_url: Its panel.
        source_url: Where webhooks arrive.
    """

    folder: DataFolder
    pid: int
    nats_url: str
    redis_url: str
    panel_url: str
    source_url: str


def running(folder: DataFolder) -> Running:
    """Return what `remit up` told about itself.

    Raises:
        NothingRuns: It is not running.
        DataFolderInvalid: What it told cannot be read.
    """
    try:
        told = json.loads(folder.running.read_text())
        return Running(folder=folder, **told)
    except FileNotFoundError:
        raise NothingRuns(folder.root) from None
    except (ValueError, TypeError) as error:
        raise DataFolderInvalid(folder.running, f"cannot be read ({error}); remove it") from error


def settings_for(folder: DataFolder) -> ServiceSettings:
    """Return the settings of the environment, else those of the deployment in ``folder``.

    Raises:
        NothingRuns: Neither says where the bus is.
    """
    settings = ServiceSettings()
    if "nats_url" in settings.model_fields_set:
        return settings
    found = running(folder)
    return settings.model_copy(update={"nats_url": found.nats_url, "panel_url": found.panel_url})


@asynccontextmanager
async def panel_of(folder: DataFolder) -> AsyncIterator[PanelClient]:
    """Yield the panel of the environment, else that of the deployment in ``folder``.

    Raises:
        NothingRuns: Neither says where it is.
        TokenMissing: Its token is not where it should be.
    """
    settings = ServiceSettings()
    url = settings.panel_url or running(folder).panel_url
    given = os.environ.get(PANEL_TOKEN)
    path = Path(given) if given else folder.secrets / "panel-token"
    try:
        token = path.read_text().strip()
    except OSError as error:
        raise TokenMissing(path, str(error.strerror)) from error
    async with panel_at(url, token) as panel:
        yield panel


@asynccontextmanager
async def bus_of(settings: ServiceSettings) -> AsyncIterator[NatsBus]:
    """Yield a connection to the bus, whatever the state of its streams.

    Raises:
        BusUnavailable: NATS did not answer.
    """
    password = settings.nats_password_file
    bus = await NatsBus.connect(
        settings.nats_servers,
        name=f"remit-cli {settings.instance}",
        user=settings.nats_user,
        password=password.read_text().strip() if password else None,
    )
    try:
        yield bus
    finally:
        await bus.close()
