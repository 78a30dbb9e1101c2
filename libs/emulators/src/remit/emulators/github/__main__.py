"""Runs one emulator on a loopback port until it is told to stop."""

import argparse
import ipaddress
import socket
import sys
from pathlib import Path

import uvicorn

from .app import create_app
from .settings import GitHubEmulatorSettings
from .state import StateFileError


def main(arguments: list[str] | None = None) -> int:
    """Run the emulator and return the process's exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m remit.emulators.github",
        description="A local GitHub for demos and tests: REST, webhooks, and real git.",
    )
    parser.add_argument("--host", default="127.0.0.1", help="loopback address to listen on")
    parser.add_argument("--port", type=int, default=0, help="port to listen on; 0 takes a free one")
    parser.add_argument("--git-root", type=Path, required=True, help="folder for the repositories")
    parser.add_argument("--state", type=Path, help="file that keeps everything across restarts")
    parser.add_argument("--base-url", help="address that links start with, if not the listener's")
    chosen = parser.parse_args(arguments)
    if not _is_loopback(chosen.host):
        parser.error(
            f"--host {chosen.host} is not a loopback address; the emulator lets anybody act as "
            "anyone, so it listens on this machine alone"
        )
    family = socket.AF_INET6 if ":" in chosen.host else socket.AF_INET
    # The protocol is named, or asyncio leaves Nagle's delay on and each answer takes 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((chosen.host, chosen.port))
        except OSError as error:
            print(f"cannot listen on {chosen.host}:{chosen.port}: {error}", file=sys.stderr)
            return 1
        port = listener.getsockname()[1]
        shown = f"[{chosen.host}]" if ":" in chosen.host else chosen.host
        base_url = chosen.base_url or f"http://{shown}:{port}"
        settings = GitHubEmulatorSettings(
            base_url=base_url, git_root=chosen.git_root, state_file=chosen.state
        )
        try:
            app = create_app(settings)
        except StateFileError as error:
            print(error, file=sys.stderr)
            return 1
        print(f"GitHub emulator on {base_url}", flush=True)
        config = uvicorn.Config(
            app,
            # The standard loop: it runs git, and another one's pipes fail in ways of their own.
            loop="asyncio",
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=3,
        )
        server = uvicorn.Server(config)
        server.run(sockets=[listener])
    return 0


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


if __name__ == "__main__":
    sys.exit(main())
