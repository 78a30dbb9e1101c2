"""Remembering which Triggers were taken."""

from __future__ import annotations

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.domain.positions import KEPT, Positions


@pytest.mark.rule("TRG-3")
@given(st.lists(st.integers(1, 2000), unique=True, max_size=400), st.integers(1, 2000))
def test_it_never_answers_wrongly(taken, asked):
    positions = reduce(Positions.add, taken, Positions())
    answer = positions.holds(asked)
    assert answer is None or answer is (asked in taken)
    assert len(positions.kept) <= KEPT


@given(st.lists(st.integers(1, 10_000), unique=True, min_size=1, max_size=400))
def test_what_is_newer_than_all_it_let_go_is_certain(taken):
    positions = reduce(Positions.add, taken, Positions())
    assert positions.holds(max(taken) + 1) is False
    assert positions.holds(max(taken)) is True


def test_it_says_that_it_no_longer_knows():
    positions = reduce(Positions.add, range(1, KEPT + 2), Positions())
    assert positions.holds(1) is None
    assert positions.holds(2) is True
