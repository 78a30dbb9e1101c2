from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from remit.bus.errors import ServerTooOld, StreamMismatch
from remit.bus.nats import NatsBus
from remit.bus.provisioning import apply, check, check_version
from remit.bus.streams import STREAMS, Sizing, Stream, streams
from remit.cli.embedded import NatsServer

ONE = Stream(name="ONE", subjects=("one.*",), why="A test.", max_age=timedelta(days=1))


@pytest.fixture
async def bus(tmp_path: Path) -> AsyncIterator[NatsBus]:
    async with NatsServer(data_dir=tmp_path) as server:
        bus = await NatsBus.connect(server.url, name="test")
        yield bus
        await bus.close()


async def test_applying_makes_every_stream_and_applying_again_changes_nothing(
    bus: NatsBus,
) -> None:
    with pytest.raises(StreamMismatch, match="INBOX: it is missing"):
        await check(bus)
    made = await apply(bus)
    assert [change.stream for change in made] == [stream.name for stream in STREAMS]
    assert str(made[0]) == "INBOX: made for inbox.*"
    assert await apply(bus) == []
    await check(bus)


async def test_a_new_subject_is_added_and_an_old_one_kept(bus: NatsBus) -> None:
    await apply(bus, [replace(ONE, subjects=("old.*", "one.*"))])
    changes = await apply(bus, [replace(ONE, subjects=("one.*", "new.*"))])
    assert [change.what for change in changes] == ["now stores new.*", "goes on storing old.*"]
    told = await bus.api("STREAM.INFO.ONE")
    assert told["config"]["subjects"] == ["old.*", "one.*", "new.*"]


async def test_limits_grow_and_what_could_lose_messages_is_left_and_told(bus: NatsBus) -> None:
    await apply(bus, [replace(ONE, max_per_subject=10)])
    wanted = replace(ONE, max_age=timedelta(days=2), max_per_subject=5, max_bytes=10_000)
    changes = [change.what for change in await apply(bus, [wanted])]
    assert changes == [
        "max_age is 172800000000000 now, was 86400000000000",
        "max_bytes stays -1: 10000 could lose messages",
        "max_msgs_per_subject stays 10: 5 could lose messages",
    ]
    await check(bus, [wanted])


async def test_what_cannot_be_changed_is_told(bus: NatsBus) -> None:
    await apply(bus, [ONE])
    with pytest.raises(StreamMismatch, match="retention is limits, not workqueue, and cannot"):
        await apply(bus, [replace(ONE, retention="workqueue")])
    with pytest.raises(StreamMismatch, match="storage is file, not memory"):
        await apply(bus, [replace(ONE, storage="memory")])


async def test_what_the_server_refuses_is_told_in_its_words(bus: NatsBus) -> None:
    await apply(bus, [ONE])
    with pytest.raises(StreamMismatch, match=r"TWO: NATS refuses it: .*overlap"):
        await apply(bus, [replace(ONE, name="TWO")])


@pytest.mark.parametrize(
    ("there", "difference"),
    [
        (replace(ONE, subjects=("other.*",)), r"does not store one\.\*"),
        (replace(ONE, retention="workqueue"), "retention is workqueue, not limits"),
    ],
)
async def test_checking_names_what_differs(bus: NatsBus, there: Stream, difference: str) -> None:
    await apply(bus, [there])
    with pytest.raises(StreamMismatch, match=difference):
        await check(bus, [ONE])


async def test_checking_lets_sizes_differ(bus: NatsBus) -> None:
    await apply(bus, streams(Sizing(horizon=timedelta(days=5), max_bytes={"THREAD": 10**7})))
    await check(bus)


@pytest.mark.parametrize("version", ["2.11.9", "2.9.10", "1.0.0", "0.0.0"])
def test_a_server_too_old_is_refused(version: str) -> None:
    with pytest.raises(ServerTooOld) as old:
        check_version(version)
    assert (old.value.version, old.value.needed) == (version, "2.12")


@pytest.mark.parametrize("version", ["2.12.0", "2.15.1", "3.0.0"])
def test_a_server_new_enough_is_taken(version: str) -> None:
    check_version(version)


async def test_the_server_says_its_version(bus: NatsBus) -> None:
    assert bus.server_version == "2.15.1"
