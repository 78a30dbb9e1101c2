from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remit.bus.clock import SystemClock
from remit.cli.processes import spawn
from remit.cli.supervisor import Program, State, Status, Supervisor

SERVICE = """
import json, os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
print(json.dumps({"event": "serving", "port": 4711, "pid": os.getpid()}), flush=True)
print(json.dumps({"event": "ready"}), flush=True)
time.sleep(60)
"""


def python(name: str, code: str, **environment: str) -> Program:
    return Program(name=name, command=(sys.executable, "-c", code), environment=environment)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rsplit(") ", 1)[1][0] != "Z"


async def gone(pid: int) -> bool:
    for _ in range(500):
        if not alive(pid):
            return True
        await asyncio.sleep(0.01)
    return False


def until_written(path: Path) -> str:
    deadline = time.monotonic() + 20
    while not (path.exists() and path.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return path.read_text()


async def test_a_program_runs_says_what_it_says_and_stops_when_asked() -> None:
    process = await spawn(python("service", SERVICE))
    said = []
    async for line in process.lines():
        said.append(line)
        if len(said) == 2:
            process.terminate()
    assert b'"serving"' in said[0]
    assert await process.wait() == 0
    process.terminate()
    process.kill()


async def test_a_program_gets_its_variables_and_its_errors_are_heard() -> None:
    code = "import os, sys; print(os.environ['REMIT_X'], file=sys.stderr)"
    process = await spawn(python("service", code, REMIT_X="here"))
    assert [line async for line in process.lines()] == [b"here\n"]
    assert await process.wait() == 0


async def test_a_line_without_end_and_one_that_is_huge_are_both_heard() -> None:
    code = "import sys; sys.stdout.write('x' * 3_000_000 + '\\nend')"
    process = await spawn(python("service", code))
    said = b"".join([line async for line in process.lines()])
    assert said == b"x" * 3_000_000 + b"\nend"
    await process.wait()


async def test_the_output_ends_with_the_program_also_if_a_grandchild_holds_it_open() -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(30)'])\n"
        "print(child.pid, flush=True)\n"
    )
    process = await spawn(python("service", code))
    async with asyncio.timeout(10):
        said = [line async for line in process.lines()]
    os.kill(int(said[0]), signal.SIGKILL)
    assert await process.wait() == 0


async def test_a_supervised_program_that_is_killed_comes_back_in_a_new_process() -> None:
    changes: list[Status] = []
    died = asyncio.Event()

    def note(status: Status) -> None:
        changes.append(status)
        if status.state is State.DIED:
            died.set()

    supervisor = Supervisor(
        [python("service", SERVICE)], spawn=spawn, clock=SystemClock(), on_change=note
    )
    supervisor.start()
    async with asyncio.timeout(20):
        await supervisor.all_ready()
        first = supervisor.kill("service")
        await died.wait()
        await supervisor.all_ready()
        second = supervisor.status()["service"].pid
        await supervisor.stop()
    assert first is not None
    assert second is not None
    assert first != second
    assert await gone(second)
    assert [one.state for one in changes if one.state is State.READY] == [State.READY] * 2


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a watchdog does it")
def test_children_die_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    code = f"import os, time; open({str(told)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    parent = (
        "import asyncio, sys\n"
        "from remit.cli.processes import spawn\n"
        "from remit.cli.supervisor import Program\n"
        "async def main():\n"
        f"    program = Program(name='x', command=(sys.executable, '-c', {code!r}))\n"
        "    await (await spawn(program)).wait()\n"
        "asyncio.run(main())\n"
    )
    running = subprocess.Popen([sys.executable, "-c", parent])
    pid = int(until_written(told))
    running.kill()
    running.wait()
    for _ in range(500):
        if not alive(pid):
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} outlived its parent")
