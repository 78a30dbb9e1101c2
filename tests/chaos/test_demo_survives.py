"""Whatever is killed in the middle of the demo, it ends as if nothing had happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.remit_command import remit

pytestmark = [pytest.mark.timeout(240), pytest.mark.slow]

MISHAPS = {
    "source": ("--kill", "source@received"),
    "eval": ("--kill", "eval@evaluating"),
    "ticket": ("--kill", "ticket@accepted"),
    "executor": ("--kill", "executor@working"),
    "executor while it pushes": ("--kill", "executor@proposed"),
    "channel": ("--kill", "channel@proposed"),
    "panel": ("--kill", "panel@accepted"),
    "valkey": ("--flush-valkey", "working", "--flush-valkey", "second"),
}


@pytest.mark.rule("ASG-7")
@pytest.mark.rule("TRG-3")
@pytest.mark.rule("CHN-3")
@pytest.mark.field("B10")
@pytest.mark.parametrize("mishap", MISHAPS.values(), ids=MISHAPS.keys())
def test_the_demo_ends_as_if_nothing_had_happened(mishap: tuple[str, ...], tmp_path: Path) -> None:
    data = tmp_path / "demo"
    ran = remit("demo", "--once", "--limit", "180", "--data", str(data), *mishap, timeout=230)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-3000:]
    assert "is killed" in ran.stdout or "Valkey is emptied" in ran.stdout
