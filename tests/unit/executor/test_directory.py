"""A Ticket's directory is prepared once, and never made again over work in it."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from remit.bus.clock import SystemClock
from remit.domain.ids import TicketId
from remit.executor.configuration import PreparePart
from remit.executor.directory import PreparationFailed, Prepared, TicketDirectory
from remit.executor.environment import inherited
from support.git_work import GitWork

TICKET = TicketId("t-dir")


@pytest.fixture
def directory(tmp_path: Path) -> TicketDirectory:
    return TicketDirectory(tmp_path, TICKET)


async def prepare(
    directory: TicketDirectory,
    *command: str,
    secrets: tuple[str, ...] = (),
    environment: dict[str, str] | None = None,
    limit: float = 20,
) -> Prepared:
    return await directory.prepare(
        PreparePart(command=command or None, limit=limit),
        environment={**inherited(os.environ), **(environment or {})},
        variables={"REMIT_TICKET_ID": "t-dir"},
        secrets=secrets,
        credential={},
        clock=SystemClock(),
    )


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


@pytest.mark.rule("ENV-3")
async def test_without_a_command_it_is_an_empty_repository_on_the_branch(
    directory: TicketDirectory,
) -> None:
    assert await directory.prepared() is None
    prepared = await prepare(directory)
    assert (prepared.branch, prepared.base) == ("remit/t-dir", None)
    assert GitWork(directory.work).git("branch", "--show-current").strip() == "remit/t-dir"
    assert await directory.prepared() == prepared


@pytest.mark.rule("ENV-1")
async def test_the_command_runs_in_the_execution_environment(directory: TicketDirectory) -> None:
    code = "import os,json; json.dump(dict(os.environ), open('seen.json','w'))"
    await prepare(directory, *python(code), "$NOTE", environment={"NOTE": "hello"})
    seen = json.loads((directory.work / "seen.json").read_text())
    assert seen["NOTE"] == "hello"
    assert not [key for key in seen if key.startswith("REMIT_")]


async def test_words_of_the_command_take_variables(directory: TicketDirectory) -> None:
    code = "import sys; open('given','w').write(' '.join(sys.argv[1:]))"
    words = ("$NOTE", "${NOTE}s", "$MISSING")
    await prepare(directory, *python(code), *words, environment={"NOTE": "hello"})
    assert (directory.work / "given").read_text() == "hello hellos $MISSING"


async def test_a_clone_is_put_on_the_tickets_branch(
    directory: TicketDirectory, tmp_path: Path
) -> None:
    origin = GitWork(tmp_path / "origin")
    origin.folder.mkdir()
    origin.git("init", "-q", "-b", "main")
    head = origin.commit("First", {"a.txt": "a\n"})
    prepared = await prepare(directory, "git", "clone", "--quiet", str(origin.folder), ".")
    assert prepared.base == head
    assert GitWork(directory.work).git("branch", "--show-current").strip() == "remit/t-dir"


@pytest.mark.rule("ENV-2")
@pytest.mark.rule("ENV-3")
async def test_a_failure_tells_its_output_without_secrets(directory: TicketDirectory) -> None:
    code = "import sys; print('token is s3cret!'); sys.exit(7)"
    with pytest.raises(PreparationFailed) as failed:
        await prepare(directory, *python(code), secrets=("s3cret!",))
    assert failed.value.output == "token is ***"
    assert "status 7" in failed.value.reason
    assert await directory.prepared() is None


@pytest.mark.rule("ENV-3")
async def test_a_second_try_starts_in_an_empty_directory_and_deletes_nothing(
    directory: TicketDirectory,
) -> None:
    for _ in range(2):
        with pytest.raises(PreparationFailed):
            await prepare(directory, *python("open('half','x'); raise SystemExit(1)"))
    await prepare(directory, *python("import os; assert not os.listdir()"))
    left = sorted(path.name for path in directory.root.glob("unprepared-*"))
    assert left == ["unprepared-1", "unprepared-2"]
    assert (directory.root / "unprepared-1" / "half").exists()


@pytest.mark.rule("ENV-3")
async def test_a_prepared_directory_is_never_made_again(directory: TicketDirectory) -> None:
    await prepare(directory)
    (directory.work / "work").write_text("unfinished")
    with pytest.raises(PreparationFailed, match="is in use"):
        await prepare(directory)
    assert (directory.work / "work").read_text() == "unfinished"


@pytest.mark.rule("ENV-3")
async def test_a_prepared_directory_that_is_gone_is_told_and_not_replaced(
    directory: TicketDirectory,
) -> None:
    await prepare(directory)
    directory.work.rename(directory.root / "moved")
    with pytest.raises(PreparationFailed, match="was prepared and is gone"):
        await directory.prepared()
    assert not directory.work.exists()


async def test_a_command_that_takes_too_long_is_ended_with_all_it_started(
    directory: TicketDirectory,
) -> None:
    with pytest.raises(PreparationFailed, match="did not end within"):
        await prepare(directory, "sh", "-c", "sleep 60 & echo started; wait", limit=0.3)


async def test_a_program_that_is_not_there_is_named(directory: TicketDirectory) -> None:
    with pytest.raises(PreparationFailed, match="no-such-program"):
        await prepare(directory, "no-such-program")


@pytest.mark.parametrize("name", ["../escape", "a/b", ".hidden", "", "x" * 200])
def test_an_id_that_is_no_plain_name_names_no_directory(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="cannot name a directory"):
        TicketDirectory(tmp_path, TicketId(name))
