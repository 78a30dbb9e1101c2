"""The bus's own limit: a bare chain of five hops, each a process of its own.

A hop takes a message from JetStream, publishes the next one with an expected sequence (as a commit
does), and acknowledges. Plain nats-py, nothing else: no schema, no rules, no traces.

``python -m bench.chain URL HOP`` runs one hop.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

import nats
from nats.aio.msg import Msg
from nats.errors import TimeoutError as NatsTimeout
from nats.js import JetStreamContext
from nats.js.api import ConsumerConfig, StorageType, StreamConfig

STREAM = "BENCHCHAIN"
HOPS = 5
BATCH = 100


async def make(url: str) -> None:
    """Make the chain's stream anew."""
    connection = await nats.connect(url)
    stream = connection.jetstream()
    with contextlib.suppress(nats.js.errors.NotFoundError):
        await stream.delete_stream(STREAM)
    config = StreamConfig(name=STREAM, subjects=["benchchain.>"], storage=StorageType.FILE)
    await stream.add_stream(config)
    await connection.close()


async def hop(url: str, number: int) -> None:
    """Carry messages over one hop until killed."""
    connection = await nats.connect(url)
    stream = connection.jetstream()
    pull = await stream.pull_subscribe(
        f"benchchain.{number}.*",
        durable=f"hop-{number}",
        stream=STREAM,
        config=ConsumerConfig(max_ack_pending=4096),
    )
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        try:
            messages = await pull.fetch(BATCH, timeout=5)
        except NatsTimeout:
            continue
        await asyncio.gather(*(_carry(stream, number, message) for message in messages))


async def _carry(stream: JetStreamContext, number: int, message: Msg) -> None:
    what = message.subject.rpartition(".")[2]
    await stream.publish(
        f"benchchain.{number + 1}.{what}",
        message.data,
        headers={"Nats-Expected-Last-Subject-Sequence": "0"},
    )
    await message.ack()


if __name__ == "__main__":
    asyncio.run(hop(sys.argv[1], int(sys.argv[2])))
