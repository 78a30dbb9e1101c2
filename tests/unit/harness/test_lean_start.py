"""What a start of the agent does not wait for."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import json, sys
import remit.harness.app
print(json.dumps(sorted(sys.modules)))
"""
HEAVY = {"mcp", "mcp_types", "httpx", "httpx2", "jsonschema", "yaml"}


def test_starting_imports_nothing_that_only_some_sessions_need() -> None:
    output = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    ).stdout
    modules = set(json.loads(output))
    assert "acp" in modules
    assert not HEAVY & modules


def test_asking_for_the_version_does_not_even_import_the_protocol() -> None:
    program = "import sys, remit.harness.__main__; print('acp' in sys.modules)"
    output = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    ).stdout
    assert output == "False\n"
