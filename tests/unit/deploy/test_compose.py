from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

import pytest
import yaml

from remit.cli.policy_file import read_policy
from remit.connectors.configuration import read_sources
from remit.executor.configuration import read_executor_file

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = Path(sysconfig.get_path("scripts"))
OURS = {path.parent.name for path in ROOT.glob("services/*/pyproject.toml")} - {"cli"}


def program(name: str) -> str:
    path = SCRIPTS / name
    if not path.exists():
        assert not os.environ.get("CI"), f"{name} is in the locked requirements"
        pytest.skip(f"{name} has no build for this machine")
    return str(path)


@pytest.fixture(scope="module")
def composed() -> dict[str, Any]:
    """The file as Docker Compose itself reads it; unknown settings are refused."""
    command = [program("docker-compose"), "--profile", "*", "config", "--format", "json"]
    read = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert read.returncode == 0, read.stderr
    found: dict[str, Any] = json.loads(read.stdout)
    return found


def test_every_service_has_a_container(composed: dict[str, Any]) -> None:
    assert set(composed["services"]) >= OURS | {"nats", "valkey", "collector", "streams"}


def test_every_service_is_asked_whether_it_is_ready(composed: dict[str, Any]) -> None:
    for name in OURS:
        assert "/readyz" in " ".join(composed["services"][name]["healthcheck"]["test"]), name


def test_no_container_can_gain_what_it_does_not_need(composed: dict[str, Any]) -> None:
    for name, service in composed["services"].items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["read_only"] is True, name
        assert "no-new-privileges:true" in service["security_opt"], name


def test_no_service_starts_before_the_streams_are_there(composed: dict[str, Any]) -> None:
    for name in OURS:
        needs = composed["services"][name]["depends_on"]
        assert needs["streams"]["condition"] == "service_completed_successfully", name


@pytest.mark.rule("ENV-2")
def test_secrets_are_files_and_never_variables(composed: dict[str, Any]) -> None:
    for name, service in composed["services"].items():
        for key, value in (service.get("environment") or {}).items():
            secret = any(word in key for word in ("PASSWORD", "TOKEN", "SECRET", "KEY"))
            assert not secret or key.endswith("_FILE"), f"{name} has {key} in its environment"
            assert "@" not in (value or ""), f"{name} has a password in {key}"


def test_only_what_people_and_providers_reach_is_published_and_on_loopback(
    composed: dict[str, Any],
) -> None:
    published = {
        name: [port["host_ip"] for port in service["ports"]]
        for name, service in composed["services"].items()
        if service.get("ports")
    }
    assert published == {"source": ["127.0.0.1"], "panel": ["127.0.0.1"]}


def test_the_bus_cannot_be_reached_from_outside(composed: dict[str, Any]) -> None:
    assert composed["networks"]["bus"]["internal"] is True
    for name in ("nats", "valkey"):
        assert set(composed["services"][name]["networks"]) == {"bus"}


def test_no_image_floats(composed: dict[str, Any]) -> None:
    for name, service in composed["services"].items():
        if "build" in service or name == "admin":
            continue
        tag = service["image"].rsplit(":", 1)[-1]
        assert tag[0].isdigit(), f"{name} follows {service['image']}"


def test_every_file_that_is_mounted_is_there_or_made_by_hand() -> None:
    file = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    made = {"sources.yaml"}
    for service in file["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if source.startswith("./") and Path(source).name not in made:
                assert (ROOT / source).exists(), source


def test_the_example_policy_is_a_policy() -> None:
    assert read_policy(ROOT / "deploy/compose/policy.yaml").policy.rules


def test_the_executor_document_is_one() -> None:
    for path in (
        "deploy/compose/executor.yaml",
        "services/cli/src/remit/cli/starter/executor.yaml",
    ):
        assert read_executor_file(ROOT / path).prepare.credential


def test_the_sources_documents_are_ones() -> None:
    for path in (
        "deploy/compose/sources.example.yaml",
        "services/cli/src/remit/cli/starter/sources.yaml",
    ):
        assert set(read_sources(ROOT / path)) == {"console"}


def test_the_images_are_built_as_they_should_be() -> None:
    linted = subprocess.run(
        [program("hadolint"), "deploy/images/Dockerfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert linted.returncode == 0, linted.stdout


def test_no_image_runs_as_root() -> None:
    stages = (ROOT / "deploy/images/Dockerfile").read_text().split("\nFROM ")[1:]
    for stage in stages:
        name = stage.splitlines()[0].split(" AS ")[1]
        if name in ("executor", "service"):
            assert stage.rstrip().endswith("USER 10001:10001"), name


def test_every_service_has_requirements_of_its_own() -> None:
    locked = {path.stem for path in ROOT.glob("requirements/*.txt")}
    assert locked == OURS | {"all", "cli", "remit-agent", "uv"}
