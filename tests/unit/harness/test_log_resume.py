"""A log that is resumed: torn ends, interrupted work, damage, locks, a full disk (LOG-3)."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.harness.log import (
    LogDamagedError,
    LogLockedError,
    LogRuleError,
    LogWriteError,
    SessionLog,
    SessionNotFoundError,
    SessionStore,
    read_log,
)
from remit.harness.log.messages import (
    AssistantMessage,
    ModelSource,
    Source,
    TextBlock,
    ToolCallBlock,
    UserMessage,
)
from remit.harness.log.payloads import (
    AssistantMessageRecorded,
    InboxSpliced,
    Payload,
    SessionEndSeed,
    SessionTitle,
    StepEnd,
    StepStart,
    TitleSource,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnEndReason,
    TurnStart,
    UserMessageRecorded,
)
from support.harness import TickingClock

CWD = "/some/where"


@pytest.fixture
def store(tmp_path: Path) -> SessionStore:
    return SessionStore(tmp_path, TickingClock())


def prompt(text: str) -> UserMessage:
    return UserMessage(content=(TextBlock(text=text),), source=Source(kind="user"), id="m")


def asking(*call_ids: str) -> AssistantMessageRecorded:
    return AssistantMessageRecorded(
        turn=1,
        step=1,
        message=AssistantMessage(
            content=tuple(ToolCallBlock(id=c, name="read", arguments="{}") for c in call_ids),
            source=ModelSource(provider="p", model="m"),
            id="a",
        ),
        stream=(),
    )


def taken_up(call_id: str) -> ToolCall:
    return ToolCall(turn=1, step=1, call_id=call_id, name="read", arguments="{}")


def path_of(tmp_path: Path) -> Path:
    return tmp_path / "sessions/--some-where--/s1/session.v4.jsonl"


def recorded(store: SessionStore, *payloads: Payload) -> None:
    log = store.create("s1", CWD)
    for payload in payloads:
        log.append(payload)
    log.close()


def resumed(store: SessionStore) -> SessionLog:
    log = store.resume("s1", CWD)
    log.close()
    return log


@pytest.mark.rule("LOG-1")
def test_a_new_log_begins_with_its_header_and_counts_its_rows(
    store: SessionStore, tmp_path: Path
) -> None:
    recorded(store, TurnStart(turn=1), StepStart(turn=1, step=1))
    rows = [json.loads(line) for line in path_of(tmp_path).read_text().splitlines()]
    assert rows[0]["type"] == "session"
    assert rows[0]["version"] == 4
    assert rows[0]["cwd"] == CWD
    assert [item["seq"] for item in rows[1:]] == [0, 1]
    assert rows[1]["time"] < rows[2]["time"]


@pytest.mark.rule("LOG-1")
def test_a_log_only_ever_grows(store: SessionStore, tmp_path: Path) -> None:
    recorded(store, TurnStart(turn=1))
    before = path_of(tmp_path).read_bytes()
    log = store.resume("s1", CWD)
    log.append(TurnStart(turn=2))
    log.close()
    assert path_of(tmp_path).read_bytes().startswith(before)


@pytest.mark.rule("LOG-3")
@given(cut=st.integers(1, 400))
def test_a_log_torn_anywhere_in_its_last_line_goes_on_before_it(cut: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SessionStore(Path(folder), TickingClock())
        recorded(store, UserMessageRecorded(**dict(prompt("first"))))
        path = path_of(Path(folder))
        whole = path.read_bytes()
        recorded_again = store.resume("s1", CWD)
        end_seed = path.read_bytes()
        recorded_again.append(UserMessageRecorded(**dict(prompt("x" * 300))))
        recorded_again.close()
        torn = path.read_bytes()[: len(end_seed) + min(cut, 300)]
        path.write_bytes(torn)
        log = resumed(store)
        assert path.read_bytes() == end_seed
        assert [event.type for event in log.record.events] == ["user/message", "session/end-seed"]
        assert end_seed.startswith(whole)


@pytest.mark.rule("LOG-3")
def test_a_last_line_that_only_lacks_its_line_break_is_kept(
    store: SessionStore, tmp_path: Path
) -> None:
    recorded(store, UserMessageRecorded(**dict(prompt("kept"))))
    path = path_of(tmp_path)
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    log = resumed(store)
    assert [event.type for event in log.record.events] == ["user/message", "session/end-seed"]
    assert read_log(path.read_bytes()).whole_bytes == path.stat().st_size


@pytest.mark.rule("LOG-3")
def test_a_whole_last_line_that_is_wrong_is_damage_even_without_its_line_break(
    store: SessionStore, tmp_path: Path
) -> None:
    recorded(store)
    path = path_of(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"type":"weather/report","data":{}}')
    with pytest.raises(LogDamagedError, match="line 2"):
        store.resume("s1", CWD)


@pytest.mark.rule("LOG-3")
def test_damage_is_refused_with_file_and_line_and_changes_nothing(
    store: SessionStore, tmp_path: Path
) -> None:
    recorded(store, TurnStart(turn=1), StepStart(turn=1, step=1))
    path = path_of(tmp_path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:20] + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(LogDamagedError) as refused:
        store.resume("s1", CWD)
    assert (refused.value.path, refused.value.line) == (path, 2)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == b"".join(lines)
    with pytest.raises(LogDamagedError):
        store.resume("s1", CWD)


def test_a_log_without_a_whole_header_is_refused(store: SessionStore, tmp_path: Path) -> None:
    recorded(store)
    for content in (b"", path_of(tmp_path).read_bytes()[:30]):
        path_of(tmp_path).write_bytes(content)
        with pytest.raises(LogDamagedError, match="line 1"):
            store.resume("s1", CWD)


def test_rows_without_seq_and_time_are_a_template_and_no_session(
    store: SessionStore, tmp_path: Path
) -> None:
    recorded(store)
    with path_of(tmp_path).open("a") as file:
        file.write('{"type":"turn/start","data":{"turn":1}}\n')
    with pytest.raises(LogDamagedError, match="template"):
        store.resume("s1", CWD)


INTERRUPTED: list[tuple[list[Payload], list[tuple[str, Any]]]] = [
    ([TurnStart(turn=1)], [("turn/end", None)]),
    (
        [TurnStart(turn=1), StepStart(turn=1, step=1)],
        [("step/end", None), ("turn/end", None)],
    ),
    (
        [TurnStart(turn=1), StepStart(turn=1, step=1), asking("c1", "c2"), taken_up("c1")],
        [
            ("tool/result", "TOOL_OUTCOME_UNKNOWN"),
            ("tool/call", None),
            ("tool/result", "TOOL_NOT_STARTED"),
            ("step/end", None),
            ("turn/end", None),
        ],
    ),
]


@pytest.mark.rule("LOG-3")
@pytest.mark.parametrize(("before", "closing"), INTERRUPTED)
def test_interrupted_work_is_closed_and_says_what_is_known(
    store: SessionStore, before: list[Payload], closing: list[tuple[str, Any]]
) -> None:
    recorded(store, *before)
    events = resumed(store).record.events[len(before) :]
    codes = [
        (
            e.type,
            e.payload.error.code if isinstance(e.payload, ToolResult) and e.payload.error else None,
        )
        for e in events
    ]
    assert codes == [*closing, ("session/end-seed", None)]
    end = events[len(closing) - 1].payload
    assert isinstance(end, TurnEnd)
    assert end.reason.kind == "interrupted"


@pytest.mark.rule("LOG-3")
def test_closing_events_carry_the_time_of_the_last_event_before_them(store: SessionStore) -> None:
    before = INTERRUPTED[2][0]
    recorded(store, *before)
    events = resumed(store).record.events
    last, closing = events[len(before) - 1], events[len(before) : -1]
    assert {event.time for event in closing} == {last.time}
    results = [event for event in closing if isinstance(event.payload, ToolResult)]
    assert [event.sources for event in results] == [(last.seq,), (results[1].seq - 1,)]
    assert results[0].row["data"]["message"]["id"] == (
        f"interrupted-tool-result-c1-{results[0].seq}"
    )


@pytest.mark.rule("LOG-3")
def test_a_prompt_that_was_not_taken_up_waits_no_more(store: SessionStore) -> None:
    recorded(store, InboxSpliced(target="next-turn", start=0, inserted=(prompt("lost"),)))
    log = resumed(store)
    assert log.record.inbox.withdrawals() == []
    withdrawal = log.record.events[1].payload
    assert isinstance(withdrawal, InboxSpliced)
    assert withdrawal.outcome == "canceled"


def test_a_new_life_is_marked_once(store: SessionStore) -> None:
    recorded(store, TurnStart(turn=1), TurnEnd(turn=1, reason=TurnEndReason(kind="completed")))
    for _ in range(3):
        log = resumed(store)
    marks = [event for event in log.record.events if isinstance(event.payload, SessionEndSeed)]
    assert len(marks) == 1


def test_one_session_is_open_in_one_place_only(store: SessionStore, tmp_path: Path) -> None:
    log = store.create("s1", CWD)
    other = SessionStore(tmp_path, TickingClock())
    with pytest.raises(LogLockedError, match="s1 is open in another process"):
        other.resume("s1", CWD)
    log.close()
    other.resume("s1", CWD).close()


def test_a_session_is_found_under_its_own_directory_only(store: SessionStore) -> None:
    recorded(store)
    with pytest.raises(SessionNotFoundError) as missing:
        store.resume("s1", "/some/where/else")
    assert missing.value.session_id == "s1"
    with pytest.raises(SessionNotFoundError):
        store.resume("s2", CWD)


def test_directories_whose_slugs_are_equal_do_not_share_sessions(store: SessionStore) -> None:
    recorded(store)
    with pytest.raises(SessionNotFoundError):
        store.resume("s1", "/some-where")


def test_a_session_id_is_never_used_twice(store: SessionStore) -> None:
    recorded(store)
    with pytest.raises(LogWriteError, match="exists already"):
        store.create("s1", CWD)


def test_an_event_that_breaks_a_rule_is_not_written(store: SessionStore, tmp_path: Path) -> None:
    log = store.create("s1", CWD)
    before = path_of(tmp_path).read_bytes()
    with pytest.raises(LogRuleError, match="step/end") as refused:
        log.append(StepEnd(turn=1, step=1))
    assert refused.value.event_type == "step/end"
    assert path_of(tmp_path).read_bytes() == before
    with pytest.raises(LogRuleError, match="open the session again"):
        log.append(TurnStart(turn=1))
    log.close()
    resumed(store)


@pytest.mark.rule("LOG-3")
def test_a_full_disk_leaves_whole_lines_only(
    store: SessionStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = store.create("s1", CWD)
    log.append(TurnStart(turn=1))
    before = path_of(tmp_path).read_bytes()
    write: Callable[[int, bytes, int], int] = os.pwrite

    def short_write(file: int, data: bytes, offset: int) -> int:
        if len(data) < 40:
            raise OSError(28, "No space left on device")
        return write(file, data[:-30], offset)

    monkeypatch.setattr("os.pwrite", short_write)
    with pytest.raises(LogWriteError, match="No space left on device"):
        log.append(StepStart(turn=1, step=1))
    assert path_of(tmp_path).read_bytes() == before
    log.close()
    monkeypatch.undo()
    assert [e.type for e in resumed(store).record.events][:2] == ["turn/start", "turn/end"]


def test_sessions_are_listed_with_their_titles_the_latest_first(
    store: SessionStore, tmp_path: Path
) -> None:
    for number, (cwd, title) in enumerate([("/a", "First"), ("/b", "Second"), ("/a", None)]):
        log = store.create(f"s{number}", cwd)
        if title:
            log.append(
                SessionTitle(title=title, message_seqs=(), source=TitleSource(kind="fallback"))
            )
        log.close()
        path = next(tmp_path.glob(f"sessions/*/s{number}/*.jsonl"))
        os.utime(path, (number + 1, number + 1))
    (tmp_path / "sessions/--a--/s9").mkdir()
    (tmp_path / "sessions/--a--/s9/session.v4.jsonl").write_text("nonsense\n")
    listed = [(s.session_id, s.cwd, s.title, s.updated_at) for s in store.list()]
    assert listed == [
        ("s2", "/a", None, 3.0),
        ("s1", "/b", "Second", 2.0),
        ("s0", "/a", "First", 1.0),
    ]
    assert [summary.session_id for summary in store.list("/a")] == ["s2", "s0"]
