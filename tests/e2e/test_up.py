from __future__ import annotations

import os
import signal
import stat
from pathlib import Path

import httpx
import pytest

from support.remit_command import Up, remit, until, up

pytestmark = pytest.mark.timeout(180)


def test_everything_runs_and_survives_a_restart(tmp_path: Path) -> None:
    data = tmp_path / "data"
    policy = tmp_path / "policy.yaml"
    policy.write_text("accept: observe\nsources: {console: {allowed: [local, ada]}}\n")

    with up(data) as first:
        token = first.token
        ports = (first.panel, first.where["source_url"])
        assert first.ask_panel("overview").status_code == 200
        assert httpx.get(f"{first.panel}/api/overview").status_code == 401
        assert f"{first.panel}/login?token={token}" in first.said()

        applied = remit("policy", "apply", str(policy), "--data", str(data), "--by", "ada")
        assert applied.returncode == 0, applied.stderr
        before = remit("policy", "show", "--data", str(data)).stdout
        assert "by ada" in before

        broken = tmp_path / "broken.yaml"
        broken.write_text("accept: auto\nrulez: []\n")
        refused = remit("policy", "apply", str(broken), "--data", str(data))
        assert refused.returncode == 1
        assert f"{broken}:2: rulez" in refused.stderr
        assert remit("policy", "show", "--data", str(data)).stdout == before

        streams = remit("admin", "streams", "check", "--data", str(data))
        assert streams.returncode == 0, streams.stderr
        assert "needs nobody" in remit("status", "--data", str(data)).stdout

        busy = remit("up", "--data", str(data), "--once")
        assert busy.returncode == 1
        assert "in use by another remit" in busy.stderr

    assert first.process.returncode == 0
    assert "nothing runs from" in remit("status", "--data", str(data)).stderr

    with up(data) as second:
        assert (second.panel, second.where["source_url"]) == ports
        assert second.token == token
        assert remit("policy", "show", "--data", str(data)).stdout == before


@pytest.fixture
def running(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_a_service_that_is_killed_comes_back_and_a_second_ctrl_c_leaves_at_once(
    running: Path,
) -> None:
    with up(running) as deployment:
        first = deployment.pid_of("eval")
        os.kill(first, signal.SIGKILL)
        until(lambda: deployment.pid_of("eval") != first, 30, deployment.out)
        until(lambda: "eval      ready" in deployment.said().split("died")[-1], 30, deployment.out)
        for _ in range(2):
            deployment.process.send_signal(signal.SIGINT)
        deployment.process.wait(20)
    assert not alive(deployment, "eval")
    assert not alive(deployment, "ticket")


def alive(deployment: Up, service: str) -> bool:
    try:
        os.kill(deployment.pid_of(service), 0)
    except ProcessLookupError:
        return False
    return True


def test_nothing_outlives_a_remit_up_that_is_killed(running: Path) -> None:
    with up(running) as deployment:
        deployment.process.kill()
        deployment.process.wait(10)
        for service in ("source", "panel", "executor"):
            until(lambda name=service: not alive(deployment, name), 20)
        # The data folder is free again, with all that was in it.
        again = remit("up", "--data", str(running), "--once", timeout=90)
    assert again.returncode == 0, again.stdout + again.stderr


SCRIPT = """
steps:
  - tools: [{name: shell, args: {command: "echo hello > greeting.txt"}}]
  - tools: [{name: mcp__remit__report, args: {kind: ready, text: I wrote a greeting.}}]
  - text: That is all.
"""


@pytest.mark.rule("DSP-2")
def test_a_question_on_the_command_line_is_answered_and_can_be_looked_up(tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text(SCRIPT)
    data = tmp_path / "data"
    agent = {"REMIT_AGENT_MODEL_KIND": "scripted", "REMIT_AGENT_SCRIPT": str(script)}
    with up(data, environment=agent) as running:
        asked = remit("ask", "please write a greeting", "--data", str(data), "--patience", "60")
        assert asked.returncode == 0, asked.stdout + asked.stderr
        assert "remit: I wrote a greeting." in asked.stdout
        (directory,) = (path for path in (data / "tickets").iterdir() if path.name[:2] == "t-")
        assert (directory / "work" / "greeting.txt").read_text() == "hello\n"

        ticket = remit("ticket", "show", directory.name, "--data", str(data)).stdout
        assert "stage: awaiting_review" in ticket
        assert "ready: I wrote a greeting." in ticket

        (line,) = running.ask_panel("triggers").json()["items"]
        fate = remit("trigger", "show", line["id"], "--data", str(data)).stdout
        assert "gate: admitted (allowed_person_asked)" in fate
        assert directory.name in fate
        unknown = remit("trigger", "show", "github:nothing", "--data", str(data))
        assert unknown.returncode == 1
        assert "github:nothing" in unknown.stderr


def test_only_the_owner_can_read_what_is_kept(running: Path) -> None:
    assert remit("up", "--data", str(running), "--once", timeout=90).returncode == 0
    assert stat.S_IMODE(running.stat().st_mode) == 0o700
    for secret in (running / "secrets").iterdir():
        assert stat.S_IMODE(secret.stat().st_mode) == 0o600, secret


def test_a_broken_policy_stops_the_start_before_anything_runs(tmp_path: Path) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text("accept: perhaps\n")
    ran = remit("up", "--data", str(tmp_path / "data"), "--policy", str(policy), "--once")
    assert ran.returncode == 1
    assert f"{policy}:1: accept: should be" in ran.stderr
    assert not (tmp_path / "data" / "nats").exists()


def test_external_servers_that_are_not_named_are_asked_for(tmp_path: Path) -> None:
    ran = remit("up", "--external", "--data", str(tmp_path / "data"), "--once")
    assert ran.returncode == 1
    assert "--external needs REMIT_NATS_URL" in ran.stderr
