from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from remit.cli.embedded import DataFolderBusy, NatsServer, ServerFailed, ValkeyServer
from remit.cli.embedded.process import ServerProcess
from remit.cli.embedded.server import ask

Server = NatsServer | ValkeyServer
KINDS = [NatsServer, ValkeyServer]

PARENT = """
import asyncio, sys, time
from pathlib import Path
from remit.cli.embedded import NatsServer, ValkeyServer

async def main():
    server = {"NatsServer": NatsServer, "ValkeyServer": ValkeyServer}[sys.argv[1]](
        data_dir=Path(sys.argv[2])
    )
    await server.start()
    print(server.pid, flush=True)
    time.sleep(60)

asyncio.run(main())
"""


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    # What nobody has waited for yet is still listed, as a zombie.
    return state != "Z"


async def until_gone(pid: int) -> bool:
    for _ in range(200):
        if not alive(pid):
            return True
        await asyncio.sleep(0.02)
    return False


@pytest.mark.parametrize("kind", KINDS)
async def test_it_answers_on_loopback_and_is_gone_after_it_stopped(
    kind: type[Server], tmp_path: Path
) -> None:
    async with kind(data_dir=tmp_path / "data") as server:
        pid = server.pid
        assert pid is not None
        assert server.url.endswith(f"//127.0.0.1:{server.port}")
        assert await ask(server.port, b"PING\r\n")
    assert server.pid is None
    assert not alive(pid)
    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("kind", KINDS)
async def test_a_second_server_on_one_folder_is_refused_with_the_folders_name(
    kind: type[Server], tmp_path: Path
) -> None:
    async with kind(data_dir=tmp_path):
        with pytest.raises(DataFolderBusy, match=str(tmp_path)) as busy:
            await kind(data_dir=tmp_path).start()
        assert busy.value.path == tmp_path
    async with kind(data_dir=tmp_path) as free_again:
        assert free_again.running


@pytest.mark.parametrize("kind", KINDS)
async def test_it_comes_back_on_its_port_after_a_restart_and_after_a_crash(
    kind: type[Server], tmp_path: Path
) -> None:
    async with kind(data_dir=tmp_path) as server:
        port, first = server.port, server.pid
        await server.restart()
        assert server.port == port
        assert server.pid != first
        await server.kill()
        assert server.pid is None
        await server.restart()
        assert server.port == port
        assert await ask(port, b"PING\r\n")


async def test_what_valkey_was_told_survives_a_crash(tmp_path: Path) -> None:
    async with ValkeyServer(data_dir=tmp_path) as server:
        assert await ask(server.port, b"SET a 1\r\n") == b"+OK\r\n"
        await server.kill()
        await server.restart()
        assert await ask(server.port, b"GET a\r\n") == b"$1\r\n1\r\n"


@pytest.mark.parametrize("kind", KINDS)
async def test_a_paused_server_is_silent_and_can_still_be_stopped(
    kind: type[Server], tmp_path: Path
) -> None:
    async with kind(data_dir=tmp_path) as server:
        server.pause()
        await asyncio.sleep(0.1)  # a signal reaches every thread of a process in its own time
        assert await ask(server.port, b"PING\r\n") == b""
        server.resume()
        assert await ask(server.port, b"PING\r\n")
        server.pause()
    assert not server.running


@pytest.mark.parametrize("kind", KINDS)
async def test_it_dies_with_the_process_that_started_it(kind: type[Server], tmp_path: Path) -> None:
    parent = await asyncio.to_thread(
        subprocess.Popen,
        [sys.executable, "-c", PARENT, kind.__name__, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    pid = int(await asyncio.to_thread(parent.stdout.readline))
    assert alive(pid)
    with pytest.raises(DataFolderBusy):
        await kind(data_dir=tmp_path).start()
    parent.send_signal(signal.SIGKILL)
    await asyncio.to_thread(parent.wait)
    parent.stdout.close()
    assert await until_gone(pid)
    async with kind(data_dir=tmp_path) as next_one:
        assert next_one.running


async def test_where_the_kernel_does_not_tell_a_watchdog_does(tmp_path: Path) -> None:
    with (tmp_path / "lock").open("w") as lock:
        process = ServerProcess(
            ["sleep", "60"], log=tmp_path / "log", hold=lock.fileno(), watchdog=True
        )
        await process.stop()
        assert not process.alive()
        process = ServerProcess(
            ["sleep", "60"], log=tmp_path / "log", hold=lock.fileno(), watchdog=True
        )
        watchdog = process._watchdog
        assert watchdog is not None
        assert watchdog.stdin is not None
        watchdog.stdin.close()  # as the death of this process would
        await asyncio.to_thread(watchdog.wait)
        assert await until_gone(process.pid)
        process._watchdog = None
        await process.kill()


@pytest.mark.parametrize("kind", KINDS)
async def test_a_port_that_is_taken_is_told_with_the_log(
    kind: type[Server], tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = kind(data_dir=tmp_path, port=taken.getsockname()[1])
        with pytest.raises(ServerFailed, match="in use") as failed:
            await server.start()
        assert failed.value.log == server.log
    async with server:
        assert server.running


@pytest.mark.parametrize(
    ("kind", "variable"),
    [(NatsServer, "REMIT_NATS_SERVER"), (ValkeyServer, "REMIT_VALKEY_SERVER")],
)
async def test_operators_may_bring_their_own(
    kind: type[Server], variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.write_text("#!/bin/sh\necho own server; exit 1\n")
    own.chmod(0o755)
    monkeypatch.setenv(variable, str(own))
    with pytest.raises(ServerFailed, match="own server"):
        await kind(data_dir=tmp_path / "data").start()
