"""What holds for every layer: fast layers first, and no sockets in unit tests."""

from __future__ import annotations

from pathlib import Path

import pytest

LAYERS = ("unit", "integration", "e2e", "chaos", "bench")
"""In the order in which they run: what fails fast tells first."""

# Contract suites live in support modules; their assertions explain themselves like any test's.
pytest.register_assert_rewrite("support")

_HERE = Path(__file__).parent


def layer_of(path: Path) -> str:
    """Return the layer that a test file belongs to.

    Raises:
        pytest.UsageError: It lies in none, so nobody would run it.
    """
    first = path.relative_to(_HERE).parts[0]
    if first not in LAYERS:
        raise pytest.UsageError(f"{path} lies in no layer; move it under one of {LAYERS}")
    return first


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    layers = {id(item): layer_of(item.path) for item in items}
    items.sort(key=lambda item: LAYERS.index(layers[id(item)]))
    for item in items:
        if layers[id(item)] == "unit":
            # Unix sockets stay allowed: an event loop wakes itself through a pair of them.
            item.add_marker(pytest.mark.disable_socket)
