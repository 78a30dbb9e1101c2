from __future__ import annotations

from itertools import combinations

import pytest

from remit.bus import subjects
from remit.bus.streams import STREAMS, Sizing, stream_of, streams


@pytest.mark.parametrize(
    ("subject", "name"),
    [
        (subjects.inbox("gh"), "INBOX"),
        (subjects.trigger("gh", "1", "th"), "TRIGGER"),
        (subjects.thread("th"), "THREAD"),
        (subjects.ticket("t1"), "TICKET"),
        (subjects.eval_request("th"), "EVAL"),
        (subjects.eval_result("th"), "EVAL"),
        (subjects.assignment("coder", "t1"), "ASSIGNMENT"),
        (subjects.input_("t1"), "INPUT"),
        (subjects.report("t1"), "REPORT"),
        (subjects.channel("gh", "th"), "CHANNEL"),
        (subjects.command_thread("th"), "COMMAND"),
        (subjects.command_ticket("t1"), "COMMAND"),
        (subjects.timer("thread", "th", "n"), "COMMAND"),
        (subjects.disposition("tr"), "DISPOSITION"),
        (subjects.policy("rules"), "POLICY"),
        (subjects.deadletter("INBOX"), "DEADLETTER"),
        (subjects.console("talk"), "CONSOLE"),
    ],
)
def test_every_subject_has_its_stream(subject: str, name: str) -> None:
    stream = stream_of(subject)
    assert stream is not None
    assert stream.name == name


def test_no_two_streams_share_a_subject() -> None:
    patterns = [pattern for stream in STREAMS for pattern in stream.subjects]
    for one, other in combinations(patterns, 2):
        assert not subjects.matches(one, other.replace("*", "x")), (one, other)


def test_only_work_queues_forget_what_was_worked_on() -> None:
    queues = {stream.name for stream in STREAMS if stream.retention == "workqueue"}
    assert queues == {"INBOX", "EVAL", "ASSIGNMENT", "REPORT", "CHANNEL", "COMMAND"}


def test_what_holds_truth_refuses_rather_than_forgets() -> None:
    keeping = {stream.name for stream in STREAMS if stream.discard == "new"}
    assert {"TRIGGER", "THREAD", "TICKET", "INPUT", "DISPOSITION", "POLICY"} <= keeping
    assert {s.name for s in STREAMS if s.max_age is None} >= {"THREAD", "TICKET", "POLICY"}


def test_every_stream_says_what_it_is_for() -> None:
    assert all(stream.why.endswith(".") for stream in STREAMS)


def test_sizes_are_the_deployments_choice() -> None:
    sized = streams(Sizing(replicas=3, storage="memory", max_bytes={"THREAD": 1000}))
    assert {(stream.replicas, stream.storage) for stream in sized} == {(3, "memory")}
    assert {s.name: s.max_bytes for s in sized if s.max_bytes} == {"THREAD": 1000}


def test_a_limit_for_a_stream_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="THREADS"):
        streams(Sizing(max_bytes={"THREADS": 1}))
