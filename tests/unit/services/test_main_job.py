"""The main job, through the real services over a bus in memory."""

from __future__ import annotations

import pytest

from remit.connectors.contract import ProviderUnavailable
from remit.domain.channel import WriteKind
from remit.domain.decision import Outcome
from remit.domain.disposition import DispositionKind, FilterReason
from remit.domain.gate import GateReason
from remit.domain.ids import ThreadKey, ticket_id_for
from remit.domain.inputs import Input
from remit.domain.policy import AcceptMode
from remit.domain.report import ReportKind
from remit.domain.subscription import Standing
from remit.domain.ticket import GiveReport, TakeInput, TicketStatus
from support.domain import CI_BOT, GITHUB, HOME, MALLORY, policy, trigger
from support.memory_services import MemoryServices

TICKET = ticket_id_for(trigger(1).id)


@pytest.fixture
async def services() -> MemoryServices:
    services = MemoryServices()
    await services.apply()
    return services


async def opened(services: MemoryServices) -> None:
    await services.publish(trigger(1))
    await services.settle()


async def ended(services: MemoryServices) -> None:
    await opened(services)
    ticket = await services.take(TICKET)
    assert ticket.assignment is not None
    read = TakeInput(assignment=ticket.assignment.id, message=1, number=1)
    await services.host_says(TICKET, read)
    final = GiveReport(
        assignment=ticket.assignment.id, message=2, kind=ReportKind.READY, text="Done.", final=True
    )
    await services.host_says(TICKET, final)
    await services.settle()


@pytest.mark.rule("TKT-1")
@pytest.mark.rule("EVL-3")
async def test_a_request_becomes_a_ticket_with_a_mandate_and_a_disposition(services):
    await opened(services)
    ticket = await services.ticket(TICKET)
    assert ticket.mandate.trigger == trigger(1).id
    assert ticket.mandate.policy_version == policy().version
    [disposition] = await services.dispositions()
    assert (disposition.kind, disposition.outcome) == (DispositionKind.EVALUATED, Outcome.ACCEPT)
    assert disposition.tickets == (TICKET,)
    thread = await services.thread(HOME)
    assert [sub.ticket for sub in thread.subscriptions] == [TICKET]
    assert thread.running is None


@pytest.mark.rule("CHN-1")
async def test_the_request_is_confirmed_where_it_was_asked(services):
    await opened(services)
    [write] = services.instance.recorded.written
    assert write.kind is WriteKind.ACKNOWLEDGE
    assert write.address == trigger(1).channels[0]


@pytest.mark.rule("SUB-3")
@pytest.mark.rule("INP-1")
async def test_a_follow_up_reaches_the_same_ticket_and_starts_no_second_one(services):
    await opened(services)
    await services.publish(trigger(2))
    await services.settle()
    assert len(await services.stored("TICKET")) >= 2
    inputs = [Input.model_validate_json(d.message.data) for d in await services.stored("INPUT")]
    assert [(i.number, i.trigger.id) for i in inputs if i.trigger] == [
        (1, trigger(1).id),
        (2, trigger(2).id),
    ]
    assert (await services.dispositions())[-1].kind is DispositionKind.FANNED_OUT
    assert len({d.message.subject for d in await services.stored("TICKET")}) == 1


@pytest.mark.field("C13")
@pytest.mark.rule("ASG-3")
async def test_the_ticket_ends_when_its_final_report_was_posted(services):
    await ended(services)
    ticket = await services.ticket(TICKET)
    assert ticket.status is TicketStatus.ENDED
    assert [w.body for w in services.instance.recorded.written][-1] == "Done."
    thread = await services.thread(HOME)
    assert thread.subscriptions[0].standing is Standing.ENDED


@pytest.mark.rule("CHN-4")
@pytest.mark.rule("CHN-3")
async def test_a_write_that_failed_for_now_holds_back_those_behind_it(services):
    services.instance.recorded.failures = [ProviderUnavailable(GITHUB, "busy")]
    await ended(services)
    assert services.instance.recorded.written == []
    await services.clock.advance(2)
    await services.settle()
    await services.clock.advance(2)
    await services.settle()
    kinds = [write.kind for write in services.instance.recorded.written]
    assert kinds == [WriteKind.ACKNOWLEDGE, WriteKind.REPLY]
    assert (await services.ticket(TICKET)).status is TicketStatus.ENDED


@pytest.mark.rule("SUB-5")
async def test_a_persons_message_resumes_the_ended_ticket(services):
    await ended(services)
    await services.publish(trigger(2))
    await services.settle()
    ticket = await services.ticket(TICKET)
    assert ticket.status is TicketStatus.OPEN
    assert ticket.assignment is not None
    assert ticket.assignment.number == 2
    assert (await services.thread(HOME)).subscriptions[0].standing is Standing.LIVE
    assert [d.kind for d in await services.dispositions()] == [
        DispositionKind.EVALUATED,
        DispositionKind.FANNED_OUT,
    ]


@pytest.mark.rule("SUB-5")
async def test_a_bots_message_does_not_reach_an_ended_ticket(services):
    await ended(services)
    await services.publish(trigger(2, actor=CI_BOT))
    await services.settle()
    assert (await services.ticket(TICKET)).status is TicketStatus.ENDED
    last = (await services.dispositions())[-1]
    assert (last.kind, last.reason) == (DispositionKind.FILTERED, GateReason.UNLISTED_BOT)


@pytest.mark.field("A2")
async def test_a_passer_by_on_a_public_scope_is_filtered_and_enters_no_thread(services):
    await services.publish(trigger(1, actor=MALLORY, public=True))
    await services.settle()
    [disposition] = await services.dispositions()
    assert disposition.kind is DispositionKind.FILTERED
    assert disposition.reason == FilterReason.NOT_LISTENED_TO
    assert await services.stored("THREAD") == []
    assert await services.stored("EVAL") == []
    assert services.instance.recorded.written == []


@pytest.mark.field("A2")
async def test_somebody_who_may_not_ask_is_filtered_with_the_gates_reason_and_no_reply(services):
    await services.publish(trigger(1, actor=MALLORY))
    await services.settle()
    [disposition] = await services.dispositions()
    assert (disposition.kind, disposition.reason) == (
        DispositionKind.FILTERED,
        GateReason.NOT_ON_LIST,
    )
    assert services.instance.recorded.written == []


@pytest.mark.rule("POL-6")
async def test_in_observe_mode_nothing_is_created(services):
    await services.apply(policy(accept=AcceptMode.OBSERVE))
    await opened(services)
    assert await services.stored("TICKET") == []
    [disposition] = await services.dispositions()
    assert "would have accepted" in disposition.reason


@pytest.mark.rule("TRG-4")
@pytest.mark.rule("THR-3")
@pytest.mark.field("B8")
async def test_events_that_come_together_are_judged_together_and_each_has_a_disposition(services):
    triggers = [trigger(n, actor=MALLORY) for n in range(1, 17)]
    await services.publish(*triggers)
    await services.settle()
    assert {d.trigger for d in await services.dispositions()} == {t.id for t in triggers}
    assert (await services.thread(HOME)).evals == 1


@pytest.mark.rule("EVL-10")
async def test_two_requests_in_one_batch_become_two_tickets_one_after_the_other(services):
    await services.publish(trigger(1), trigger(2, actor=trigger(1).actor))
    await services.settle()
    thread = await services.thread(HOME)
    assert thread.pending == ()
    tickets = {sub.ticket for sub in thread.subscriptions}
    assert tickets == {TICKET, ticket_id_for(trigger(2).id)}


@pytest.mark.rule("TRG-2")
async def test_a_trigger_reaches_a_ticket_through_its_other_thread(services):
    await opened(services)
    pull = ThreadKey("github:1/pr/9")
    await services.publish(trigger(5, threads=(pull, HOME)))
    await services.settle()
    assert (await services.ticket(TICKET)).inputs == 2
    last = (await services.dispositions())[-1]
    assert (last.kind, last.tickets) == (DispositionKind.FANNED_OUT, (TICKET,))


@pytest.mark.rule("TRG-3")
@pytest.mark.rule("EVL-4")
async def test_everything_delivered_again_changes_nothing(services):
    await ended(services)
    streams = ("THREAD", "TICKET", "INPUT", "DISPOSITION")

    async def facts() -> dict[str, list[str]]:
        """Commits are never written twice; what they cause may be said again under its id."""
        ids = {name: [d.message.id for d in await services.stored(name)] for name in streams}
        return {name: ids[name] if name in streams[:2] else sorted(set(ids[name])) for name in ids}

    before = await facts()
    await services.deliver_everything_again()
    assert await facts() == before
    assert len(services.instance.recorded.written) == 2
