"""When a failed model call is tried again, and after how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from remit.harness.models.port import ModelError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """A bounded number of tries with a doubling wait.

    Attributes:
        max_retries: How often a call is tried again after its first failure.
        first_delay: The wait before the first retry, in seconds.
        longest_delay: The longest wait of the doubling row, in seconds.
        longest_retry_after: The longest wait a provider may ask for, in seconds; it is asked
            again then in any case.
        jitter: By which share of itself a wait may be longer, so that many do not come at once.
    """

    max_retries: int = 4
    first_delay: float = 0.5
    longest_delay: float = 10.0
    longest_retry_after: float = 60.0
    jitter: float = 0.1

    def delay(self, retry: int, error: ModelError, random: Callable[[], float]) -> float | None:
        """How long to wait before a retry, in seconds; None where there is to be none.

        Args:
            retry: Which retry it would be, counted from one.
            error: Why the last try failed.
            random: Gives a number from 0 to 1.
        """
        if not error.retryable or retry > self.max_retries:
            return None
        wait = min(self.first_delay * 2.0 ** (retry - 1), self.longest_delay)
        wait *= 1 + self.jitter * random()
        if error.retry_after is not None:
            wait = max(wait, min(error.retry_after, self.longest_retry_after))
        return wait

    @property
    def key(self) -> str:
        """The policy in one line, as the session log records it."""
        return f"retries={self.max_retries} first={self.first_delay:g}s longest={self.longest_delay:g}s"
