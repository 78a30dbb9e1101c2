"""The recorded session of the specification (LOG-2), which lies beside the repository."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.harness.log import compact, conversation, expand, read_log
from remit.harness.log.event import new_event
from remit.harness.log.json_text import encode
from remit.harness.log.messages import AssistantMessage, SystemMessage, ToolMessage, text_of
from remit.harness.log.payloads import Payload
from support.harness import START, fixture_path

pytestmark = pytest.mark.skipif(
    not fixture_path().exists(), reason="the recorded session is not beside the repository"
)


@pytest.fixture
def recorded() -> Path:
    return fixture_path()


@pytest.mark.rule("LOG-1")
@pytest.mark.rule("LOG-2")
def test_it_reads_and_writes_back_line_for_line(recorded: Path) -> None:
    data = recorded.read_bytes()
    read = read_log(data, recorded)
    lines = [encode(read.record.header_row), *(event.line() for event in read.record.events)]
    assert "".join(f"{line}\n" for line in lines).encode() == data
    assert read.whole_bytes == len(data)


@pytest.mark.rule("LOG-2")
def test_the_typed_data_of_every_event_writes_back_what_it_read(recorded: Path) -> None:
    for event in read_log(recorded.read_bytes()).record.events:
        assert isinstance(event.payload, Payload)
        assert event.payload.to_json() == event.row["data"], event.type
        again = new_event(
            event.payload,
            seq=event.seq,
            time=START,
            placement=event.placement,
            sources=event.sources,
        )
        assert {**again.row, "seq": None, "time": None} == {**event.row, "seq": None, "time": None}


@pytest.mark.rule("LOG-2")
def test_it_replays_to_its_conversation(recorded: Path) -> None:
    said = conversation(read_log(recorded.read_bytes()).record.surface)
    assert isinstance(said.system, SystemMessage)
    assert text_of(said.system.content) == "{{system}}"
    assert [message.role for message in said.messages] == [
        *("user", "user", "user"),
        *("assistant", "tool", "tool", "tool", "assistant"),
    ]
    asked = said.messages[3]
    assert isinstance(asked, AssistantMessage)
    answered = [message for message in said.messages if isinstance(message, ToolMessage)]
    assert [call.id for call in asked.tool_calls()] == [m.tool_call_id for m in answered]
    assert text_of(said.messages[-1].content) == "Read all three files."


@pytest.mark.rule("LOG-4")
def test_its_streams_expand_to_chunks_and_compact_to_the_same_records(recorded: Path) -> None:
    streams = [
        event.row["data"]["stream"]
        for event in read_log(recorded.read_bytes()).record.events
        if event.type == "assistant/message"
    ]
    assert len(streams) == 2
    for stream in streams:
        chunks = expand(stream)
        assert compact(chunks) == stream
        assert len(chunks) > len(stream)
