from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harness.tools import (
    FileError,
    InvalidArgumentsError,
    OutsideWorkspaceError,
    Tool,
    ToolContext,
    Workspace,
    edit_tool,
    read_tool,
    write_tool,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def call(tool: Tool, folder: Path, **arguments: Any) -> str:
    context = ToolContext(Workspace.at(folder), {})
    return (await tool.run(tool.check(arguments), context)).text


async def test_read_numbers_the_lines_of_a_file(folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"one\r\ntwo\xff\n")
    assert (
        await call(read_tool(), folder, file_path="a.txt")
        == "1: one\n2: two�\n(end of file, 2 lines)"
    )


async def test_read_goes_on_where_it_is_told(folder: Path) -> None:
    (folder / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 6)))
    read = read_tool()
    assert await call(read, folder, file_path="a.txt", offset=2, limit=2) == (
        "2: line 2\n3: line 3\n(more lines follow; go on with offset 4)"
    )
    assert await call(read, folder, file_path="a.txt", offset=5) == (
        "5: line 5\n(end of file, 5 lines)"
    )
    assert await call(read, folder, file_path="a.txt", offset=6) == "(the file ends before that)"


async def test_read_cuts_endless_lines_and_names_empty_files(folder: Path) -> None:
    (folder / "long").write_text("x" * 5000)
    (folder / "empty").write_text("")
    text = await call(read_tool(), folder, file_path="long")
    assert "x" * 2000 + "[... 3000 characters left out]" in text
    assert await call(read_tool(), folder, file_path="empty") == "(the file is empty)"


async def test_read_lists_a_directory(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder / "b.txt").touch()
    assert await call(read_tool(), folder, file_path=".") == "b.txt\nsub/"
    assert await call(read_tool(), folder, file_path="sub") == "(an empty directory)"


async def test_read_refuses_what_is_no_text_file(folder: Path) -> None:
    (folder / "image").write_bytes(b"PNG\0\1")
    os.mkfifo(folder / "pipe")
    for name, problem in [
        ("image", "not a text file"),
        ("pipe", "not a regular file"),
        ("gone", "No such file"),
    ]:
        with pytest.raises(FileError, match=problem):
            await call(read_tool(), folder, file_path=name)


async def test_write_makes_a_file_and_its_directories(folder: Path) -> None:
    assert await call(write_tool(), folder, file_path="a/b/c.txt", content="é\r\n") == (
        "Created a/b/c.txt."
    )
    assert (folder / "a/b/c.txt").read_bytes() == "é\r\n".encode()
    assert await call(write_tool(), folder, file_path="a/b/c.txt", content="") == (
        "Replaced a/b/c.txt."
    )
    assert [path.name for path in (folder / "a/b").iterdir()] == ["c.txt"]


async def test_a_replaced_file_keeps_its_mode(folder: Path) -> None:
    script = folder / "run.sh"
    script.write_text("old")
    script.chmod(0o750)
    await call(write_tool(), folder, file_path="run.sh", content="new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o750


async def test_a_write_that_fails_leaves_what_was_there(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a.txt").write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(FileError, match="No space left on device"):
        await call(write_tool(), folder, file_path="a.txt", content="new")
    assert (folder / "a.txt").read_text() == "old"
    assert names_in(folder) == ["a.txt"]


ESCAPES = ["../outside.txt", "/etc/remit-test", "sub/../../outside.txt", "link/x.txt", "pointer"]


@pytest.mark.parametrize("path", ESCAPES)
@pytest.mark.parametrize("tool", [write_tool(), edit_tool()], ids=["write", "edit"])
async def test_nothing_outside_the_workspace_is_ever_changed(
    folder: Path, tool: Tool, path: str
) -> None:
    outside = folder.parent / "outside.txt"
    outside.write_text("safe")
    (folder / "link").symlink_to(folder.parent)
    (folder / "pointer").symlink_to(outside)
    (folder / "sub").mkdir()
    arguments = (
        {"content": "x"} if tool.name == "write" else {"old_string": "safe", "new_string": "x"}
    )
    with pytest.raises(OutsideWorkspaceError) as refused:
        await call(tool, folder, file_path=path, **arguments)
    assert refused.value.code == "OUTSIDE_WORKSPACE"
    assert path in str(refused.value)
    assert str(folder) in str(refused.value)
    assert outside.read_text() == "safe"
    assert not (folder.parent / "x.txt").exists()


async def test_a_link_that_stays_inside_is_followed(folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "link").symlink_to(folder / "real")
    await call(write_tool(), folder, file_path="link/a.txt", content="in")
    assert (folder / "real/a.txt").read_text() == "in"


async def test_a_workspace_reached_over_a_link_is_its_real_directory(folder: Path) -> None:
    (folder.parent / "alias").symlink_to(folder)
    await call(write_tool(), folder.parent / "alias", file_path=str(folder / "a"), content="in")
    assert (folder / "a").read_text() == "in"


@given(st.text(st.characters(codec=None), min_size=1, max_size=30))
def test_no_path_leads_out_of_the_workspace(path: str) -> None:
    workspace = Workspace(Path("/nowhere/work"))
    try:
        target = workspace.locate_writable(path)
    except (OutsideWorkspaceError, InvalidArgumentsError):
        return
    assert target.is_relative_to("/nowhere/work")


async def test_edit_replaces_the_one_place(folder: Path) -> None:
    (folder / "a.py").write_text("x = 1\ny = 2\n")
    text = await call(edit_tool(), folder, file_path="a.py", old_string="y = 2", new_string="y = 3")
    assert text == "Changed one place in a.py."
    assert (folder / "a.py").read_text() == "x = 1\ny = 3\n"


async def test_edit_keeps_line_ends_that_a_model_does_not_see(folder: Path) -> None:
    (folder / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    await call(edit_tool(), folder, file_path="a.txt", old_string="one\ntwo", new_string="1\n2")
    assert (folder / "a.txt").read_bytes() == b"1\r\n2\r\n"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("z", "y", "does not stand in a.txt"),
        ("a", "b", "stands in a.txt 3 times"),
        ("a", "a", "are the same"),
    ],
)
async def test_edit_refuses_what_is_not_clear(
    folder: Path, old: str, new: str, problem: str
) -> None:
    (folder / "a.txt").write_text("a a a")
    with pytest.raises((FileError, InvalidArgumentsError), match=problem):
        await call(edit_tool(), folder, file_path="a.txt", old_string=old, new_string=new)
    assert (folder / "a.txt").read_text() == "a a a"


async def test_edit_replaces_every_place_when_told(folder: Path) -> None:
    (folder / "a.txt").write_text("a a a")
    text = await call(
        edit_tool(),
        folder,
        file_path="a.txt",
        old_string="a",
        new_string="b",
        replace_all=True,
    )
    assert text == "Changed 3 places in a.txt."
    assert (folder / "a.txt").read_text() == "b b b"


async def test_edit_refuses_a_file_that_is_no_text(folder: Path) -> None:
    (folder / "a").write_bytes(b"\xff\xfe")
    with pytest.raises(FileError, match="not UTF-8"):
        await call(edit_tool(), folder, file_path="a", old_string="x", new_string="y")


@pytest.mark.parametrize(
    ("tool", "arguments", "problem"),
    [
        (read_tool(), {}, "file_path: Field required"),
        (read_tool(), {"file_path": 7}, "file_path: Input should be a valid string"),
        (read_tool(), {"file_path": "a", "offset": 0}, "offset: Input should be greater"),
        (read_tool(), {"file_path": "a", "ofset": 1}, "ofset: Extra inputs"),
        (read_tool(), {"file_path": "a", "limit": "5"}, "limit: Input should be a valid integer"),
        (write_tool(), {"file_path": "", "content": ""}, "file_path: String should have"),
    ],
)
def test_arguments_that_do_not_fit_the_schema_are_refused_by_name(
    tool: Tool, arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(InvalidArgumentsError) as refused:
        tool.check(arguments)
    assert problem in str(refused.value)
    assert refused.value.code == "INVALID_ARGS"


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
def test_what_cannot_be_a_path_is_refused(folder: Path, path: str) -> None:
    with pytest.raises(InvalidArgumentsError, match="not a path"):
        Workspace.at(folder).locate(path)


def test_a_schema_says_what_the_check_demands_and_nothing_made_up() -> None:
    schema = read_tool().schema.parameters
    assert schema["required"] == ["file_path"]
    assert schema["additionalProperties"] is False
    assert schema["properties"]["offset"] == {
        "default": 1,
        "description": "The first line to read, from 1.",
        "minimum": 1,
        "type": "integer",
    }
    assert "title" not in schema
