"""The bus in memory, for tests: same rules as NATS JetStream, no server, no threads.

Time comes from an injected clock and nothing happens on its own: timers fire and deliveries
come back when somebody looks, so a test with a `ManualClock` is deterministic.
"""

from remit.bus.memory.bus import MemoryBus

__all__ = ["MemoryBus"]
