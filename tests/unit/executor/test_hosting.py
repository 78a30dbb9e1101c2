"""An Assignment from its offer to its final report, and what ends its hosting before."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from remit.bus import subjects
from remit.bus.clock import ManualClock
from remit.bus.errors import BusUnavailable
from remit.bus.message import Message, Stored
from remit.bus.ports import Done, Later, Never
from remit.coordination import MemoryLeases
from remit.domain.assignment import AssignmentEnd, AssignmentState
from remit.domain.ids import AssignmentId, TicketId
from remit.domain.inputs import InputKind
from remit.domain.messages import Offer
from remit.domain.report import ReportKind
from remit.domain.ticket import Ticket, TicketStatus
from remit.executor.agents import TurnEnd
from remit.executor.product_tools import ToolResult
from remit.runtime.wire import message_of
from support.domain import trigger
from support.executor_world import ExecutorWorld, until
from support.fake_agents import FakeTurn, Held, crash, ready


def is_over(ticket: Ticket) -> bool:
    return ticket.assignment is not None and ticket.assignment.state is AssignmentState.ENDED


def end_of(ticket: Ticket) -> AssignmentEnd | None:
    assert ticket.assignment is not None
    return ticket.assignment.end


def inputs_in(world: ExecutorWorld, number: int) -> int:
    """Count how often an Input is in what the agents remember."""
    return sum(
        text.count(f'<input number="{number}" ')
        for history in world.histories.values()
        for text in history
    )


@pytest.mark.rule("ASG-1")
@pytest.mark.rule("ASG-2")
@pytest.mark.rule("ASG-3")
async def test_an_assignment_runs_from_its_offer_to_its_final_report(world: ExecutorWorld) -> None:
    agents = world.fake_agents(ready)
    world.start(agents)
    ticket = await world.open()
    ended = await world.until(ticket, is_over)
    assert end_of(ended) is AssignmentEnd.REPORTED
    assert ended.assignment is not None
    assert ended.assignment.host == "host-1/1"
    assert ended.delivered == 1
    assert ended.status is TicketStatus.OPEN, "only a Channel's receipt ends a Ticket"
    await world.accept_writes(ticket)
    await world.until(ticket, lambda t: t.status is TicketStatus.ENDED)
    assert "please fix the typo" in agents.turns[0].said
    await until(lambda: agents.closed == ["session-1"])
    assert len(agents.turns) == 1


async def test_an_agent_ends_its_turn_by_itself_after_its_final_report(
    world: ExecutorWorld,
) -> None:
    ended: list[bool] = []

    async def report_and_go_on(turn: FakeTurn) -> None:
        await ready(turn)
        await world.until(ticket, is_over)
        refused = await turn.call("reply", text="And another thing.")
        ended.append(refused.error)

    agents = world.fake_agents(report_and_go_on)
    world.start(agents)
    ticket = await world.open()
    await until(lambda: bool(ended))
    assert ended == [True]
    assert agents.cancelled == 0


async def test_a_host_takes_no_more_than_it_has_room_for(world: ExecutorWorld) -> None:
    held = Held()
    agents = world.fake_agents(held)
    world.start(agents, capacity=1)
    first, second = await world.open(trigger(1)), await world.open(trigger(2))
    await held.began.wait()
    for _ in range(50):
        await asyncio.sleep(0)
    assert len(agents.turns) == 1
    held.go_on.set()
    for ticket in (first, second):
        await world.until(ticket, is_over)


@pytest.mark.parametrize(
    ("data", "outcome"),
    [(b"{}", Never), (b'{"ticket":"t-x","assignment":"t-x/assignment/1","title":""}', Later)],
)
async def test_an_offer_that_cannot_be_read_or_has_no_ticket_yet(
    world: ExecutorWorld, data: bytes, outcome: type[object]
) -> None:
    host = world.start(world.fake_agents())
    offer = Offer(ticket=TicketId("t-x"), assignment=AssignmentId("a"), title="")
    message = message_of(offer, id="offer", source="test")
    stored = await world.bus.publish(message)
    delivery = await world.bus.at(stored.stream, stored.sequence)
    assert delivery is not None
    changed = type(message)(subject=message.subject, id="x", type="t", source="s", data=data)
    answer = await host.hosting(
        type(delivery)(
            message=changed, stream=delivery.stream, sequence=1, stored_at=delivery.stored_at
        )
    )
    assert isinstance(answer, outcome)


async def test_an_offer_that_was_seen_to_is_done(world: ExecutorWorld) -> None:
    host = world.start(world.fake_agents(ready))
    ticket = await world.open()
    await world.until(ticket, is_over)
    stale = Offer(ticket=ticket, assignment=AssignmentId(f"{ticket}/assignment/1"), title="")
    stored = await world.bus.publish(message_of(stale, id="again", source="test"))
    delivery = await world.bus.at(stored.stream, stored.sequence)
    assert delivery is not None
    assert await host.hosting(delivery) == Done()


# -- hosts that die, leave or are slow ------------------------------------------------------


@pytest.mark.rule("ASG-7")
@pytest.mark.rule("INP-1")
@pytest.mark.field("C15")
@pytest.mark.parametrize("signs", [True, False], ids=["after TakeInput", "before TakeInput"])
async def test_a_host_that_dies_is_replaced_and_each_input_is_read_once(
    world: ExecutorWorld, clock: ManualClock, signs: bool
) -> None:
    held = Held(signs=signs)
    first = world.start(world.fake_agents(held), capacity=1)
    ticket = await world.open()
    await held.began.wait()
    if signs:
        await world.until(ticket, lambda t: t.delivered == 1)
    await first.die()
    world.coordination.flush()
    agents = world.fake_agents(ready)
    world.start(agents)
    await clock.advance(1.1)
    ended = await world.until(ticket, is_over)
    assert ended.assignment is not None
    assert ended.assignment.number == 2
    assert ended.delivered == 1
    assert inputs_in(world, 1) == 1
    assert "continue where you were interrupted" in agents.turns[0].said.replace("\n", " ")
    assert agents.opened[0].session == "session-1"


@pytest.mark.rule("INP-1")
async def test_an_input_that_died_with_its_host_unread_is_given_again(
    world: ExecutorWorld, clock: ManualClock
) -> None:
    waiting = asyncio.Event()

    async def never_read(turn: FakeTurn) -> None:
        waiting.set()
        await asyncio.Event().wait()

    first = world.start(world.fake_agents(never_read), capacity=1)
    ticket = await world.open()
    await waiting.wait()
    assert (await world.ticket(ticket)).delivered == 0
    await first.die()
    world.coordination.flush()
    agents = world.fake_agents(ready)
    world.start(agents)
    await clock.advance(1.1)
    assert (await world.until(ticket, is_over)).delivered == 1
    assert inputs_in(world, 1) == 1


@pytest.mark.field("D10")
@pytest.mark.field("D11")
async def test_a_host_that_is_told_to_stop_gives_its_sessions_back_at_once(
    world: ExecutorWorld,
) -> None:
    held = Held()
    leaving = world.fake_agents(held)
    first = world.start(leaving)
    ticket = await world.open()
    await held.began.wait()
    agents = world.fake_agents(ready)
    world.start(agents)
    await first.stop()
    # The bus's clock stands still: nothing was waited for.
    ended = await world.until(ticket, is_over)
    assert leaving.cancelled == 1
    assert leaving.closed == ["session-1"]
    assert ended.assignment is not None
    assert ended.assignment.host == "host-2/1"
    assert inputs_in(world, 1) == 1


async def test_a_lease_that_somebody_else_has_keeps_a_host_out(
    world: ExecutorWorld, clock: ManualClock
) -> None:
    agents = world.fake_agents(ready)
    other = MemoryLeases(world.coordination)
    ticket = TicketId("t-24zbl53jx6qdqpxi")
    async with other.hold(f"session:{ticket}", ttl=timedelta(seconds=60)):
        world.start(agents)
        assert await world.open() == ticket
        for _ in range(100):
            await asyncio.sleep(0)
        assert (await world.ticket(ticket)).assignment is not None
        assert not agents.turns
    await clock.advance(1.1)
    await world.until(ticket, is_over)


async def test_a_host_that_was_slow_leaves_the_session_to_the_one_that_took_over(
    world: ExecutorWorld, clock: ManualClock
) -> None:
    held = Held()
    slow = world.fake_agents(held)
    world.start_with(slow, slow._server, capacity=1, lease_ttl=timedelta(hours=1))
    ticket = await world.open()
    await held.began.wait()
    world.coordination.flush()
    quick = Held()
    agents = world.fake_agents(quick)
    world.start(agents)
    await clock.advance(1.1)
    await quick.began.wait()
    await until(lambda: slow.cancelled == 1)
    quick.go_on.set()
    ended = await world.until(ticket, is_over)
    assert ended.assignment is not None
    assert ended.assignment.number == 2
    assert (await world.events(ticket)).count("assignment_taken_over") == 1


async def test_a_host_whose_lease_somebody_else_has_puts_the_session_back(
    world: ExecutorWorld, clock: ManualClock
) -> None:
    held = Held()
    agents = world.fake_agents(held, ready)
    world.start_with(agents, agents._server, lease_ttl=timedelta(seconds=0.03))
    ticket = await world.open()
    await held.began.wait()
    world.coordination.flush()
    async with MemoryLeases(world.coordination).hold(
        f"session:{ticket}", ttl=timedelta(seconds=60)
    ):
        await until(lambda: agents.cancelled == 1)
        assert (await world.ticket(ticket)).report is None
    await world.left()
    await clock.advance(1.1)
    ended = await world.until(ticket, is_over)
    assert ended.assignment is not None
    assert ended.assignment.host == "host-1/2"
    assert inputs_in(world, 1) == 1


async def test_a_host_that_the_bus_does_not_hear_puts_the_session_back(
    world: ExecutorWorld, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.patience_seconds = 0.01
    publish = world.bus.publish

    async def deaf(message: Message) -> Stored:
        if message.type == "remit.report":
            raise BusUnavailable("publish")
        return await publish(message)

    told: list[ToolResult] = []

    async def report_and_wait(turn: FakeTurn) -> None:
        turn.sign()
        monkeypatch.setattr(world.bus, "publish", deaf)
        told.append(await turn.call("report", kind="ready", text="Done."))
        await asyncio.Event().wait()

    agents = world.fake_agents(report_and_wait, ready)
    world.start(agents)
    ticket = await world.open()
    await until(lambda: agents.cancelled == 1)
    assert told[0].error
    monkeypatch.setattr(world.bus, "publish", publish)
    await world.left()
    await clock.advance(1.1)
    await world.until(ticket, is_over)
    assert [report.text for report in await world.reports(ticket)] == ["It is done."]
    assert inputs_in(world, 1) == 1


async def test_flushing_redis_does_not_interrupt_an_agent(world: ExecutorWorld) -> None:
    held = Held()
    agents = world.fake_agents(held)
    world.start_with(agents, agents._server, lease_ttl=timedelta(seconds=0.03))
    ticket = await world.open()
    await held.began.wait()
    world.coordination.flush()
    await until(lambda: f"session:{ticket}" in world.coordination.leases)
    held.go_on.set()
    await world.until(ticket, is_over)
    assert agents.cancelled == 0


@pytest.mark.field("C15")
async def test_work_that_kills_every_host_ends_in_a_report(
    world: ExecutorWorld, clock: ManualClock
) -> None:
    ticket = await world.open()
    for _ in range(world.limits.hosts):
        held = Held()
        host = world.start(world.fake_agents(held), capacity=1)
        await clock.advance(1.1)
        await held.began.wait()
        await host.die()
        world.coordination.flush()
    agents = world.fake_agents(ready)
    world.start(agents)
    await clock.advance(1.1)
    told = await world.until(ticket, lambda t: t.report is not None)
    assert told.report is not None
    assert told.report.kind is ReportKind.FAILED
    assert not agents.turns
    await world.write(ticket, trigger(2, text="try again please"))
    await world.until(ticket, is_over)
    assert "try again please" in agents.turns[0].said
    assert inputs_in(world, 1) == 1


# -- stops ----------------------------------------------------------------------------------


@pytest.mark.rule("ASG-4")
@pytest.mark.field("C7")
async def test_a_stop_cancels_the_turn_and_is_confirmed(world: ExecutorWorld) -> None:
    held = Held()
    agents = world.fake_agents(held)
    world.start(agents)
    ticket = await world.open()
    await held.began.wait()
    await world.press_stop(ticket)
    ended = await world.until(ticket, lambda t: t.status is TicketStatus.ENDED)
    assert end_of(ended) is AssignmentEnd.STOPPED
    assert agents.cancelled == 1
    assert agents.closed == ["session-1"]


@pytest.mark.field("C7")
async def test_a_stop_that_a_dead_host_cannot_confirm_is_confirmed_by_the_next(
    world: ExecutorWorld, clock: ManualClock
) -> None:
    held = Held()
    first = world.start(world.fake_agents(held), capacity=1)
    ticket = await world.open()
    await held.began.wait()
    await first.die()
    world.coordination.flush()
    await world.press_stop(ticket)
    assert (await world.until(ticket, lambda t: t.stopped)).status is TicketStatus.OPEN
    agents = world.fake_agents(ready)
    world.start(agents)
    await clock.advance(1.1)
    ended = await world.until(ticket, lambda t: t.status is TicketStatus.ENDED)
    assert end_of(ended) is AssignmentEnd.STOPPED
    assert not agents.turns


async def test_a_stop_is_heeded_before_inputs_that_are_still_missing(world: ExecutorWorld) -> None:
    held = Held()
    world.start(world.fake_agents(held))
    ticket = await world.open()
    await held.began.wait()
    await world.press_stop(ticket)
    ended = await world.until(ticket, lambda t: t.status is TicketStatus.ENDED)
    stops = [ref for ref in ended.waiting if ref.kind is InputKind.STOP]
    assert len(stops) == 1
    assert await world.bus.last("INPUT", subjects.input_(ticket)) is not None


async def test_a_turn_that_the_agent_cancels_itself_counts_as_a_failure(
    world: ExecutorWorld,
) -> None:
    async def cancels(turn: FakeTurn) -> TurnEnd:
        return TurnEnd.CANCELLED

    agents = world.fake_agents(cancels, ready)
    world.start(agents)
    ticket = await world.open()
    await world.until(ticket, is_over)
    assert len(agents.turns) == 2


@pytest.mark.rule("ASG-7")
async def test_an_agent_that_dies_in_its_turn_goes_on_in_its_session(world: ExecutorWorld) -> None:
    agents = world.fake_agents(crash, ready)
    world.start(agents)
    ticket = await world.open()
    ended = await world.until(ticket, is_over)
    assert ended.assignment is not None
    assert ended.assignment.number == 1
    assert inputs_in(world, 1) == 1
    assert [opening.session for opening in agents.opened] == [None, "session-1"]
