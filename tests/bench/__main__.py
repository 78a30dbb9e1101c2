"""``make bench``: throughput and latency of Remit beside the bus's own limit, in one run."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from nats.aio.msg import Msg

from bench import chain, flows
from bench.figures import Flow, flow_table, idle_table
from bench.load import Meter, measure
from bench.processes import Program, python, running
from remit.bus.message import Message
from remit.bus.nats import NatsBus
from remit.bus.provisioning import apply
from remit.cli.embedded import NatsServer, ValkeyServer

PAYLOAD = b"x" * 900
"""Bytes in a message of the bare chain, about those of a Trigger."""


async def bare_chain(url: str, folder: Path, *, pour: int, drip: int) -> Flow:
    """Measure the chain."""
    await chain.make(url)
    programs = [
        await Program.start(
            f"hop {number}",
            python("bench.chain", url, str(number)),
            {},
            folder / f"hop{number}.log",
        )
        for number in range(chain.HOPS)
    ]

    def make(number: int) -> tuple[str, Message]:
        key = f"m{number}"
        subject = f"benchchain.0.{key}"
        return key, Message(subject=subject, id=key, type="bench", source="/bench", data=PAYLOAD)

    def key_of(message: Msg) -> str:
        return message.subject.rpartition(".")[2]

    async with running(programs), Meter(url, f"benchchain.{chain.HOPS}.*", key_of) as meter:
        return await measure(
            "bare chain, 5 hops in 5 processes", meter, make, pour=pour, drip=drip, per_second=40
        )


async def main(arguments: argparse.Namespace) -> int:
    """Run everything and print the tables."""
    with tempfile.TemporaryDirectory(prefix="remit-bench-") as name:
        folder = Path(name)
        async with (
            NatsServer(data_dir=folder / "nats") as server,
            ValkeyServer(data_dir=folder / "valkey") as valkey,
        ):
            bus = await NatsBus.connect(server.url, name="bench")
            await apply(bus)
            await bus.close()
            pour, drip = arguments.pour, arguments.drip
            bare = await bare_chain(server.url, folder, pour=pour, drip=drip)
            bench = flows.Bench(server.url, valkey.url, folder)
            await bench.apply_policy()
            idle = await bench.idle()
            async with bench.deployment() as deployment:
                measured = [
                    await deployment.measure(flow, pour=pour, drip=drip) for flow in flows.FLOWS
                ]
            async with bench.deployment(watched=True) as deployment:
                watched = replace(flows.FLOWS[0], name=flows.WATCHED)
                measured.append(await deployment.measure(watched, pour=pour, drip=drip))
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    sys.stdout.write(
        f"\n{machine}, file storage, {pour} poured in, {drip} one at a time\n\n"
        f"{flow_table(bare, measured)}\n\n{idle_table(idle)}\n"
    )
    if arguments.json:
        ratios = {flow.name: flow.per_second / bare.per_second for flow in measured}
        arguments.json.write_text(json.dumps(ratios))
    return 0


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--pour", type=int, default=3000, help="how many are poured in together")
    parser.add_argument("--drip", type=int, default=200, help="how many one at a time")
    parser.add_argument("--json", type=Path, help="also write the throughput ratios there")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(asyncio.run(main(parse())))
