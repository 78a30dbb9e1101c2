from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.bus import cloudevents
from remit.bus.errors import NotAnEvent, PublishRefused
from remit.bus.message import Message

HEADERS = {
    "ce-specversion": "1.0",
    "ce-id": "1",
    "ce-type": "remit.trigger",
    "ce-source": "/remit/source",
}

texts = st.text(min_size=1, max_size=30)


@given(texts, texts, texts, st.none() | st.integers(0, 2**63), st.integers(1, 9), st.binary())
def test_a_message_survives_its_headers(
    identity: str, kind: str, source: str, commit: int | None, schema: int, data: bytes
) -> None:
    sent = Message(
        subject="thread.a",
        id=identity,
        type=kind,
        source=source,
        data=data,
        commit=commit,
        schema=schema,
        trace={"traceparent": "00-1-2-01"},
        headers={"X-A": "b"},
    )
    headers = cloudevents.encode(sent)
    assert all(value.isascii() and value.isprintable() for value in headers.values())
    assert all(" " not in headers[name] for name in ("ce-id", "ce-type", "ce-source"))
    assert cloudevents.decode("thread.a", headers, data) == sent


def test_attributes_it_does_not_know_are_ignored_and_the_servers_own_dropped() -> None:
    headers = {**HEADERS, "ce-later": "1", "Nats-Scheduler": "timer.a", "X-Own": "2"}
    message = cloudevents.decode("thread.a", headers, b"{}")
    assert message.headers == {"X-Own": "2"}
    assert (message.schema, message.content_type, message.commit) == (1, "application/json", None)


def test_the_case_of_attribute_names_does_not_matter() -> None:
    headers = {name.upper(): value for name, value in HEADERS.items()}
    assert cloudevents.decode("thread.a", headers, b"{}").id == "1"


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        (None, "ce-specversion is None"),
        ({}, "ce-specversion is None"),
        ({**HEADERS, "ce-specversion": "2.0"}, "ce-specversion is '2.0'"),
        ({**HEADERS, "ce-id": ""}, "ce-id is missing"),
        ({name: v for name, v in HEADERS.items() if name != "ce-type"}, "ce-type is missing"),
        ({**HEADERS, "ce-commit": "x"}, "ce-commit is 'x'"),
        ({**HEADERS, "ce-schemaversion": "-1"}, "ce-schemaversion is '-1'"),
    ],
)
def test_what_lacks_an_attribute_is_no_event(headers: dict[str, str] | None, reason: str) -> None:
    with pytest.raises(NotAnEvent, match=reason) as raised:
        cloudevents.decode("thread.a", headers, b"{}")
    assert raised.value.subject == "thread.a"


def test_a_lone_surrogate_in_an_attribute_is_refused() -> None:
    with pytest.raises(PublishRefused, match="lone surrogate"):
        cloudevents.encode(Message(subject="a", id="\ud800", type="t", source="s", data=b""))
