"""The demo verifies itself; this sees that it does, and that what it shows is there to see."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from support.remit_command import remit

PROMISES = 12

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    data = tmp_path_factory.mktemp("demo")
    return remit("demo", "--once", "--data", str(data), timeout=170)


def test_all_that_the_demo_promises_is_true(demo: subprocess.CompletedProcess[str]) -> None:
    assert demo.returncode == 0, demo.stdout[-5000:] + demo.stderr[-3000:]
    assert demo.stdout.count("✓") == PROMISES


@pytest.mark.parametrize(
    "shown",
    [
        "writes on issue #1: @remit-agent please take the discount off",
        "Trigger github:issue_comment/",
        "Eval of 1 Trigger(s)",
        "Decision accept by rule change-on-request opens t-",
        "Assignment taken by",
        "pull request accepted http://127.0.0.1:",
        "Report ready: The total now takes the discount off",
        "Disposition of github:issue_comment/",
        "the message fans out to t-",
        "git log in ",
        "Say in the README how a discount is given",
        "stage awaiting_review",
        "trace ",
        "push branch  remit-executor",
        "panel  http://127.0.0.1:",
    ],
)
def test_the_demo_shows_how_the_message_travels(
    demo: subprocess.CompletedProcess[str], shown: str
) -> None:
    assert shown in demo.stdout


@pytest.mark.rule("ENV-2")
def test_the_demo_shows_no_secret_but_the_link_that_lets_a_person_in(
    demo: subprocess.CompletedProcess[str],
) -> None:
    assert "ghp_" not in demo.stdout
    assert demo.stdout.count("token=") == 1


def test_a_demo_that_cannot_come_to_its_end_says_what_is_missing(tmp_path: Path) -> None:
    ran = remit("demo", "--once", "--limit", "1", "--data", str(tmp_path / "demo"), timeout=90)
    assert ran.returncode == 1
    assert "✗" in ran.stdout
    assert "are not true" in ran.stdout


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    ran = remit("demo", "--once", "--data", str(tmp_path))
    assert ran.returncode == 1
    assert "is not empty" in ran.stderr
