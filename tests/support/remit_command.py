"""The `remit` command as a process of its own, as people run it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

COMMAND = (sys.executable, "-m", "remit.cli")


def clean_environment() -> dict[str, str]:
    """Return this process's variables without those that Remit reads."""
    return {name: value for name, value in os.environ.items() if not name.startswith("REMIT_")}


def remit(*words: str, timeout: float = 60) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*COMMAND, *words],
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )


@dataclass(frozen=True)
class Up:
    """A `remit up` that runs.

    Attributes:
        process: Its process.
        data: Its data folder.
        out: What it says.
        where: What it tells other commands.
    """

    process: subprocess.Popen[bytes]
    data: Path
    out: Path
    where: Mapping[str, Any]

    @property
    def panel(self) -> str:
        """Where the panel is."""
        return str(self.where["panel_url"])

    @property
    def token(self) -> str:
        """What lets a person into the panel."""
        return (self.data / "secrets" / "panel-token").read_text()

    def ask_panel(self, path: str) -> httpx.Response:
        """Ask the panel's API."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.get(f"{self.panel}/api/{path}", headers=headers, timeout=10)

    def said(self) -> str:
        """Return all that it said so far."""
        return self.out.read_text()

    def pid_of(self, service: str) -> int:
        """Return the process of a service, as its log tells."""
        lines = (self.data / "logs" / f"{service}.log").read_text().splitlines()
        serving = [json.loads(line) for line in lines if '"serving"' in line]
        return int(serving[-1]["pid"])


@contextlib.contextmanager
def up(
    data: Path,
    *words: str,
    ready_within: float = 60,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Up]:
    """Run `remit up` until everything is ready; stop it afterwards, in order."""
    out = data.with_suffix(".out")
    with out.open("wb") as said:
        process = subprocess.Popen(
            [*COMMAND, "up", "--data", str(data), *words],
            env={**clean_environment(), **(environment or {})},
            stdout=said,
            stderr=said,
        )
    try:
        until(lambda: "everything is ready" in out.read_text(), ready_within, out)
        where = json.loads((data / "running.json").read_text())
        yield Up(process, data, out, where)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(60)


def until(holds: Any, within: float, out: Path | None = None) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + within
    while not holds():
        said = f"; it said:\n{out.read_text()[-3000:]}" if out else ""
        assert time.monotonic() < deadline, f"not within {within:g} s{said}"
        time.sleep(0.05)
