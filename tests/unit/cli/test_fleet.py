from __future__ import annotations

from pathlib import Path

import pytest

from remit.cli import fleet, starter
from remit.cli.layout import DataFolder
from remit.cli.policy_file import read_policy
from remit.domain.policy import AcceptMode

WIRING = fleet.Wiring(
    nats_url="nats://127.0.0.1:1",
    redis_url="redis://127.0.0.1:2",
    panel_port=8080,
    source_port=8081,
    extra={"eval": {"REMIT_EVAL_LIMIT_SECONDS": "5"}},
)
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "missing", list)


@pytest.mark.usefixtures("installed")
def test_every_service_of_the_house_is_run(tmp_path: Path) -> None:
    house = {path.parent.name for path in ROOT.glob("services/*/pyproject.toml")} - {"cli"}
    assert {one.name for one in fleet.programs(DataFolder(tmp_path), WIRING)} == house


@pytest.mark.usefixtures("installed")
def test_nothing_comes_in_before_the_rest_stops_and_people_can_look_to_the_end(
    tmp_path: Path,
) -> None:
    stages = {one.name: one.stage for one in fleet.programs(DataFolder(tmp_path), WIRING)}
    assert min(stages, key=lambda name: stages[name]) == "source"
    assert max(stages, key=lambda name: stages[name]) == "panel"
    assert stages["ticket"] < stages["channel"]


@pytest.mark.usefixtures("installed")
def test_a_service_finds_its_neighbours_and_gets_its_own_variables(tmp_path: Path) -> None:
    by_name = {one.name: one for one in fleet.programs(DataFolder(tmp_path), WIRING)}
    assert by_name["eval"].environment["REMIT_EVAL_LIMIT_SECONDS"] == "5"
    assert "REMIT_EVAL_LIMIT_SECONDS" not in by_name["ticket"].environment
    assert by_name["panel"].environment["REMIT_PORT"] == "8080"
    assert by_name["source"].environment["REMIT_PORT"] == "8081"
    assert {one.environment["REMIT_NATS_URL"] for one in by_name.values()} == {WIRING.nats_url}
    traced = {name for name, one in by_name.items() if "REMIT_PANEL_URL" in one.environment}
    assert traced == by_name.keys() - {"panel"}, "its own traces would outlast the panel"


def test_a_service_that_is_not_installed_is_named_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fleet, "missing", lambda: ["eval"])
    with pytest.raises(fleet.ServiceMissing, match=r"remit\.eval; install .* remit-cli\[up\]"):
        fleet.programs(DataFolder(tmp_path), WIRING)


def test_a_new_data_folder_admits_the_person_at_the_console(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.create()
    starter.write_missing(folder)
    policy = read_policy(folder.policy).policy
    assert policy.accept is AcceptMode.AUTO
    assert {name: part.allowed for name, part in policy.sources.items()} == {
        "console": frozenset({"local"})
    }
    assert folder.secret("console-token").read_text()


def test_what_a_person_wrote_is_not_overwritten(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.create()
    folder.policy.write_text("accept: off\n")
    starter.write_missing(folder)
    assert folder.policy.read_text() == "accept: off\n"
