"""A database that can be thrown away at any time."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from remit.panel.database import Database, DatabaseDamaged, Schema

ONE = Schema(1, "CREATE TABLE things (name TEXT PRIMARY KEY);")
TWO = Schema(2, "CREATE TABLE things (name TEXT PRIMARY KEY, more TEXT);")


def add(name: str):
    return lambda db: db.execute("INSERT INTO things (name) VALUES (?)", (name,))


def names(db: sqlite3.Connection) -> list[str]:
    return [row["name"] for row in db.execute("SELECT name FROM things ORDER BY name")]


async def opened(path: Path, schema: Schema = ONE) -> Database:
    database = Database(path, schema)
    await database.open()
    return database


async def test_what_was_written_is_there_after_a_restart(tmp_path):
    first = await opened(tmp_path / "db")
    await first.write(add("a"))
    await first.close()
    second = await opened(tmp_path / "db")
    assert await second.read(names) == ["a"]
    await second.close()


async def test_a_file_of_another_schema_is_made_anew(tmp_path):
    first = await opened(tmp_path / "db")
    await first.write(add("a"))
    await first.close()
    second = await opened(tmp_path / "db", TWO)
    assert await second.read(names) == []
    await second.close()


@pytest.mark.parametrize(
    "content", [b"", b"no database at all" * 500, b"SQLite format 3\0" + b"x" * 5000]
)
async def test_a_file_that_is_no_database_is_made_anew(tmp_path, content):
    (tmp_path / "db").write_bytes(content)
    database = await opened(tmp_path / "db")
    await database.write(add("a"))
    assert await database.read(names) == ["a"]
    await database.close()


async def test_a_change_that_fails_leaves_nothing_behind(tmp_path):
    database = await opened(tmp_path / "db")

    def half(db: sqlite3.Connection) -> None:
        add("a")(db)
        raise LookupError("and then")

    with pytest.raises(LookupError):
        await database.write(half)
    assert await database.read(names) == []
    await database.write(add("b"))
    assert await database.read(names) == ["b"]
    await database.close()


async def test_a_read_cannot_write(tmp_path):
    database = await opened(tmp_path / "db")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await database.read(add("a"))
    await database.close()


async def test_damage_is_told_and_a_rebuilt_database_is_read_by_all(tmp_path):
    database = await opened(tmp_path / "db")
    for number in range(2000):
        await database.write(add(f"{number} {'x' * 400}"))
    await database.write(lambda db: None)
    await database.close()
    size = (tmp_path / "db").stat().st_size
    with (tmp_path / "db").open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 8192))
    database = await opened(tmp_path / "db")
    with pytest.raises(DatabaseDamaged):
        await database.read(names)
    assert database.damaged.is_set()
    await database.rebuild()
    assert not database.damaged.is_set()
    await database.write(add("again"))
    assert await database.read(names) == ["again"]
    await database.close()
