"""Redis or Valkey for Remit: read positions and fenced leases."""

from remit.coordination.clock import Clock, SystemClock
from remit.coordination.errors import CoordinationError, CoordinationUnavailable, LeaseHeld
from remit.coordination.memory import MemoryLeases, MemoryReadPositions, MemoryStore
from remit.coordination.ports import Lease, Leases, ReadPositions
from remit.coordination.redis import RedisConnection, RedisLeases, RedisReadPositions

__all__ = [
    "Clock",
    "CoordinationError",
    "CoordinationUnavailable",
    "Lease",
    "LeaseHeld",
    "Leases",
    "MemoryLeases",
    "MemoryReadPositions",
    "MemoryStore",
    "ReadPositions",
    "RedisConnection",
    "RedisLeases",
    "RedisReadPositions",
    "SystemClock",
]
