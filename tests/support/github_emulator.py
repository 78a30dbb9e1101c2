"""The GitHub emulator as a process, with a person's hands on it, and a receiver of its webhooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from support.github_schemas import GitHubSchemas

_START_LIMIT = 20.0


class GitHubEmulator:
    """An emulator that runs as its own process.

    Args:
        base_url: Its address.
        schemas: Judge every answer that it gives to this client, where they are at hand.
    """

    def __init__(self, base_url: str, *, schemas: GitHubSchemas | None = None) -> None:
        self.base_url = base_url
        self._schemas = schemas
        self._clients: list[httpx.Client] = []
        self.control = httpx.Client(base_url=f"{base_url}/_emulator", timeout=10)

    def close(self) -> None:
        """Let go of every connection."""
        self._close_clients()
        self.control.close()

    def reset(self) -> None:
        """Empty the emulator; clients made before are closed."""
        self._close_clients()
        self.control.post("/reset").raise_for_status()

    def _close_clients(self) -> None:
        while self._clients:
            self._clients.pop().close()

    def client(self, token: str | None = None, *, prefix: str = "/api/v3") -> httpx.Client:
        """Return a REST client with or without a token; its answers are judged."""
        headers = {} if token is None else {"Authorization": f"token {token}"}
        return self._judged(f"{self.base_url}{prefix}", headers)

    def acting_as(self, login: str) -> httpx.Client:
        """Return a REST client that acts as a person; its answers are judged."""
        return self._judged(f"{self.base_url}/_emulator/as/{login}", {})

    def _judged(self, base_url: str, headers: dict[str, str]) -> httpx.Client:
        root = urlsplit(base_url).path

        def judge(response: httpx.Response) -> None:
            if self._schemas is None or response.status_code == 501:
                return
            response.read()
            path = response.request.url.path.removeprefix(root)
            body = response.json() if response.content else None
            faults = self._schemas.faults_of_answer(
                response.request.method, path, response.status_code, body
            )
            assert not faults, "\n".join(faults)

        hooks = {"response": [judge]}
        client = httpx.Client(base_url=base_url, headers=headers, event_hooks=hooks, timeout=10)
        self.keep(client)
        return client

    def keep(self, client: httpx.Client) -> None:
        """Close a client when the emulator is emptied or left."""
        self._clients.append(client)

    def set_up(self, path: str, /, **wanted: Any) -> dict[str, Any]:
        """Make something through the emulator's own API."""
        answer = self.control.post(path, json=wanted)
        assert answer.is_success, answer.text
        made: dict[str, Any] = answer.json()
        return made

    def settle(self) -> None:
        """Wait until every webhook delivery was tried."""
        self.control.post("/settle").raise_for_status()

    def written(self, **wanted: str) -> list[dict[str, Any]]:
        """Return what was written, in order."""
        rows: list[dict[str, Any]] = self.control.get("/written", params=wanted).json()
        return rows


@contextmanager
def run_emulator(
    folder: Path, *, state: bool = False, schemas: GitHubSchemas | None = None
) -> Iterator[GitHubEmulator]:
    """Run an emulator on a free loopback port, with its data in a folder."""
    command = [sys.executable, "-m", "remit.emulators.github", "--git-root", str(folder / "git")]
    if state:
        command += ["--state", str(folder / "state.json")]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("GitHub emulator on "), f"the emulator did not start: {line!r}"
            emulator = GitHubEmulator(line.split()[-1], schemas=schemas)
            try:
                _wait_for(emulator)
                yield emulator
            finally:
                emulator.close()
        finally:
            process.terminate()
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait_for(emulator: GitHubEmulator) -> None:
    deadline = time.monotonic() + _START_LIMIT
    while True:
        try:
            emulator.control.get("/").raise_for_status()
        except httpx.TransportError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


@dataclass(frozen=True)
class Received:
    """One webhook delivery as it came; header names in lower case."""

    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> str:
        """The event's name."""
        return self.headers["x-github-event"]

    @property
    def guid(self) -> str:
        """The delivery's GUID."""
        return self.headers["x-github-delivery"]

    @property
    def payload(self) -> dict[str, Any]:
        """The body as JSON."""
        payload: dict[str, Any] = json.loads(self.body)
        return payload

    @property
    def title(self) -> str:
        """Event and action, as ``issues.opened``."""
        action = self.payload.get("action")
        return self.event if action is None else f"{self.event}.{action}"


class Receiver:
    """Takes webhook deliveries on a loopback port.

    Attributes:
        url: Where it listens.
        received: What came, in order.
        answers: Statuses for the next deliveries; 200 when there is none.
    """

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: deque[int] = deque()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def titles(self) -> list[str]:
        """Return event and action of each delivery, pings left out."""
        return [it.title for it in self.received if it.event != "ping"]

    def last(self, title: str) -> Received:
        """Return the last delivery of an event and action."""
        return [it for it in self.received if it.title == title][-1]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver.received.append(Received(headers, body))
                self.send_response(receiver.answers.popleft() if receiver.answers else 200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler
