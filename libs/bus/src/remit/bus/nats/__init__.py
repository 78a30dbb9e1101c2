"""The bus over NATS JetStream.

A thin layer of our own over nats-py: one connection that is made again for ever, a pipelined
publisher, direct and leader reads, and continuous pulls. Facts and figures behind it are in
docs/decisions/0003-bus.md.
"""

from remit.bus.nats.bus import NatsBus

__all__ = ["NatsBus"]
