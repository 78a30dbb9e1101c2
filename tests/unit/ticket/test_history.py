"""Triggers that come again after their aggregate has forgotten them."""

from __future__ import annotations

import pytest

from remit.bus.clock import ManualClock
from remit.domain.ids import ticket_id_for
from remit.domain.positions import KEPT
from remit.ticket.dispositions import Dispositions
from remit.ticket.threads import Threads
from remit.ticket.tickets import Tickets
from support.domain import HOME, append, delivery, opening, trigger
from support.memory_services import MemoryServices


@pytest.fixture
def services() -> MemoryServices:
    return MemoryServices()


@pytest.mark.rule("TRG-3")
async def test_a_thread_finds_an_old_trigger_in_its_earlier_commits(services):
    threads = Threads(services.threads, services.bus, Dispositions(), ManualClock())
    numbers = [n for n in range(1, KEPT + 5) if n != 2]
    await threads.ask(HOME, [append(trigger(n)) for n in numbers], commit_id="all")
    before = len(await services.stored("THREAD"))
    await threads.ask(HOME, [append(trigger(1))], commit_id="again")
    assert len(await services.stored("THREAD")) == before, "it was there"
    await threads.ask(HOME, [append(trigger(2)), append(trigger(3))], commit_id="late")
    assert len(await services.stored("THREAD")) == before + 1, "it was not, and came late"


@pytest.mark.rule("INP-1")
async def test_a_ticket_finds_an_old_trigger_in_its_earlier_commits(services):
    tickets = Tickets(services.tickets, services.bus, Dispositions(), ManualClock())
    ticket = ticket_id_for(trigger(1).id)
    await tickets.ask(ticket, opening(trigger(1)), commit_id="open")
    for number in range(3, KEPT + 5):
        await tickets.ask(ticket, delivery(trigger(number)), commit_id=f"in/{number}")
    inputs = (await services.ticket(ticket)).inputs
    await tickets.ask(ticket, delivery(trigger(1)), commit_id="again")
    await tickets.ask(ticket, delivery(trigger(3)), commit_id="again too")
    assert (await services.ticket(ticket)).inputs == inputs
    await tickets.ask(ticket, delivery(trigger(2)), commit_id="late")
    assert (await services.ticket(ticket)).inputs == inputs + 1
