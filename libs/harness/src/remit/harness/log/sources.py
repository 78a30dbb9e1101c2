"""The `sourceEventSeqs` of a row: runs of three and more are stored as their two ends."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from remit.harness.log.errors import RowError
from remit.harness.log.json_text import is_safe_integer

_SHORTEST_RUN = 3


def read_sources(value: Any, seq: int) -> tuple[int, ...]:
    """Expand stored sources to the list they stand for.

    Args:
        value: The stored JSON value.
        seq: The place of the row that holds it; a source is always earlier.

    Raises:
        RowError: It is not a non-empty list of distinct places and runs of places.
    """
    if not isinstance(value, list) or not value:
        raise RowError("sourceEventSeqs is not a list with something in it")
    sources: list[int] = []
    for item in value:
        if is_safe_integer(item) and item >= 0:
            sources.append(item)
        elif _is_run(item, seq):
            sources.extend(range(item[0], item[1] + 1))
        else:
            raise RowError(f"sourceEventSeqs holds {item!r}, which is no earlier event")
    if len(set(sources)) != len(sources):
        raise RowError("sourceEventSeqs names an event twice")
    return tuple(sources)


def write_sources(sources: tuple[int, ...]) -> list[int | list[int]]:
    """Shorten a list of sources to what is stored; a list that is not rising is stored as it is."""
    if any(later <= earlier for earlier, later in pairwise(sources)):
        return list(sources)
    stored: list[int | list[int]] = []
    run: list[int] = []
    for source in sources:
        if run and source != run[-1] + 1:
            stored.extend(_stored_run(run))
            run = []
        run.append(source)
    stored.extend(_stored_run(run))
    return stored


def _stored_run(run: list[int]) -> list[int | list[int]]:
    return [[run[0], run[-1]]] if len(run) >= _SHORTEST_RUN else list(run)


def _is_run(item: Any, seq: int) -> bool:
    return (
        isinstance(item, list)
        and len(item) == 2
        and all(is_safe_integer(end) for end in item)
        and item[0] >= 0
        and item[0] + _SHORTEST_RUN - 1 <= item[1] < seq
    )
