"""Who may look, and who may ask for a change."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from remit.bus.clock import ManualClock
from remit.panel.access.session import COOKIE, person_in, seal
from remit.panel.access.tokens import Token, TokenFileInvalid, Tokens, read_token, read_tokens
from remit.panel.settings import PanelSettings
from support.memory_services import MemoryServices
from support.panel import HERE, TOKEN, running_panel

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
OWN = {"Origin": HERE}


# -- tokens ---------------------------------------------------------------------------------


def tokens_in(folder: Path, text: str) -> Tokens:
    file = folder / "tokens"
    file.write_text(text)
    return read_tokens(file, "operator")


def test_each_person_has_a_token_and_one_without_a_name_is_the_default_persons(tmp_path):
    tokens = tokens_in(tmp_path, "a-token-without-a-name\n\nalice  the-token-of-alice\n")
    found = tokens.holder_of("the-token-of-alice")
    assert found is not None
    assert found.person == "alice"
    assert tokens.holder_of("a-token-without-a-name").person == "operator"
    assert tokens.holder_of("the-token-of-bob-xxx") is None
    assert tokens.holder_of("") is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "holds no token"),
        ("\n \n", "holds no token"),
        ("short", "line 1: the token has fewer than 16"),
        ("a-token-that-will-do\nalice short", "line 2"),
        ("alice a token with spaces", "line 1: write a token"),
        ("alice the-token-of-alice\nalice another-token-of-alice", "alice has two tokens"),
    ],
)
def test_a_token_file_that_will_not_do_is_refused_with_the_place(tmp_path, text, problem):
    with pytest.raises(TokenFileInvalid, match=problem):
        tokens_in(tmp_path, text)


def test_a_token_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(TokenFileInvalid, match="No such file"):
        read_tokens(tmp_path / "none", "operator")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(TokenFileInvalid, match="not text"):
        read_token(tmp_path / "binary")


def test_a_token_never_shows_itself(tmp_path):
    assert TOKEN not in repr(Token("alice", TOKEN))
    with pytest.raises(TokenFileInvalid) as refused:
        tokens_in(tmp_path, "alice hush hush\n")
    assert "hush" not in str(refused.value)


# -- sessions -------------------------------------------------------------------------------


def test_a_session_says_who_it_is_until_it_is_over():
    clock = ManualClock()
    token = Token("alice\n.张", "the-token-of-alice")
    cookie = seal(token, now=clock.now(), lasts=timedelta(hours=1))
    tokens = Tokens([token])
    assert person_in(cookie, tokens, now=clock.now()) == "alice\n.张"
    assert person_in(cookie, tokens, now=clock.now() + timedelta(minutes=59)) == "alice\n.张"
    assert person_in(cookie, tokens, now=clock.now() + timedelta(hours=1)) is None


def test_a_session_ends_with_the_token_that_opened_it():
    clock = ManualClock()
    cookie = seal(Token("alice", "an-old-token-of-hers"), now=clock.now(), lasts=timedelta(hours=1))
    assert (
        person_in(cookie, Tokens([Token("alice", "her-new-token-xxxx")]), now=clock.now()) is None
    )
    assert (
        person_in(cookie, Tokens([Token("bob", "an-old-token-of-hers")]), now=clock.now()) is None
    )


def test_a_session_that_was_changed_is_void():
    now = ManualClock().now()
    token = Token("alice", "the-token-of-alice")
    tokens = Tokens([token, Token("bob", "the-token-of-bob-xx")])
    person, until, signature = seal(token, now=now, lasts=timedelta(hours=1)).split(".")
    bob = seal(Token("bob", "x"), now=now, lasts=timedelta(hours=1)).split(".")[0]
    for forged in (
        f"{bob}.{until}.{signature}",
        f"{person}.{int(until) + 1}.{signature}",
        f"{person}.{until}.{signature[:-1]}x",
        f"{person}.{until}.",
        f"{person}.{until}",
        f"{person}.-1.{signature}",
        f"{person}.١.{signature}",
        f"\xff.{until}.{signature}",
        f"{person}.{until}.\xff",
        "",
        "..",
    ):
        assert person_in(forged, tokens, now=now) is None, forged


# -- settings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, "REMIT_PANEL_TOKEN_FILE"),
        ({"panel_open": True, "host": "0.0.0.0"}, "REMIT_HOST"),
        ({"panel_open": True, "host": "panel.example"}, "REMIT_HOST"),
        ({"panel_open": True, "panel_token_file": Path("x")}, "not both"),
    ],
)
def test_a_panel_that_would_let_everybody_in_is_refused(settings, problem):
    with pytest.raises(ValidationError, match=problem):
        PanelSettings(**settings)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.1.2.3"])
def test_a_panel_that_only_this_machine_reaches_may_be_open(host):
    assert PanelSettings(panel_open=True, host=host).panel_open


def test_a_panel_never_sends_its_traces_to_itself():
    settings = PanelSettings(panel_open=True, panel_url="http://127.0.0.1:1", otlp_endpoint=None)
    assert settings.traces_endpoint is None
    collector = PanelSettings(panel_open=True, otlp_endpoint="http://collector:4318")
    assert collector.traces_endpoint == "http://collector:4318"


# -- requests -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", ["overview", "triggers", "tickets", "policy", "openapi.json", "events", "console/x"]
)
async def test_the_api_answers_nobody_who_is_not_logged_in(panel, path):
    answer = await panel.stranger.get(f"/api/{path}")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("given", ["Bearer nonsense", "Bearer", TOKEN, f"Basic {TOKEN}", ""])
async def test_the_api_takes_the_token_and_nothing_like_it(panel, given):
    answer = await panel.stranger.get("/api/overview", headers={"Authorization": given})
    assert answer.status_code == 401
    given = f"bearer {TOKEN}"
    answer = await panel.stranger.get("/api/overview", headers={"Authorization": given})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "path", ["/", "/triggers", "/tickets/t-1", "/live", "/no/such/page"[:0] or "/policy"]
)
async def test_pages_send_strangers_to_the_login_and_back(panel, path):
    answer = await panel.stranger.get(path)
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/login?next=%2F")


async def test_a_part_of_a_page_sends_its_page_to_the_login(panel):
    answer = await panel.stranger.get("/triggers", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, "/login")


def cookie_of(answer: httpx.Response) -> str:
    """Return the session cookie that an answer sets."""
    (cookie,) = [one for one in answer.headers.get_list("set-cookie") if one.startswith(COOKIE)]
    return cookie


async def test_a_login_link_opens_a_session_that_scripts_and_other_sites_cannot_use(panel):
    answer = await panel.stranger.get("/login", params={"token": TOKEN, "next": "/tickets"})
    assert answer.status_code == 200
    assert 'content="0; url=/tickets"' in answer.text
    assert TOKEN not in answer.text
    cookie = cookie_of(answer)
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Path=/" in cookie
    assert "Secure" not in cookie
    panel.stranger.cookies.update(answer.cookies)
    assert (await panel.stranger.get("/")).status_code == 200
    assert (await panel.stranger.get("/api/overview")).status_code == 200
    await panel.stranger.post("/logout", headers=OWN)
    assert (await panel.stranger.get("/")).status_code == 303


async def test_behind_tls_the_session_stays_on_tls(services, tmp_path):
    async with running_panel(
        services.bus, tmp_path, panel_public_url="https://panel.example"
    ) as panel:
        assert "Secure" in cookie_of(await panel.stranger.get(f"/login?token={TOKEN}"))


async def test_a_token_can_be_typed_in(panel):
    body = f"token=+{TOKEN}+&next=%2Ftickets"
    answer = await panel.stranger.post("/login", content=body, headers={**FORM, **OWN})
    assert answer.status_code == 200
    assert cookie_of(answer)


async def test_a_wrong_token_opens_nothing_and_is_not_shown(panel):
    for answer in (
        await panel.stranger.get("/login", params={"token": "wrong-token-<b>"}),
        await panel.stranger.post("/login", content="token=wrong-token", headers={**FORM, **OWN}),
    ):
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
        assert "wrong-token" not in answer.text


async def test_a_session_lasts_as_long_as_it_is_set_to(services, tmp_path):
    async with running_panel(
        services.bus, tmp_path, services.clock, panel_session=timedelta(hours=2)
    ) as panel:
        answer = await panel.stranger.get(f"/login?token={TOKEN}")
        panel.stranger.cookies.update(answer.cookies)
        await services.clock.advance(2 * 3600 - 1)
        assert (await panel.stranger.get("/api/policy")).status_code == 200
        await services.clock.advance(2)
        assert (await panel.stranger.get("/api/policy")).status_code == 401


@pytest.mark.parametrize(
    ("headers", "taken"),
    [
        ({"Origin": HERE}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": HERE, "Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, True),
        ({"Origin": HERE, "Sec-Fetch-Site": "cross-site"}, False),
        ({"Origin": "null", "Sec-Fetch-Site": "cross-site"}, False),
        ({}, False),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": ""}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "http://evil.example", "Sec-Fetch-Site": "same-origin"}, False),
        ({"Origin": f"{HERE}.evil.example"}, False),
    ],
)
async def test_a_browser_changes_nothing_for_another_site(panel, headers, taken):
    cookies = (await panel.stranger.get(f"/login?token={TOKEN}")).cookies
    panel.stranger.cookies.update(cookies)
    said = await panel.stranger.post("/api/console/x", json={"text": "hi"}, headers=headers)
    # The console of this panel is closed, so what is let through is answered with 502.
    assert said.status_code == (502 if taken else 403)
    page = await panel.stranger.post("/console/x", content="text=hi", headers={**FORM, **headers})
    assert page.status_code == (502 if taken else 403)
    out = await panel.stranger.post("/logout", headers=headers)
    assert out.status_code == (303 if taken else 403)


async def test_a_program_with_the_token_needs_no_origin(panel):
    answer = await panel.http.post("/api/console/x", json={"text": "hi"})
    assert answer.status_code == 502


async def test_an_open_panel_is_open_to_this_machines_own_names_only(tmp_path):
    services = MemoryServices()
    async with running_panel(
        services.bus, tmp_path, panel_open=True, panel_token_file=None
    ) as panel:
        for host in ("127.0.0.1:8080", "localhost", "[::1]:8080"):
            answer = await panel.stranger.get("/api/overview", headers={"Host": host})
            assert answer.status_code == 200, host
        for host in ("rebound.example", "127.0.0.1.evil.example", "", "evil:x"):
            answer = await panel.stranger.get("/api/overview", headers={"Host": host})
            assert answer.status_code == 401, host
        post = panel.stranger.post
        assert (await post("/api/console/x", json={"text": "hi"})).status_code == 502
        evil = {"Origin": "http://evil.example"}
        assert (await post("/api/console/x", json={"text": "hi"}, headers=evil)).status_code == 403
        assert (await panel.stranger.get("/login")).status_code == 303
