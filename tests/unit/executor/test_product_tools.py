"""The product's tools: each says what happened, and nothing is said twice."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from remit.bus.clock import SystemClock
from remit.bus.errors import PublishRefused
from remit.bus.memory import MemoryBus
from remit.connectors.contract import ProviderUnavailable
from remit.domain.channel import Receipt, WriteKind, WriteOutcome
from remit.domain.ids import HostName, TicketId, write_id_for
from remit.domain.messages import FromAssignment
from remit.domain.report import ReportKind
from remit.domain.ticket import TakeAssignment, Ticket
from remit.executor.hearing import InputFeed
from remit.executor.journal import JournalFile
from remit.executor.product_tools import TOOLS, ProductTools, ToolResult
from remit.executor.push_branch import NothingToPush, Pushed, PushFailed
from remit.executor.reading import Reading
from remit.executor.speaking import Spokesman
from remit.executor.watching import TicketWatch, load_ticket
from remit.runtime.wire import message_of
from support.domain import trigger
from support.executor_world import ExecutorWorld, until

PROPOSAL = {"title": "Fix the typo", "body": "It was a typo."}


@dataclass
class Desk:
    """Tools in the hands of a test, for an Assignment that was taken.

    Attributes:
        pushes: What the next pushes come to.
        pushed: How often the branch was pushed.
    """

    world: ExecutorWorld
    ticket: TicketId
    journal: JournalFile
    feed: InputFeed
    pushes: list[Pushed | Exception | None] = field(default_factory=list)
    pushed: int = 0
    tools: ProductTools = field(init=False)

    async def push(self, trace: str | None, /) -> Pushed | None:
        self.pushed += 1
        come_to = self.pushes.pop(0) if len(self.pushes) > 1 else self.pushes[0]
        if isinstance(come_to, Exception):
            raise come_to
        return come_to

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        return await self.tools.call(name, arguments)

    async def proposal(self) -> Ticket:
        """Wait until the Ticket has asked for a pull request."""
        return await self.world.until(
            self.ticket, lambda t: any(w.kind is WriteKind.PULL_REQUEST for w in t.unsettled)
        )

    async def answer(self, outcome: WriteOutcome, **fields: str) -> None:
        """Let the Channel answer the pull request."""
        ticket = await self.proposal()
        number = next(w.number for w in ticket.unsettled if w.kind is WriteKind.PULL_REQUEST)
        receipt = Receipt(write=write_id_for(self.ticket, number), outcome=outcome, **fields)
        await self.world.settle(self.ticket, receipt)


@pytest.fixture
async def desk(world: ExecutorWorld, tmp_path: Path) -> AsyncIterator[Desk]:
    ticket = await world.open()
    waiting = await world.until(ticket, lambda t: t.assignment is not None)
    assert waiting.assignment is not None
    host = HostName("desk")
    taking = FromAssignment(
        ticket=ticket, said=TakeAssignment(assignment=waiting.assignment.id, host=host)
    )
    await world.bus.publish(message_of(taking, id="take", source="test"))
    await world.until(ticket, lambda t: t.assignment is not None and t.assignment.host == host)
    loaded = await load_ticket(world.bus, ticket)
    assert loaded is not None
    assert loaded[0].assignment is not None
    clock = SystemClock()
    spokesman = Spokesman(
        world.bus, ticket, loaded[0].assignment.id, heard=0, clock=clock, patience=1
    )
    journal = JournalFile(tmp_path / "journal.json", "key")
    reading = Reading(spokesman, delivered=0)
    async with (
        TicketWatch(world.bus, *loaded) as watch,
        InputFeed(world.bus, ticket, first=1) as feed,
    ):
        await feed.wait()
        feed.take()
        reading.begin(1, None)
        desk = Desk(world, ticket, journal, feed)
        desk.tools = ProductTools(
            spokesman=spokesman,
            journal=journal,
            feed=feed,
            watch=watch,
            push=desk.push,
            read=reading.read,
            receipt_seconds=1,
        )
        desk.pushes = [Pushed(branch=f"remit/{ticket}", commit="c0ffee", commits=2)]
        yield desk


# -- words ----------------------------------------------------------------------------------


@pytest.mark.field("B10")
async def test_the_same_words_are_sent_once(desk: Desk) -> None:
    report = {"kind": "ready", "text": "Done."}
    assert "the people are told" in (await desk.call("report", report)).text
    again = await desk.call("report", report)
    assert "not sent a second time" in again.text
    assert not again.error
    await desk.call("reply", {"text": "Done."})
    await desk.world.until(desk.ticket, lambda t: t.writes == 3)
    bodies = [write.body for write in await desk.world.writes(desk.ticket)]
    assert bodies[1:] == ["Done.", "Done."], "a report and a reply are two things"


async def test_the_ticket_hears_that_the_input_was_read_before_anything_else(desk: Desk) -> None:
    await desk.call("report", {"kind": "ready", "text": "Done.", "final": True})
    done = await desk.world.until(desk.ticket, lambda t: t.report is not None)
    assert done.delivered == 1
    events = await desk.world.events(desk.ticket)
    assert events.index("input_delivered") < events.index("report_taken")


@pytest.mark.field("C2")
async def test_a_report_is_not_final_while_something_new_waits(desk: Desk) -> None:
    await desk.world.write(desk.ticket, trigger(2, text="one more thing"))
    await until(lambda: bool(desk.feed.waiting))
    refused = await desk.call("report", {"kind": "ready", "text": "Done.", "final": True})
    assert refused.error
    assert "something new came in" in refused.text
    assert not desk.tools.final
    assert not await desk.world.reports(desk.ticket)


async def test_after_the_final_report_nothing_is_taken(desk: Desk) -> None:
    await desk.call("report", {"kind": "dropped", "text": "Not needed.", "final": True})
    for name, arguments in [("reply", {"text": "x"}), ("propose_pull_request", PROPOSAL)]:
        assert (await desk.call(name, arguments)).error
    assert desk.pushed == 0


@pytest.mark.parametrize(
    ("kind", "stuck", "speaks"),
    [
        ("progress", False, False),
        ("waiting", False, True),
        ("ready", False, True),
        ("blocked", True, True),
        ("failed", True, True),
        ("dropped", False, True),
    ],
)
@pytest.mark.rule("ASG-3")
async def test_every_kind_of_report(desk: Desk, kind: str, stuck: bool, speaks: bool) -> None:
    assert not (await desk.call("report", {"kind": kind, "text": "So it is."})).error
    assert desk.tools.stuck is stuck
    assert desk.journal.now.owed is not speaks
    taken = await desk.world.until(desk.ticket, lambda t: t.report is not None)
    assert taken.report is not None
    assert taken.report.kind is ReportKind(kind)


@pytest.mark.rule("ASG-4")
@pytest.mark.rule("TKT-1")
def test_no_tool_can_open_a_ticket_or_say_that_a_person_stopped() -> None:
    assert {tool.name for tool in TOOLS} == {"report", "ask", "reply", "propose_pull_request"}
    assert "stopped" not in {kind.value for kind in ReportKind}


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("tidy_up", {}, "There is no tool tidy_up"),
        ("report", {"kind": "stopped", "text": "x"}, "kind: "),
        ("report", {"kind": "ready", "text": ""}, "text: "),
        ("report", {"kind": "ready", "text": "x", "ticket": "t-other"}, "ticket: "),
        ("ask", {"question": "x", "choices": ["a"] * 11}, "choices: "),
        ("propose_pull_request", {"title": "t"}, "body: "),
    ],
)
async def test_a_wrong_call_says_which_argument_is_wrong(
    desk: Desk, name: str, arguments: dict[str, Any], problem: str
) -> None:
    result = await desk.call(name, arguments)
    assert result.error
    assert problem in result.text


async def test_words_that_the_bus_does_not_take_are_not_said(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: MemoryBus, message: Any) -> Any:
        raise PublishRefused(message.subject, 10077, "message size exceeds maximum allowed")

    with monkeypatch.context() as patch:
        patch.setattr(MemoryBus, "publish", refuse)
        result = await desk.call("reply", {"text": "too long"})
    assert result.error
    assert (await desk.call("reply", {"text": "too long"})).text == "Sent."


async def test_words_whose_caller_went_away_are_sent_all_the_same(desk: Desk) -> None:
    await desk.call("reply", {"text": "I begin."})
    spokesman = desk.tools._spokesman
    async with spokesman._turn:
        calling = asyncio.create_task(desk.call("reply", {"text": "I am off."}))
        await until(lambda: bool(spokesman._under_way))
        calling.cancel()
    await desk.call("reply", {"text": "And on."})
    taken = await desk.world.until(desk.ticket, lambda t: t.writes == 4)
    bodies = [write.body for write in await desk.world.writes(desk.ticket)]
    assert bodies[1:] == ["I begin.", "I am off.", "And on."]
    assert taken.assignment is not None
    assert taken.assignment.heard == 4, "no number was left out or used twice"


# -- pull requests --------------------------------------------------------------------------


async def test_a_pull_request_is_proposed_and_its_address_returned(desk: Desk) -> None:
    calling = asyncio.create_task(desk.call("propose_pull_request", PROPOSAL))
    await desk.answer(WriteOutcome.ACCEPTED, url="https://code.example/pull/8", object_id="8")
    result = await calling
    assert result.text == "Pushed 2 commit(s) and opened https://code.example/pull/8."
    (write,) = [w for w in await desk.world.writes(desk.ticket) if w.kind is WriteKind.PULL_REQUEST]
    assert write.pull_request is not None
    assert write.pull_request.branch == f"remit/{desk.ticket}"
    assert (write.pull_request.title, write.body) == ("Fix the typo", "It was a typo.")


@pytest.mark.field("B10")
async def test_a_second_proposal_pushes_again_and_opens_nothing(desk: Desk) -> None:
    calling = asyncio.create_task(desk.call("propose_pull_request", PROPOSAL))
    await desk.answer(WriteOutcome.ACCEPTED, url="https://code.example/pull/8")
    await calling
    again = await desk.call("propose_pull_request", PROPOSAL)
    assert (
        again.text == "Pushed 2 commit(s). The pull request https://code.example/pull/8 has them."
    )
    assert desk.pushed == 2
    await desk.journal.note(pull_request=None)
    assert (
        "https://code.example/pull/8 has them"
        in (await desk.call("propose_pull_request", PROPOSAL)).text
    )
    assert (await desk.world.ticket(desk.ticket)).writes == 2


@pytest.mark.field("B10")
async def test_a_proposal_that_waits_for_its_receipt_is_not_made_again(desk: Desk) -> None:
    desk.tools._receipt_seconds = 0.01
    first = await desk.call("propose_pull_request", PROPOSAL)
    assert first.text == "Pushed 2 commit(s). The pull request is being opened."
    await desk.proposal()
    await until(lambda: bool(desk.tools._watch.ticket.unsettled))
    desk.tools._receipt_seconds = 5
    calling = asyncio.create_task(desk.call("propose_pull_request", PROPOSAL))
    await desk.answer(WriteOutcome.ACCEPTED, url="https://code.example/pull/8")
    assert "opened https://code.example/pull/8" in (await calling).text
    assert (await desk.world.ticket(desk.ticket)).writes == 2


async def test_a_pull_request_that_is_refused_is_told_with_the_reason(desk: Desk) -> None:
    calling = asyncio.create_task(desk.call("propose_pull_request", PROPOSAL))
    await desk.answer(WriteOutcome.REFUSED, reason="the base branch is gone")
    result = await calling
    assert result.error
    assert "the base branch is gone" in result.text


@pytest.mark.parametrize(
    ("come_to", "problem"),
    [
        (NothingToPush("remit/t-x"), "Commit your work on that branch first"),
        (PushFailed("remit/t-x", "non-fast-forward"), "non-fast-forward"),
        (ProviderUnavailable("github", "no token now"), "no token now"),
        (None, "nowhere to push to"),
    ],
)
async def test_a_push_that_does_not_come_about_is_told(
    desk: Desk, come_to: Pushed | Exception | None, problem: str
) -> None:
    desk.pushes = [come_to]
    result = await desk.call("propose_pull_request", PROPOSAL)
    assert result.error
    assert problem in result.text
    assert (await desk.world.ticket(desk.ticket)).writes == 1
    assert desk.journal.now.owed
