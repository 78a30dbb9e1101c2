"""The pages: what they show, that nothing in them runs, and that they need no script."""

from __future__ import annotations

import hashlib
import json
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from remit.domain.channel import PullRequest
from remit.domain.ids import SourceName, ThreadKey, TriggerId, ticket_id_for
from remit.domain.messages import EventDropped
from remit.domain.report import ReportKind
from remit.domain.ticket import AskPerson, GiveReport, ProposePullRequest, TakeInput
from remit.domain.trigger import Actor, ActorClass
from remit.panel.console_sender import ConsoleSender
from remit.runtime.wire import message_of
from support.domain import HOME, NOW, policy, rule, trigger
from support.memory_services import MemoryServices
from support.panel import PanelUnderTest, running_panel
from support.panel_traces import export

TICKET = ticket_id_for(trigger(1).id)
EVIL = """"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7*7 }}"""
TRACE = "0af7651916cd43dd8448eb211c80319c"
PAGES = (
    "/",
    "/triggers",
    f"/triggers/{trigger(1).id}",
    f"/threads/{HOME}",
    "/tickets",
    f"/tickets/{TICKET}",
    f"/traces/{TRACE}",
    "/sources",
    "/policy",
    "/console",
    "/console/talk",
    "/dead-letters",
    "/no/such/page",
)
OWN = {"Origin": "http://127.0.0.1", "Content-Type": "application/x-www-form-urlencoded"}


class Page(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, *names: str) -> list[dict[str, str | None]]:
        return [attrs for tag, attrs in self.tags if tag in names]

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


async def evil_world(services: MemoryServices, panel: PanelUnderTest) -> None:
    """Fill every text that somebody outside can choose with what should not run."""
    actor = Actor(id="101", actor_class=ActorClass.PERSON, name=EVIL)
    asked = trigger(1, actor=actor, text=f"please fix {EVIL}", scope=EVIL, kind=EVIL)
    asked = asked.model_copy(update={"title": EVIL, "url": "javascript:alert(1)"})
    await services.bus.publish(
        message_of(asked, id=asked.id, source="t", trace=f"00-{TRACE}-b7ad6b7169203331-01")
    )
    await services.settle()
    ticket = await services.take(TICKET)
    assert ticket.assignment is not None
    mine = ticket.assignment.id
    pull_request = PullRequest(branch=EVIL, title=EVIL)
    for said in (
        TakeInput(assignment=mine, message=1, number=1),
        ProposePullRequest(assignment=mine, message=2, pull_request=pull_request, body=EVIL),
        GiveReport(assignment=mine, message=3, kind=ReportKind.PROGRESS, text=EVIL),
        AskPerson(assignment=mine, message=4, question=EVIL, choices=(EVIL, "b")),
    ):
        await services.host_says(TICKET, said)
        await services.settle()
    dropped = EventDropped(source=EVIL, reason=EVIL, event=EVIL, delivery=EVIL, detail=EVIL, at=NOW)
    await services.bus.publish(message_of(dropped, id="drop/1", source="source"))
    evil = policy(rules=(rule(text=EVIL, scope=EVIL),))
    await services.apply(evil)
    talk = trigger(2, source=SourceName("console"), threads=(ThreadKey("console:talk"),), text=EVIL)
    talk = talk.model_copy(update={"id": TriggerId("console:talk/2"), "actor": actor})
    await services.publish(talk)
    await services.settle()
    await panel.http.post(
        "/otlp/v1/traces",
        content=export(
            {"trace": int(TRACE, 16), "id": 1, "name": EVIL, "error": EVIL, "size": 3},
            service=EVIL,
        ),
        headers={"Content-Type": "application/x-protobuf"},
    )
    await panel.read_up()


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_no_text_from_outside_becomes_part_of_a_page(services, panel, language):
    await evil_world(services, panel)
    shown = 0
    for path in PAGES:
        text = await panel.page(path, 404 if path == "/no/such/page" else 200, language)
        page = Page(text)
        scripts = page.all("script")
        assert all(one["src"].startswith("/static/") for one in scripts), path
        assert page.all("img", "iframe", "object", "embed", "style", "base") == [], path
        for tag, attrs in page.tags:
            assert not [name for name in attrs if name.startswith("on") or name == "style"], tag
            for name in ("href", "src", "action"):
                assert (attrs.get(name) or "/")[0] in "/#", (path, attrs)
        shown += EVIL in page.text
    assert shown >= 8


async def test_every_page_forbids_what_it_does_not_need(services, panel):
    await evil_world(services, panel)
    for path in (*PAGES, "/login"):
        answer = await panel.http.get(path)
        policy_ = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy_, path
        assert "unsafe" not in policy_
        assert "frame-ancestors 'none'" in policy_
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("language", ["en", "zh"])
async def test_every_page_has_a_title_a_heading_landmarks_and_names_for_its_fields(
    services, panel, language
):
    await evil_world(services, panel)
    for path in PAGES:
        page = Page(await panel.page(path, 404 if path == "/no/such/page" else 200, language))
        assert len(page.all("h1")) == 1, path
        assert len(page.all("title")) == len(page.all("main")) == len(page.all("nav")) == 1, path
        assert page.all("html")[0]["lang"] == ("en" if language == "en" else "zh-Hans")
        ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
        assert len(set(ids)) == len(ids), path
        for section in page.all("section"):
            assert section["aria-labelledby"] in ids, path
        labelled = {one.get("for") for one in page.all("label")}
        for field in page.all("input", "select", "textarea"):
            wrapped = path in ("/triggers", "/tickets")
            assert field.get("type") == "hidden" or field.get("id") in labelled or wrapped, path
        for header in page.all("th"):
            assert header["scope"] in ("col", "row"), path


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/", "Nothing needs a person now."),
        ("/triggers", "No Trigger yet."),
        ("/triggers?q=x", "No Trigger matches."),
        ("/tickets", "No Ticket yet."),
        ("/tickets?status=ended", "No Ticket matches."),
        ("/sources", "Nothing was dropped."),
        ("/console", "No conversation yet."),
        ("/console/new", "Nothing was said here yet."),
        ("/dead-letters", "There is no dead letter."),
    ],
)
async def test_where_there_is_nothing_a_page_says_so(panel, path, words):
    assert words in Page(await panel.page(path)).text


async def test_a_page_speaks_one_language_and_the_glossary_both(services, panel):
    await services.publish(trigger(1))
    await services.settle()
    await panel.read_up()
    english = Page(await panel.page("/tickets")).text
    chinese = Page(await panel.page("/tickets", language="zh-CN,zh;q=0.9")).text
    assert "awaiting" in english or "queued" in english
    assert "排队" in chinese
    assert "排队" not in english
    for page in (english, chinese):
        assert "Disposition 去向" in page
        assert "待人工决定" in page


async def test_a_chosen_language_is_kept_and_leads_back_to_the_page(panel):
    answer = await panel.http.get("/language/zh?next=%2Ftickets%3Fstatus%3Dopen")
    assert (answer.status_code, answer.headers["location"]) == (303, "/tickets?status=open")
    assert answer.cookies["remit_language"] == "zh"
    page = await panel.http.get("/tickets", headers={"Accept-Language": "en"})
    assert "工单" in Page(page.text).text
    assert 'href="/language/en?next=/tickets"' in page.text
    for elsewhere in ("//evil.example", "https://evil.example"):
        answer = await panel.http.get("/language/en", params={"next": elsewhere})
        assert answer.headers["location"] == "/"
    assert (await panel.http.get("/language/fr")).status_code == 422


async def test_a_page_asks_anew_for_the_part_that_changes_only(services, panel):
    await services.publish(trigger(1))
    await panel.read_up()
    path = f"/triggers/{trigger(1).id}"
    whole = await panel.page(path)
    assert 'sse-connect="/live?about=github%3Aissue_comment/1"' in whole
    part = (await panel.http.get(path, headers={"HX-Request": "true"})).text
    assert part.lstrip().startswith('<div id="live"')
    assert f'hx-get="{path}"' in part
    page = Page(part)
    assert page.all("html", "head", "nav", "h1", "form") == []
    assert "What became of it" in page.text
    assert page.text in Page(whole).text


async def test_a_page_of_something_unknown_says_so_with_its_status(panel):
    text = Page(await panel.page("/tickets/t-none", 404)).text
    assert "There is no Ticket 't-none' here" in text
    assert "There is no such page." in Page(await panel.page("/nothing", 404)).text
    assert (await panel.http.get("/api/nothing")).json()["detail"].startswith("There is no /api/")


async def test_a_refused_trigger_is_explained_in_the_readers_language(services, panel):
    await services.publish(trigger(1, actor=Actor(id="6", actor_class="person", name="mallory")))
    await services.settle()
    await panel.read_up()
    path = f"/triggers/{trigger(1).id}"
    assert "the sender is not on the allowed list" in Page(await panel.page(path)).text
    assert "发送者不在名单上" in Page(await panel.page(path, language="zh")).text


async def test_a_trace_is_shown_as_rows_with_durations_and_bars(services, panel):
    body = export(
        {"trace": 7, "id": 1, "name": "receive webhook"},
        {"trace": 7, "id": 2, "parent": 1, "name": "eval", "error": "no answer"},
    )
    await panel.http.post(
        "/otlp/v1/traces", content=body, headers={"Content-Type": "application/x-protobuf"}
    )
    page = Page(await panel.page(f"/traces/{7:032x}"))
    assert [one["class"] for one in page.all("th") if one["scope"] == "row"] == [
        "depth-0",
        "depth-1",
    ]
    bars = [one for one in page.all("rect") if one.get("class") != "track"]
    assert all(0 <= float(bar["x"]) <= 1000 for bar in bars)
    assert len(bars) == 2
    assert "no answer" in page.text


# -- the console ----------------------------------------------------------------------------


@pytest.fixture
def said(monkeypatch) -> list[tuple[str, str, str]]:
    """What is handed to the source service, by conversation, person and text."""
    taken: list[tuple[str, str, str]] = []

    async def say(self, conversation: str, *, person: str, text: str) -> str:
        taken.append((conversation, person, text))
        return f"console:{conversation}/1"

    monkeypatch.setattr(ConsoleSender, "say", say)
    monkeypatch.setattr("remit.panel.web.router._SEEN_WITHIN", 0.01)
    return taken


async def test_the_console_works_by_form_alone(services, tmp_path, said):
    async with running_panel(
        services.bus, tmp_path, services.clock, source_url="http://source"
    ) as panel:
        page = Page(await panel.page("/console"))
        (form,) = [one for one in page.all("form") if one["action"] == "/console"]
        assert form["method"] == "post"
        answer = await panel.http.post("/console", content="text=Hello%21+%E4%BD%A0", headers=OWN)
        assert answer.status_code == 303
        ((conversation, person, text),) = said
        assert answer.headers["location"] == f"/console/{conversation}#last"
        assert (person, text) == ("operator", "Hello! 你")
        await panel.http.post(f"/console/{conversation}", content="text=again", headers=OWN)
        assert said[1] == (conversation, "operator", "again")


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        ("text=" + "x" * 65_537, {}, 413),
        ("text=" + "x" * 600_000, {}, 413),
        ("%zz=&&&=", {}, 400),
        ("text=%ff", {}, 303),
        ("&".join(f"f{n}=1" for n in range(60)), {}, 400),
        ('{"text": "x"}', {"Content-Type": "application/json"}, 415),
        ("text=+++", {}, 303),
    ],
    ids=["too long", "too large", "no form", "no text", "too many", "json", "blank"],
)
async def test_a_form_that_will_not_do_is_refused_with_a_page(panel, said, body, headers, status):
    answer = await panel.http.post("/console/x", content=body, headers={**OWN, **headers})
    assert answer.status_code == status
    assert len(said) == (1 if body == "text=%ff" else 0)


async def test_a_message_that_was_not_taken_is_told_on_a_page(panel):
    answer = await panel.http.post("/console/x", content="text=hi", headers=OWN)
    assert answer.status_code == 502
    assert "The message was not taken." in Page(answer.text).text
    assert "REMIT_SOURCE_URL" in answer.text


# -- scripts and styles ---------------------------------------------------------------------


def test_what_comes_from_others_is_what_the_manifest_says_with_its_licence():
    vendor = files("remit.panel.web") / "static" / "vendor"
    manifest = json.loads((vendor / "manifest.json").read_text())
    named = {"manifest.json"}
    for entry in manifest["files"]:
        content = (vendor / entry["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == entry["sha256"], entry["file"]
        assert entry["version"] in entry["file"]
        named |= {entry["file"], entry["license_file"]}
    assert {one.name for one in vendor.iterdir()} == named


async def test_scripts_and_styles_come_from_the_panel_and_need_no_login(panel):
    page = Page((await panel.stranger.get("/login")).text)
    addresses = [one["src"] for one in page.all("script")]
    addresses += [one["href"] for one in page.all("link")]
    for address in addresses:
        answer = await panel.stranger.get(address)
        assert answer.status_code == 200, address
        assert "immutable" in answer.headers["cache-control"]
    assert (await panel.stranger.get("/static/manifest.json")).status_code == 404
    assert (await panel.stranger.get("/static/..%2Fpages.py")).status_code in (303, 404)


def test_styles_load_nothing_from_elsewhere():
    css = (files("remit.panel.web") / "static" / "panel.css").read_text()
    assert "url(" not in css
    assert "@import" not in css
