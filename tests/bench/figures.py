"""What was measured, and how it is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Flow:
    """One kind of work.

    Attributes:
        name: What it is.
        per_second: How many came through a second when poured in together.
        latencies: Seconds from publish to end at low load, sorted.
    """

    name: str
    per_second: float
    latencies: Sequence[float]

    def percentile(self, share: float) -> float:
        """Return a latency in seconds."""
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


@dataclass(frozen=True)
class Idle:
    """A service that has nothing to do.

    Attributes:
        name: The service.
        megabytes: Its resident memory.
        seconds: From its start until it was ready.
    """

    name: str
    megabytes: float
    seconds: float


def flow_table(chain: Flow, flows: Sequence[Flow]) -> str:
    """Return the flows beside the bare chain, with their ratios to it."""
    head = f"{'':56}{'per s':>8}{'ratio':>8}{'p50 ms':>9}{'p99 ms':>9}{'p50 ratio':>11}"
    rows = [head, _row(chain, chain)]
    rows.extend(_row(flow, chain) for flow in flows)
    return "\n".join(rows)


def _row(flow: Flow, chain: Flow) -> str:
    p50, p99 = flow.percentile(0.5), flow.percentile(0.99)
    return (
        f"{flow.name:56}{flow.per_second:8.0f}{flow.per_second / chain.per_second:8.2f}"
        f"{p50 * 1000:9.1f}{p99 * 1000:9.1f}{p50 / chain.percentile(0.5):11.1f}"
    )


def idle_table(services: Sequence[Idle]) -> str:
    """Return what each idle service takes."""
    rows = [f"{'idle service':56}{'MB':>8}{'ready s':>9}"]
    rows.extend(f"{one.name:56}{one.megabytes:8.0f}{one.seconds:9.1f}" for one in services)
    return "\n".join(rows)
