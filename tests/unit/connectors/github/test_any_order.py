"""However deliveries come, the Triggers are the same (SRC-7)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.connectors.github import GitHubConnector, GitHubInstance
from remit.domain.ids import SourceName
from remit.domain.trigger import Trigger
from support.contracts.connector import RECEIVED, Sent, changed
from support.github_payloads import (
    ANN,
    BOT,
    EVE,
    SECRET,
    comment,
    event,
    issue,
    pull_request,
    review,
    review_comment,
)

MORNING = datetime(2026, 11, 30, 8, tzinfo=UTC)


@st.composite
def events(draw: st.DrawFn) -> Sent:
    """One of the things that happen in a repository with few objects, so that they meet."""
    who: dict[str, Any] = draw(st.sampled_from([ANN, EVE, BOT]))
    at = (MORNING + timedelta(seconds=draw(st.integers(0, 3)))).isoformat()
    number = draw(st.integers(1, 2))
    body = draw(st.sampled_from(["@remit go", "No.", ""]))
    about: dict[str, Any] = {"number": number, "updated_at": at, "body": body}
    object_id = draw(st.integers(1, 3))
    name, action = draw(
        st.sampled_from(
            [
                ("issues", "opened"),
                ("issues", "edited"),
                ("issues", "closed"),
                ("issue_comment", "created"),
                ("issue_comment", "edited"),
                ("issue_comment", "deleted"),
                ("pull_request", "opened"),
                ("pull_request", "closed"),
                ("pull_request", "synchronize"),
                ("pull_request_review", "submitted"),
                ("pull_request_review_comment", "created"),
            ]
        )
    )
    written: dict[str, Any] = {"id": object_id, "user": who, "updated_at": at, "body": body}
    parts: dict[str, Any] = {
        "issue": issue(**about, closed_at=at),
        "pull_request": pull_request(**about, closed_at=at),
        "comment": review_comment(**written) if "review" in name else comment(**written),
        "review": review(id=object_id, user=who, body=body, submitted_at=at),
    }
    return event(name, action, sender=who, **parts)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitHubInstance]:
    folder: Path = tmp_path_factory.mktemp("secrets")
    (folder / "secret").write_text(SECRET)
    settings = {
        "token": {"env": "NOT_NEEDED"},
        "webhook_secret": {"file": str(folder / "secret")},
        "repositories": ["acme/*"],
        "bot": {"id": BOT["id"], "login": BOT["login"]},
    }
    made = asyncio.run(GitHubConnector().configure(SourceName("hub"), settings))
    yield made
    asyncio.run(made.close())


def ids(instance: GitHubInstance, stream: list[Sent]) -> set[tuple[str, tuple[str, ...]]]:
    found: set[tuple[str, tuple[str, ...]]] = set()
    for number, sent in enumerate(stream):
        delivery = changed(sent, x_github_delivery=f"d{number}")
        received = RECEIVED + timedelta(seconds=number)
        raw = instance.source.receive(delivery.headers, delivery.body, received_at=received)
        for one in instance.source.normalise(raw):
            if isinstance(one, Trigger):
                found.add((one.id, one.threads))
    return found


@pytest.mark.rule("SRC-7")
@pytest.mark.rule("TRG-3")
@pytest.mark.field("B1")
@given(st.data())
def test_any_order_and_repetition_gives_the_same_triggers(
    instance: GitHubInstance, data: st.DataObject
) -> None:
    some = data.draw(st.lists(events(), min_size=1, max_size=8))
    repeated = data.draw(st.lists(st.sampled_from(some), max_size=16))
    shuffled = data.draw(st.permutations([*some, *repeated]))
    assert ids(instance, shuffled) == ids(instance, some)
