"""Waiting longer each time, with jitter, so that many waiters do not come back at once."""

from __future__ import annotations

import random
from collections.abc import Iterator


def delays(
    *, first: float = 0.2, most: float = 10.0, rng: random.Random | None = None
) -> Iterator[float]:
    """Yield delays in seconds without end: doubling from ``first`` up to ``most``.

    Each is drawn between half of it and all of it (equal jitter).
    """
    source = rng or random.Random()  # noqa: S311 - spreads load, guards nothing
    delay = first
    while True:
        yield delay * (0.5 + source.random() / 2)
        delay = min(delay * 2, most)
