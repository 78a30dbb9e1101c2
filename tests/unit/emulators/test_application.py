"""One emulator in memory: deterministic by its clock, and honest about who calls."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from remit.emulators.github.accounts import credentials, has_role, permissions_json
from remit.emulators.github.app import create_app
from remit.emulators.github.dispatch import Answer
from remit.emulators.github.errors import AuthenticationError
from remit.emulators.github.settings import GitHubEmulatorSettings
from remit.emulators.github.state import State, StateFileError, read_state, write_state

NOW = datetime(2026, 11, 30, 12, 0, 0, 987654, tzinfo=UTC)


class Nowhere:
    async def send(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        return Answer("OK", 200, {}, "")


def client(folder: Path, **settings: Any) -> httpx.AsyncClient:
    app = create_app(
        GitHubEmulatorSettings(base_url="http://hub.example/", git_root=folder, **settings),
        clock=lambda: NOW,
        sender=Nowhere(),
    )
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://hub.example/")


async def story(folder: Path) -> list[dict[str, Any]]:
    """Make accounts and a token, and return every answer."""
    async with client(folder) as hub:
        answers = [
            await hub.post("/_emulator/accounts", json={"login": "alice"}),
            await hub.post("/_emulator/tokens", json={"login": "alice"}),
            await hub.get("/users/alice"),
            await hub.get("/_emulator/written"),
        ]
        ids = [it.headers.get("X-GitHub-Request-Id") for it in answers]
        return [*(it.json() for it in answers), {"ids": ids}]


async def test_the_same_steps_at_the_same_time_give_the_same_answers(tmp_path: Path) -> None:
    first = await story(tmp_path / "one")
    assert first == await story(tmp_path / "two")
    assert first[0]["created_at"] == "2026-11-30T12:00:00Z"
    assert first[0]["url"] == "http://hub.example/api/v3/users/alice"
    assert first[4]["ids"][2] is not None


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (None, None),
        ("", None),
        ("token abc", "abc"),
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("Basic " + base64.b64encode(b"me:abc").decode(), "abc"),
        ("Basic " + base64.b64encode(b"abc:").decode(), "abc"),
        ("Basic " + base64.b64encode(b"abc:x-oauth-basic").decode(), "abc"),
    ],
)
def test_a_token_is_read_from_every_form_of_the_header(
    header: str | None, token: str | None
) -> None:
    assert credentials(header) == token


@pytest.mark.parametrize("header", ["Digest abc", "Basic !!!", "Basic /w=="])
def test_a_header_of_another_form_is_refused(header: str) -> None:
    with pytest.raises(AuthenticationError):
        credentials(header)


def test_a_role_includes_the_lesser_ones() -> None:
    assert has_role("admin", "read")
    assert not has_role("triage", "write")
    assert not has_role(None, "read")
    assert permissions_json("write") == {
        "admin": False,
        "maintain": False,
        "push": True,
        "triage": True,
        "pull": True,
    }


def test_a_snapshot_is_got_back(tmp_path: Path) -> None:
    state = State()
    state.next_id("issue")
    file = tmp_path / "deep" / "state.json"
    write_state(state, file)
    assert read_state(file) == state
    assert [it.name for it in file.parent.iterdir()] == ["state.json"]
    assert read_state(tmp_path / "none.json") == State()


@pytest.mark.parametrize("text", ["", "{", '{"version": 2}', '{"accounts": {"x": {}}}'])
def test_a_snapshot_that_cannot_be_read_names_its_file(tmp_path: Path, text: str) -> None:
    file = tmp_path / "state.json"
    file.write_text(text)
    with pytest.raises(StateFileError, match=r"state\.json.*move it away") as refused:
        read_state(file)
    assert refused.value.path == file
