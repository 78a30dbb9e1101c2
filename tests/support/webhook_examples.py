"""The example payloads that GitHub's community collected: `@octokit/webhooks-examples`."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

_HERE = Path(__file__).parent.parent / "fixtures" / "npm"
_INDEX = Path("node_modules/@octokit/webhooks-examples/api.github.com/index.json")

Example = tuple[str, dict[str, Any]]


def webhook_examples() -> list[Example]:
    """Return the name and payload of each; skip the test where the package is not installed."""
    index = Path(os.environ.get("REMIT_NPM_FIXTURES") or _HERE) / _INDEX
    if not index.exists():
        pytest.skip("the example payloads are not here; run tests/fixtures/npm/install.sh")
    return [
        (event["name"], example)
        for event in json.loads(index.read_text())
        for example in event["examples"]
    ]
