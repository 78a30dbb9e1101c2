from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harness.models import ModelError, RetryPolicy

POLICY = RetryPolicy(max_retries=4, first_delay=1.0, longest_delay=5.0, jitter=0.1)


def failure(retry_after: float | None = None, *, retryable: bool = True) -> ModelError:
    return ModelError("no", code="SERVER", retry_after=retry_after, retryable=retryable)


def test_waits_double_up_to_a_limit_and_end() -> None:
    waits = [POLICY.delay(retry, failure(), lambda: 0.0) for retry in range(1, 6)]
    assert waits == [1.0, 2.0, 4.0, 5.0, None]


def test_what_cannot_succeed_is_not_tried_again() -> None:
    assert POLICY.delay(1, failure(retryable=False), lambda: 0.0) is None


@pytest.mark.parametrize(("asked", "wait"), [(0.2, 1.0), (30.0, 30.0), (3600.0, 60.0)])
def test_a_providers_hint_is_honoured_within_a_limit(asked: float, wait: float) -> None:
    assert POLICY.delay(1, failure(asked), lambda: 0.0) == wait


@given(st.floats(0, 1), st.integers(1, 4))
def test_jitter_lengthens_a_wait_by_its_share_at_most(random: float, retry: int) -> None:
    plain = POLICY.delay(retry, failure(), lambda: 0.0)
    wait = POLICY.delay(retry, failure(), lambda: random)
    assert plain is not None
    assert wait is not None
    assert plain <= wait <= plain * 1.1
