from __future__ import annotations

from support.contracts.bus import BusContract
from support.contracts.commit_log import CommitLogContract


class TestNatsBus(BusContract):
    """The shared suite over a real NATS."""


class TestCommitLogOverNats(CommitLogContract):
    """The shared suite over a real NATS."""
