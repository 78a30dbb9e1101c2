from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harness.log.errors import RowError
from remit.harness.log.sources import read_sources, write_sources

NOW = 1000


@given(st.lists(st.integers(0, 40), min_size=1, unique=True))
def test_any_sources_read_back_as_they_were(sources: list[int]) -> None:
    assert read_sources(write_sources(tuple(sources)), NOW) == tuple(sources)


@pytest.mark.parametrize(
    ("sources", "stored"),
    [
        ((15,), [15]),
        ((1, 2), [1, 2]),
        ((1, 2, 3), [[1, 3]]),
        ((1, 2, 3, 7, 9, 10), [[1, 3], 7, 9, 10]),
        ((3, 2, 1), [3, 2, 1]),
    ],
)
def test_runs_of_three_and_more_are_stored_as_their_ends(
    sources: tuple[int, ...], stored: list[Any]
) -> None:
    assert write_sources(sources) == stored


@pytest.mark.parametrize(
    "stored", [[], "1", [-1], [1.5], ["1"], [True], [[1, 2]], [[3, 1]], [[1, NOW]], [[1, 2, 3]]]
)
def test_what_is_no_list_of_earlier_events_is_refused(stored: Any) -> None:
    with pytest.raises(RowError):
        read_sources(stored, NOW)
