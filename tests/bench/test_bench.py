"""The benchmark runs, and prints what it promises."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_the_benchmark_prints_ratios_and_what_idle_services_take(tmp_path: Path) -> None:
    ratios = tmp_path / "ratios.json"
    command = [sys.executable, "-m", "bench", "--pour", "100", "--drip", "20", "--json", ratios]
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for shown in ("bare chain", "not admitted", "ignored", "accepted", "idle service", "executor"):
        assert shown in done.stdout
    assert all(0 < ratio < 10 for ratio in json.loads(ratios.read_text()).values())
