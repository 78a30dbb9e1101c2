from __future__ import annotations

import stat
from pathlib import Path

import pytest

from remit.cli.layout import DataFolder, DataFolderInvalid, Ports
from remit.cli.logs import LogFiles


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_only_the_owner_can_read_the_data_folder(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    assert mode(folder.root) == mode(folder.secrets) == mode(folder.tickets) == 0o700


def test_a_data_folder_is_made_once_and_kept(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.create()
    (folder.logs / "source.log").write_text("kept")
    folder.create()
    assert (folder.logs / "source.log").read_text() == "kept"


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(DataFolderInvalid, match="cannot be made") as caught:
        DataFolder(tmp_path / "data").create()
    assert caught.value.path == tmp_path / "data"


@pytest.mark.rule("ENV-2")
def test_a_secret_is_made_once_and_only_the_owner_can_read_it(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.create()
    first = folder.secret("panel-token").read_text()
    assert mode(folder.secret("panel-token")) == 0o600
    assert folder.secret("panel-token").read_text() == first
    assert folder.secret("webhook-secret").read_text() != first
    assert len(first) >= 32


def test_a_port_is_the_same_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "ports.json"
    path.write_text('{"panel": 4711}')
    assert Ports(path, lambda _: True).of("panel") == 4711


def test_a_port_that_somebody_took_is_replaced_and_the_new_one_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remit.cli.layout.free_port", lambda: 4712)
    path = tmp_path / "ports.json"
    path.write_text('{"panel": 4711, "source": 4000}')
    assert Ports(path, lambda _: False).of("panel") == 4712
    assert Ports(path, lambda _: True).of("panel") == 4712
    assert Ports(path, lambda _: True).of("source") == 4000


def test_a_port_that_a_person_asks_for_is_taken_and_remembered(tmp_path: Path) -> None:
    path = tmp_path / "ports.json"
    assert Ports(path, lambda _: False).of("panel", 8080) == 8080
    assert Ports(path, lambda _: True).of("panel") == 8080


@pytest.mark.parametrize("content", ["{", "[]", '{"panel": "x"}'])
def test_damaged_ports_are_refused_with_the_remedy(tmp_path: Path, content: str) -> None:
    path = tmp_path / "ports.json"
    path.write_text(content)
    with pytest.raises(DataFolderInvalid, match="remove it"):
        Ports(path).of("panel")


def test_each_program_has_a_log_of_its_own(tmp_path: Path) -> None:
    logs = LogFiles(tmp_path)
    logs.write("source", b"one\n")
    logs.write("panel", b"two\n")
    logs.write("source", b"three\n")
    logs.close()
    assert (tmp_path / "source.log").read_bytes() == b"one\nthree\n"
    assert (tmp_path / "panel.log").read_bytes() == b"two\n"


def test_a_log_goes_on_where_it_was(tmp_path: Path) -> None:
    for line in (b"one\n", b"two\n"):
        logs = LogFiles(tmp_path)
        logs.write("source", line)
        logs.close()
    assert (tmp_path / "source.log").read_bytes() == b"one\ntwo\n"


def test_a_log_has_an_end_to_its_growth(tmp_path: Path) -> None:
    logs = LogFiles(tmp_path, largest=10)
    for line in (b"111111\n", b"222222\n", b"333333\n"):
        logs.write("source", line)
    logs.close()
    assert (tmp_path / "source.log").read_bytes() == b"333333\n"
    assert (tmp_path / "source.log.1").read_bytes() == b"222222\n"
