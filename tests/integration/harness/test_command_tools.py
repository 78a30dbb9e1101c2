"""The tools that start processes: shell, glob and grep."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import Any

import pytest

from remit.harness.tools import (
    FileError,
    InvalidArgumentsError,
    Tool,
    ToolContext,
    ToolOutput,
    ToolTimeoutError,
    Workspace,
    command_environment,
    glob_tool,
    grep_tool,
    shell_tool,
)

ENVIRONMENT = {"PATH": os.environ["PATH"], "COLOUR": "red"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src/deep").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "src/a.py").write_text("def f():\n    return 'Needle'\n")
    (tmp_path / "src/deep/b.py").write_text("needle = 1\r\n" * 3)
    (tmp_path / "src/deep/c.bin").write_bytes(b"needle\0")
    (tmp_path / ".git/config.py").write_text("needle\n")
    return tmp_path


async def run(tool: Tool, folder: Path, **arguments: Any) -> ToolOutput:
    context = ToolContext(Workspace.at(folder), ENVIRONMENT)
    return await tool.run(tool.check(arguments), context)


def shell(time_limit: float = 20.0) -> Tool:
    return shell_tool(time_limit=time_limit, longest=20.0)


def alive(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


async def gone(process_id: int) -> bool:
    """Whether a process has ended within a second."""
    for _ in range(100):
        if not alive(process_id):
            return True
        await asyncio.sleep(0.01)
    return False


async def written(path: Path) -> int:
    """The number that a command writes into a file."""
    for _ in range(500):
        number = content(path)
        if number:
            return int(number)
        await asyncio.sleep(0.01)
    raise AssertionError(f"{path} was never written")


def content(path: Path) -> str:
    return path.read_text().strip() if path.exists() else ""


async def test_a_command_gives_its_output_its_errors_and_its_exit_code(folder: Path) -> None:
    output = await run(shell(), folder, command="echo out; echo err >&2; exit 3")
    assert output.text == "out\nerr\n[exit code: 3]"
    assert output.meta == {"exitCode": 3, "cwd": str(folder)}
    assert not output.is_error


async def test_a_command_runs_in_the_workspace_or_where_it_is_told(folder: Path) -> None:
    assert (await run(shell(), folder, command="pwd")).text.startswith(str(folder))
    output = await run(shell(), folder, command="pwd", workdir="src")
    assert output.text.startswith(f"{folder}/src")
    with pytest.raises(InvalidArgumentsError, match="gone is not a directory"):
        await run(shell(), folder, command="pwd", workdir="gone")


async def test_a_command_has_no_input(folder: Path) -> None:
    assert (await run(shell(), folder, command="cat")).text == "(no output)\n[exit code: 0]"


async def test_a_command_gets_its_own_environment_and_no_more(folder: Path) -> None:
    output = await run(shell(), folder, command="env")
    names = {line.partition("=")[0] for line in output.text.splitlines()[:-1]}
    assert {"PATH", "COLOUR"} <= names
    assert names <= {"PATH", "COLOUR", "PWD", "OLDPWD", "SHLVL", "_"}


async def test_long_output_keeps_its_beginning_and_its_end(folder: Path) -> None:
    output = await run(shell(), folder, command="echo first; seq 100000; echo last")
    assert output.text.startswith("first\n1\n")
    assert output.text.endswith("100000\nlast\n[exit code: 0]")
    assert "bytes left out" in output.text
    assert len(output.text) < 33_000


async def test_output_that_is_cut_inside_a_character_stays_text(folder: Path) -> None:
    output = await run(shell(), folder, command="yes é | head -c 100001")
    assert "é" in output.text


async def test_a_command_that_takes_too_long_is_ended_and_what_it_said_is_kept(
    folder: Path,
) -> None:
    with pytest.raises(ToolTimeoutError, match=r"ended after 0\.3 s") as late:
        await run(shell(), folder, command="echo so far; sleep 60", timeout_ms=300)
    assert "so far" in str(late.value)
    assert late.value.code == "TOOL_TIMEOUT"


async def test_no_command_may_take_longer_than_the_longest(folder: Path) -> None:
    tool = shell_tool(time_limit=0.1, longest=0.2)
    with pytest.raises(ToolTimeoutError, match=r"after 0\.2 s"):
        await run(tool, folder, command="sleep 60", timeout_ms=60_000)


async def test_a_command_that_ignores_being_asked_is_killed(folder: Path) -> None:
    started = time.monotonic()
    with pytest.raises(ToolTimeoutError):
        await run(
            shell(),
            folder,
            command="trap '' TERM; echo $$ > pid; while true; do sleep 0.1; done",
            timeout_ms=300,
        )
    assert await gone(await written(folder / "pid"))
    assert time.monotonic() - started < 5


async def test_what_a_command_leaves_running_ends_with_it(folder: Path) -> None:
    output = await run(shell(), folder, command="sleep 60 & echo $! > pid; echo done")
    assert output.text == "done\n[exit code: 0]"
    assert await gone(await written(folder / "pid"))


async def test_a_cancelled_command_ends_with_all_it_started(folder: Path) -> None:
    command = "(sleep 60 & echo $! > child; wait) & echo $$ > pid; wait"
    running = asyncio.create_task(run(shell(), folder, command=command))
    child, parent = await written(folder / "child"), await written(folder / "pid")
    started = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - started < 1
    assert await gone(child)
    assert await gone(parent)


async def test_a_cancelled_command_may_clean_up(folder: Path) -> None:
    command = "trap 'echo cleaned > note; exit' TERM; echo 1 > ready; while :; do sleep 0.01; done"
    running = asyncio.create_task(run(shell(), folder, command=command))
    await written(folder / "ready")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert (folder / "note").read_text() == "cleaned\n"


def test_only_harmless_and_named_variables_reach_commands() -> None:
    source = {
        "PATH": "/bin",
        "HOME": "/home/x",
        "LC_ALL": "C",
        "GITHUB_TOKEN": "secret",
        "REMIT_AGENT_API_KEY": "secret",
        "NODE_ENV": "test",
    }
    assert command_environment(source, ["NODE_ENV", "ABSENT"]) == {
        "PATH": "/bin",
        "HOME": "/home/x",
        "LC_ALL": "C",
        "NODE_ENV": "test",
    }


async def test_glob_finds_files_by_pattern(folder: Path) -> None:
    assert (await run(glob_tool(), folder, pattern="**/*.py")).text == (
        "src/a.py\nsrc/deep/b.py\n(2 files)"
    )
    assert (await run(glob_tool(), folder, pattern="*.py", path="src")).text == (
        "src/a.py\n(1 files)"
    )
    assert (await run(glob_tool(), folder, pattern="*.rs")).text == "(0 files)"


async def test_glob_says_what_it_left_out(folder: Path) -> None:
    for number in range(205):
        (folder / f"n{number:03}.txt").touch()
    text = (await run(glob_tool(), folder, pattern="*.txt")).text
    assert text.startswith("n000.txt\n")
    assert text.endswith("(the first 200 of 205 files; use a narrower pattern)")


async def test_grep_finds_lines_of_text_files(folder: Path) -> None:
    assert (await run(grep_tool(), folder, pattern="[Nn]eedle'")).text == (
        "src/a.py:2:     return 'Needle'\n(1 lines)"
    )
    text = (await run(grep_tool(), folder, pattern="needle", ignore_case=True)).text
    assert text.splitlines()[1:] == [
        "src/deep/b.py:1: needle = 1",
        "src/deep/b.py:2: needle = 1",
        "src/deep/b.py:3: needle = 1",
        "(4 lines)",
    ]


async def test_grep_looks_where_it_is_told(folder: Path) -> None:
    only = await run(grep_tool(), folder, pattern="needle", include="a.*", ignore_case=True)
    assert only.text.endswith("(1 lines)")
    one = await run(grep_tool(), folder, pattern="^needle = 1$", path="src/deep/b.py")
    assert one.text.endswith("(3 lines)")


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        (grep_tool(), {"pattern": "("}, "the search cannot be made"),
        (glob_tool(), {"pattern": "/etc/*"}, "the search cannot be made"),
        (glob_tool(), {"pattern": "*", "path": "gone"}, "gone is not a directory"),
        (grep_tool(), {"pattern": "x", "path": "gone"}, "gone does not exist"),
    ],
)
async def test_a_search_that_cannot_be_made_says_why(
    folder: Path, tool: Tool, arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises((InvalidArgumentsError, FileError), match=problem):
        await run(tool, folder, **arguments)


async def test_a_pattern_that_takes_for_ever_is_ended_by_a_cancel(folder: Path) -> None:
    (folder / "evil.txt").write_text("a" * 40 + "!\n")
    running = asyncio.create_task(run(grep_tool(), folder, pattern="(a+)+$"))
    await asyncio.sleep(0.3)
    assert not running.done()
    started = time.monotonic()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert time.monotonic() - started < 1
