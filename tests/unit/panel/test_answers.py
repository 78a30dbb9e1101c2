"""What became of a Trigger, a Thread and a Ticket, asked over the API after the real services."""

from __future__ import annotations

import asyncio

import pytest

from remit.bus import subjects
from remit.bus.deadletters import bury
from remit.bus.message import Message
from remit.domain.channel import PullRequest
from remit.domain.ids import SourceName, ThreadKey, TriggerId, ticket_id_for
from remit.domain.messages import EventDropped
from remit.domain.report import ReportKind
from remit.domain.ticket import AskPerson, GiveReport, ProposePullRequest, TakeInput
from remit.runtime.wire import message_of
from support.domain import ALICE, CI_BOT, HOME, MALLORY, NOW, at, policy, rule, trigger
from support.memory_services import HOST, MemoryServices
from support.panel import PanelUnderTest

TICKET = ticket_id_for(trigger(1).id)
OTHER = ThreadKey("github:1/pull/8")


async def happen(services: MemoryServices, panel: PanelUnderTest, *triggers) -> None:
    await services.publish(*triggers)
    await services.settle()
    await panel.read_up()


async def fate(panel: PanelUnderTest, id: str):
    return await panel.get(f"/api/triggers/{id}")


# -- a Trigger ------------------------------------------------------------------------------


@pytest.mark.rule("DSP-2")
async def test_a_filtered_trigger_names_the_reason_of_the_filter(services, panel):
    await happen(services, panel, trigger(1, actor=MALLORY, public=True))
    answer = await fate(panel, trigger(1).id)
    (one,) = answer["dispositions"]
    assert one["disposition"]["kind"] == "filtered"
    assert one["disposition"]["reason"] == "not_listened_to"
    assert one["line"] == f"{trigger(1).id}: filtered (not_listened_to)"
    assert answer["tickets"] == []


@pytest.mark.rule("DSP-2")
async def test_a_trigger_that_the_gate_refused_names_the_reason_of_the_gate(services, panel):
    await happen(services, panel, trigger(1, actor=MALLORY))
    (one,) = (await fate(panel, trigger(1).id))["dispositions"]
    assert (one["disposition"]["kind"], one["disposition"]["reason"]) == ("filtered", "not_on_list")
    assert one["decision"]["decided_by"] == "gate"
    assert one["decision"]["gate"][0]["verdict"]["admitted"] is False


@pytest.mark.rule("DSP-2")
async def test_an_accepted_trigger_names_the_decision_its_rules_and_the_ticket(services, panel):
    await happen(services, panel, trigger(1))
    answer = await fate(panel, trigger(1).id)
    (one,) = answer["dispositions"]
    decision = one["decision"]
    assert (decision["outcome"], decision["rules"]) == ("accept", ["small-fixes"])
    assert decision["policy_version"] == policy().version
    assert decision["mandate"]["scope"] == rule().scope
    assert one["line"].endswith(f"[{decision['id']}, small-fixes | {TICKET}]")
    (ticket,) = answer["tickets"]
    assert (ticket["id"], ticket["stage"]) == (TICKET, "queued")
    happened = [entry["what"] for entry in answer["timeline"]]
    assert "trigger_arrived" in happened
    assert [what for what in happened if what in ("eval_started", "decision_recorded")] == [
        "eval_started",
        "decision_recorded",
    ]
    assert "disposition_recorded" in happened


@pytest.mark.rule("DSP-2")
async def test_a_trigger_that_fanned_out_names_the_tickets(services, panel):
    await happen(services, panel, trigger(1))
    await happen(services, panel, trigger(2, text="and the header too"))
    answer = await fate(panel, trigger(2).id)
    (one,) = answer["dispositions"]
    assert one["disposition"]["kind"] == "fanned_out"
    assert one["disposition"]["tickets"] == [TICKET]
    assert [ticket["id"] for ticket in answer["tickets"]] == [TICKET]


@pytest.mark.rule("DSP-2")
async def test_a_bots_trigger_that_fanned_out_and_was_evaluated_names_both(services, panel):
    await happen(services, panel, trigger(1))
    await happen(services, panel, trigger(2, actor=CI_BOT, text="CI is red"))
    kinds = {
        one["disposition"]["kind"] for one in (await fate(panel, trigger(2).id))["dispositions"]
    }
    assert kinds == {"fanned_out", "filtered"}


@pytest.mark.rule("DSP-1")
async def test_a_trigger_leads_to_its_trace(services, panel):
    one = trigger(1)
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    await services.bus.publish(message_of(one, id=one.id, source="t", trace=trace))
    await services.settle()
    await panel.read_up()
    assert (await fate(panel, one.id))["trace_id"] == "0af7651916cd43dd8448eb211c80319c"
    assert (await panel.get(f"/api/tickets/{TICKET}"))["trace_id"] == (
        "0af7651916cd43dd8448eb211c80319c"
    )


async def test_somebody_can_wait_for_a_trigger_that_was_only_just_sent(services, panel):
    asking = asyncio.ensure_future(panel.get(f"/api/triggers/{trigger(1).id}", wait=30))
    for _ in range(20):
        await asyncio.sleep(0)
    await services.publish(trigger(1))
    await panel.read_up()
    assert not asking.done()
    await services.settle()
    assert (await asking)["settled"] is True


async def test_a_wait_ends_with_what_is_known(services, panel):
    await services.publish(trigger(1))
    await panel.read_up()
    answer = await panel.get(f"/api/triggers/{trigger(1).id}", wait=0.01)
    assert answer["settled"] is False
    await panel.get("/api/triggers/github:nothing", 404, wait=0.01)


async def test_a_wait_is_bounded(panel):
    await panel.get("/api/triggers/x", 422, wait=31)


# -- lists ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, [5, 4, 3, 2, 1]),
        ({"q": "footer"}, [1]),
        ({"q": "价格"}, [3]),
        ({"q": "typo"}, [5, 4, 3, 2, 1]),
        ({"q": '"OR" NEAR('}, []),
        ({"q": "!"}, []),
        ({"source": "github"}, [4, 3, 2, 1]),
        ({"actor": "666"}, [4]),
        ({"thread": HOME}, [2, 1]),
        ({"disposition": "filtered"}, [5, 4]),
        ({"disposition": "fanned_out"}, [2]),
        ({"outcome": "accept"}, [3, 1]),
        ({"settled": "true"}, [5, 4, 3, 2, 1]),
        ({"settled": "false"}, []),
        ({"kind": "star"}, []),
        ({"limit": 2}, [5, 4]),
        ({"disposition": "filtered", "source": "github"}, [4]),
    ],
)
async def test_triggers_are_found_by_what_is_asked(services, panel, asked, found):
    await happen(services, panel, trigger(1, text="the footer is broken"))
    await happen(services, panel, trigger(2, text="so is the header"))
    await happen(services, panel, trigger(3, threads=(OTHER,), text="请把价格页面翻译成中文"))
    other = ThreadKey("github:1/issue/9")
    await happen(services, panel, trigger(4, threads=(other,), actor=MALLORY, text="me too"))
    console = trigger(5, source=SourceName("console"), threads=(ThreadKey("console:a"),), text="")
    await happen(services, panel, console)
    page = await panel.get("/api/triggers", **asked)
    assert [int(one["id"].rpartition("/")[2]) for one in page["items"]] == found


async def test_a_list_goes_on_where_the_last_page_ended(services, panel):
    await services.publish(*(trigger(number) for number in range(1, 6)))
    await panel.read_up()
    seen: list[str] = []
    page = await panel.get("/api/triggers", limit=2)
    seen.extend(one["id"] for one in page["items"])
    while page["before"] is not None:
        page = await panel.get("/api/triggers", limit=2, before=page["before"])
        seen.extend(one["id"] for one in page["items"])
    assert seen == [trigger(number).id for number in (5, 4, 3, 2, 1)]


@pytest.mark.parametrize("path", ["triggers", "tickets", "drops", "dead-letters"])
@pytest.mark.parametrize("limit", [0, 201, "many"])
async def test_every_list_has_a_limit(panel, path, limit):
    await panel.get(f"/api/{path}", 422, limit=limit)


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("triggers/github:none/at/all", "Trigger 'github:none/at/all'"),
        ("threads/github:none", "Thread 'github:none'"),
        ("tickets/t-none", "Ticket 't-none'"),
        (f"traces/{'0' * 32}", f"trace '{'0' * 32}'"),
        ("console/nobody", "conversation 'nobody'"),
    ],
)
async def test_what_is_not_known_is_said_in_a_sentence(panel, path, named):
    answer = await panel.get(f"/api/{path}", 404)
    assert answer["detail"].startswith(f"There is no {named} here: ")


# -- a Thread -------------------------------------------------------------------------------


@pytest.mark.rule("THR-1")
async def test_a_threads_triggers_are_in_time_order_however_late_they_came(services, panel):
    await services.publish(trigger(1, minutes=10), trigger(2, minutes=5), trigger(3, minutes=5))
    await services.settle()
    await panel.read_up()
    answer = await panel.get(f"/api/threads/{HOME}")
    wanted = [trigger(number).id for number in (2, 3, 1)]
    assert [one["id"] for one in answer["triggers"]] == wanted
    arrived = [one["trigger"] for one in answer["timeline"] if one["what"] == "trigger_arrived"]
    assert arrived == wanted


async def test_a_thread_shows_its_evals_decisions_and_subscriptions(services, panel):
    await happen(services, panel, trigger(1, threads=(HOME, OTHER)))
    answer = await panel.get(f"/api/threads/{HOME}")
    (one,) = answer["evals"]
    assert (one["state"], one["outcome"], one["triggers"]) == ("decided", "accept", [trigger(1).id])
    assert [decision["id"] for decision in answer["decisions"]] == [one["decision"]]
    (subscription,) = answer["subscriptions"]
    assert (subscription["ticket"], subscription["standing"]) == (TICKET, "live")
    assert answer["correlated"] == [OTHER]
    assert [ticket["id"] for ticket in answer["tickets"]] == [TICKET]
    moments = [entry["at"] for entry in answer["timeline"]]
    assert moments == sorted(moments)


async def test_a_thread_is_known_from_its_first_trigger_on(services, panel):
    await services.publish(trigger(1))
    await panel.read_up()
    answer = await panel.get(f"/api/threads/{HOME}")
    assert [one["id"] for one in answer["triggers"]] == [trigger(1).id]
    assert answer["evals"] == []


async def test_a_long_thread_is_shown_in_pages(services, panel):
    await services.publish(*(trigger(number) for number in range(1, 6)))
    await panel.read_up()
    last = await panel.get(f"/api/threads/{HOME}", limit=2)
    assert [one["id"] for one in last["triggers"]] == [trigger(4).id, trigger(5).id]
    before = await panel.get(f"/api/threads/{HOME}", limit=3, before=last["before"])
    assert [one["id"] for one in before["triggers"]] == [trigger(n).id for n in (1, 2, 3)]
    assert before["before"] is None


# -- a Ticket -------------------------------------------------------------------------------


async def worked_on(services: MemoryServices, panel: PanelUnderTest) -> None:
    """Let a Ticket be worked on up to a pull request, a question and a second message."""
    await services.publish(trigger(1))
    await services.settle()
    ticket = await services.take(TICKET)
    assert ticket.assignment is not None
    mine = ticket.assignment.id
    pull_request = PullRequest(branch="remit/t-1", title="Fix it")
    for said in (
        TakeInput(assignment=mine, message=1, number=1),
        GiveReport(assignment=mine, message=2, kind=ReportKind.PROGRESS, text="Found it."),
        ProposePullRequest(assignment=mine, message=3, pull_request=pull_request, body="Fixed."),
        AskPerson(assignment=mine, message=4, question="Which one?", choices=("this", "that")),
    ):
        await services.host_says(TICKET, said)
        await services.settle()
    await panel.read_up()


@pytest.mark.rule("TKT-5")
async def test_a_ticket_shows_where_it_stands_and_what_was_done(services, panel):
    await worked_on(services, panel)
    answer = await panel.get(f"/api/tickets/{TICKET}")
    assert (answer["status"], answer["stage"], answer["host"]) == ("open", "awaiting_answer", HOST)
    assert answer["attention"]["question"] == "Which one?"
    assert answer["mandate"]["actor"]["id"] == ALICE.id
    assert answer["decision"]["outcome"] == "accept"
    (taken,) = answer["inputs"]
    assert (taken["trigger"], taken["delivered_at"] is None) == (trigger(1).id, False)
    (assignment,) = answer["assignments"]
    assert (assignment["state"], assignment["host"]) == ("running", HOST)
    assert [report["text"] for report in answer["reports"]] == ["Found it."]
    writes = answer["writes"]
    assert [one["write"]["kind"] for one in writes] == ["acknowledge", "pull_request", "reply"]
    assert {one["receipt"]["outcome"] for one in writes} == {"accepted"}
    (asked,) = answer["attentions"]
    assert asked["closed_at"] is None


async def test_an_answer_closes_the_question_and_the_history_keeps_it(services, panel):
    await worked_on(services, panel)
    await happen(services, panel, trigger(2, text="this"))
    ticket = await services.ticket(TICKET)
    assert ticket.assignment is not None
    mine = ticket.assignment.id
    await services.host_says(TICKET, TakeInput(assignment=mine, message=5, number=2))
    final = GiveReport(assignment=mine, message=6, kind=ReportKind.READY, text="Done.", final=True)
    await services.host_says(TICKET, final)
    await services.settle()
    await panel.read_up()
    answer = await panel.get(f"/api/tickets/{TICKET}")
    assert (answer["status"], answer["stage"], answer["standing"]) == ("ended", None, "ended")
    assert answer["attention"] is None
    assert answer["attentions"][0]["closed_at"] is not None
    assert answer["assignments"][0]["end"] == "reported"
    assert answer["writes"][-1]["ends"] is True
    assert answer["timeline"][-1]["what"] == "ticket_ended"
    listed = await panel.get("/api/tickets", status="ended")
    assert [one["id"] for one in listed["items"]] == [TICKET]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"q": "typo"}, True),
        ({"q": "zebra"}, False),
        ({"stage": "queued"}, True),
        ({"stage": "stuck"}, False),
        ({"status": "open"}, True),
        ({"status": "ended"}, False),
        ({"source": "github"}, True),
        ({"source": "console"}, False),
    ],
)
async def test_tickets_are_found_by_what_is_asked(services, panel, asked, found):
    await happen(services, panel, trigger(1))
    page = await panel.get("/api/tickets", **asked)
    assert [one["id"] for one in page["items"]] == ([TICKET] if found else [])


# -- the overview and the rest --------------------------------------------------------------


async def test_the_overview_says_who_is_needed_and_counts_the_last_day(services, panel):
    await services.publish(trigger(99, actor=MALLORY, threads=(OTHER,)))
    await services.settle()
    await services.clock.advance(25 * 3600)
    await worked_on(services, panel)
    overview = await panel.get("/api/overview")
    needs = overview["needs_person"]
    assert [one["question"] for one in needs["questions"]] == ["Which one?"]
    assert {name for name, count in needs["counts"].items() if count} == {"questions"}
    assert overview["triggers"] == {"github": 1}
    assert overview["dispositions"] == {"evaluated": 1}
    assert overview["decisions"] == {"accept": 1}
    assert overview["open_tickets"] == {"awaiting_answer": 1}
    assert {one["stream"] for one in overview["following"]} >= {"TRIGGER", "THREAD", "TICKET"}
    assert overview["reading_up"] is False


@pytest.mark.parametrize(
    ("kind", "name"), [(ReportKind.FAILED, "stuck"), (ReportKind.READY, "reviews")]
)
async def test_a_report_that_waits_for_a_person_is_on_the_overview(services, panel, kind, name):
    await services.publish(trigger(1))
    await services.settle()
    ticket = await services.take(TICKET)
    assert ticket.assignment is not None
    mine = ticket.assignment.id
    await services.host_says(TICKET, TakeInput(assignment=mine, message=1, number=1))
    await services.host_says(TICKET, GiveReport(assignment=mine, message=2, kind=kind, text="See."))
    await services.settle()
    await panel.read_up()
    needs = (await panel.get("/api/overview"))["needs_person"]
    assert [one["id"] for one in needs[name]] == [TICKET]


async def test_a_dead_letter_is_on_the_overview_for_a_day_and_listed_after(services, panel):
    await services.publish(trigger(1))
    (stored,) = await services.stored("TRIGGER")
    await services.bus.publish(bury(stored, consumer="route", reason="no way"))
    await panel.read_up()
    needs = (await panel.get("/api/overview"))["needs_person"]
    assert [(one["stream"], one["reason"]) for one in needs["dead_letters"]] == [
        ("TRIGGER", "no way")
    ]
    await services.clock.advance(25 * 3600)
    assert (await panel.get("/api/overview"))["needs_person"]["dead_letters"] == []
    (listed,) = (await panel.get("/api/dead-letters"))["items"]
    assert listed["message"] == trigger(1).id
    assert trigger(1).text in listed["body"]


@pytest.mark.rule("SRC-4")
async def test_drops_are_counted_by_source_and_reason(services, panel):
    for number, reason in enumerate(["own_message", "own_message", "too_old"]):
        dropped = EventDropped(source="github", reason=reason, event="e", delivery="d", at=NOW)
        await services.bus.publish(message_of(dropped, id=f"drop/{number}", source="source"))
    await panel.read_up()
    page = await panel.get("/api/drops")
    assert page["counts"] == [
        {"source": "github", "reason": "own_message", "count": 2},
        {"source": "github", "reason": "too_old", "count": 1},
    ]
    assert len(page["items"]) == 3
    one = await panel.get("/api/drops", reason="too_old")
    assert [line["reason"] for line in one["items"]] == ["too_old"]
    assert (await panel.get("/api/overview"))["drops"] == page["counts"]


async def test_before_any_policy_the_empty_one_is_shown(tmp_path):
    from support.panel import running_panel

    async with running_panel(MemoryServices().bus, tmp_path) as panel:
        answer = await panel.get("/api/policy")
    assert (answer["applied_at"], answer["policy"]["accept"]) == (None, "off")


async def test_the_policy_in_force_is_the_last_that_was_applied(services, panel):
    other = policy(rules=(rule("other"),))
    await services.apply(other)
    await panel.read_up()
    answer = await panel.get("/api/policy")
    assert answer["version"] == other.version
    assert [one["version"] for one in answer["versions"]] == [other.version, policy().version]


async def test_a_conversation_holds_both_sides_in_time_order(services, panel):
    thread = ThreadKey("console:talk")
    asked = trigger(1, source=SourceName("console"), threads=(thread,), text="Hello?")
    asked = asked.model_copy(update={"id": TriggerId("console:talk/1")})
    await happen(services, panel, asked)
    entry = {"key": "t-1-w1", "author": "remit", "text": "On it.", "at": at(2).isoformat()}
    import json

    await services.bus.publish(
        Message(
            subject=subjects.console(thread),
            id="console/t-1-w1",
            type="remit.console.entry",
            source="/remit/channel",
            data=json.dumps(entry).encode(),
        )
    )
    await panel.read_up()
    answer = await panel.get("/api/console/talk")
    assert [(one["agent"], one["text"]) for one in answer["lines"]] == [
        (False, "Hello?"),
        (True, "On it."),
    ]
    assert (answer["lines"][0]["trigger"], answer["lines"][0]["settled"]) == (
        "console:talk/1",
        True,
    )


async def test_the_api_describes_itself(panel):
    described = await panel.get("/api/openapi.json")
    paths = described["paths"]
    assert set(paths) >= {
        "/api/overview",
        "/api/triggers",
        "/api/triggers/{id}",
        "/api/threads/{key}",
        "/api/tickets",
        "/api/tickets/{id}",
        "/api/drops",
        "/api/dead-letters",
        "/api/policy",
        "/api/traces/{trace_id}",
        "/api/console/{conversation}",
        "/api/events",
    }
    for path, operations in paths.items():
        for operation in operations.values():
            assert operation["summary"], path
