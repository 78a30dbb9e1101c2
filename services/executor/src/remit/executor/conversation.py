"""A Ticket's conversation with its agent: Inputs in, each once; words out, never by guess.

An *exchange* is what is given to the agent together and what comes of it: one or more turns, until
people know how it went. The journal holds the exchange under way, so that another host, or this one
after the agent died, goes on in the middle of it (INP-1, ASG-7).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from remit.bus.clock import Clock
from remit.domain.ids import AssignmentId
from remit.domain.report import STUCK, ReportKind
from remit.domain.ticket import GiveReport, Ticket
from remit.executor import phrases, prompting
from remit.executor.agents import AgentFailed, Trouble, Turn, TurnEnd
from remit.executor.directory import PreparationFailed, Prepared, TicketDirectory
from remit.executor.hearing import Arrived, InputFeed
from remit.executor.journal import JournalFile
from remit.executor.preparation import Preparation
from remit.executor.product_tools import ProductTools
from remit.executor.reading import Reading
from remit.executor.speaking import Spokesman
from remit.executor.talking import OnSign, Talk
from remit.executor.watching import TicketWatch
from remit.runtime.backoff import delays
from remit.telemetry import names, tracing
from remit.telemetry.logs import logger


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How far a conversation goes.

    Attributes:
        turn_seconds: How long a turn may take.
        attempts: How often an exchange is tried before people are told that it failed.
        retry_seconds: The wait before the second try; it doubles from then on.
        hosts: How many hosts may come to grief in one exchange before people are told.
        farewell_seconds: How long a turn may go on after the final report.
    """

    turn_seconds: float = 3600.0
    attempts: int = 3
    retry_seconds: float = 2.0
    hosts: int = 5
    farewell_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class _Exchange:
    """What is given to the agent together.

    Attributes:
        inputs: The Inputs, in order.
        resumed: They were being given before, by this host or another.
    """

    inputs: tuple[Arrived, ...]
    resumed: bool = False


class Conversation:
    """The conversation of one Assignment.

    Args:
        ticket: The Ticket as it was taken.
        talk: The agent's session.
        directory: The Ticket's directory.
        preparation: Prepares it.
        feed: The Inputs.
        reading: Tells the Ticket what was read.
        watch: The Ticket.
        spokesman: Says things to the Ticket.
        journal: What is remembered.
        tools: The product's tools for this Session.
        limits: How far it goes.
        clock: Paces tries.
    """

    def __init__(
        self,
        ticket: Ticket,
        *,
        talk: Talk,
        directory: TicketDirectory,
        preparation: Preparation,
        feed: InputFeed,
        reading: Reading,
        watch: TicketWatch,
        spokesman: Spokesman,
        journal: JournalFile,
        tools: ProductTools,
        limits: Limits,
        clock: Clock,
    ) -> None:
        self._ticket = ticket
        self._talk = talk
        self._directory = directory
        self._preparation = preparation
        self._feed = feed
        self._reading = reading
        self._watch = watch
        self._spokesman = spokesman
        self._journal = journal
        self._tools = tools
        self._limits = limits
        self._clock = clock
        self._owed: tuple[Arrived, ...] = ()
        self._log = logger("remit.executor.conversation").bind(ticket_id=ticket.id)

    async def run(self) -> None:
        """Converse until the agent has given its final report."""
        self._tools.stuck = _is_stuck(self._ticket)
        interrupted = await self._interrupted()
        if interrupted is not None:
            await self._have(interrupted)
        while not self._tools.final:
            await self._have(await self._next())

    # -- what comes next ----------------------------------------------------------------

    async def _interrupted(self) -> _Exchange | None:
        """Return the exchange that another host was in, if there is one to go on with."""
        giving = self._journal.now.giving
        if giving:
            await self._feed.wait_for(max(giving))
            inputs = self._feed.take()
            wrote = any(one.from_person for one in inputs if one.number not in giving)
            if wrote or not self._tools.stuck:
                return _Exchange(inputs, resumed=True)
            self._owed = inputs
            return None
        if self._journal.found or not self._ticket.delivered:
            return None
        # The journal is gone: only the Ticket can tell whether the work came to an end.
        owed = not _people_know(self._ticket)
        await self._journal.note(owed=owed)
        return _Exchange((), resumed=True) if owed and not self._ticket.waiting else None

    async def _next(self) -> _Exchange:
        """Wait for the Inputs of the next exchange; while stuck, for a person's (ASG-5)."""
        await self._feed.wait()
        while self._tools.stuck and not any(one.from_person for one in self._feed.waiting):
            await self._feed.wait(beyond=len(self._feed.waiting))
        owed, self._owed = self._owed, ()
        return _Exchange((*owed, *self._feed.take()), resumed=bool(owed))

    # -- exchanges ----------------------------------------------------------------------

    async def _have(self, exchange: _Exchange) -> None:
        await self._begin(exchange)
        language = self._ticket.language
        hosts = self._journal.now.hosts
        if hosts > self._limits.hosts:
            await self._break_off(exchange, phrases.interrupted_too_often(hosts - 1, language))
            return
        prepared = await self._prepare(exchange)
        if prepared is None:
            return
        trouble = await self._try(exchange, prepared)
        if trouble is not None:
            text = phrases.failed(trouble, self._limits.attempts, language)
            await self._break_off(exchange, text)
            return
        await self._journal.note(giving=(), said=(), hosts=0)

    async def _begin(self, exchange: _Exchange) -> None:
        """Put the exchange down in the journal, before anything of it reaches the agent."""
        before = self._journal.now
        inputs = exchange.inputs
        new = [one for one in inputs if one.number not in before.giving]
        await self._journal.note(
            giving=tuple(one.number for one in inputs),
            owed=self._is_owed(exchange, new),
            said=before.said if exchange.resumed else (),
            hosts=before.hosts + 1,
        )
        self._tools.trace = inputs[-1].trace if inputs else self._ticket.trace
        self._reading.begin(inputs[-1].number if inputs else 0, self._tools.trace)

    async def _break_off(self, exchange: _Exchange, text: str) -> None:
        """Tell people that it did not work; keep the Inputs for when a person writes again."""
        await self._report(ReportKind.FAILED, text)
        await self._journal.note(hosts=0)
        self._owed = exchange.inputs

    async def _prepare(self, exchange: _Exchange) -> Prepared | None:
        first = exchange.inputs[0] if exchange.inputs else None
        pauses = delays(first=self._limits.retry_seconds)
        tries = 0
        while True:
            try:
                return await self._preparation.prepare(
                    self._directory, self._ticket, first, self._tools.trace
                )
            except PreparationFailed as error:
                tries += 1
                self._log.warning("a directory was not prepared", reason=error.reason, tries=tries)
                if tries >= self._preparation.tries:
                    language = self._ticket.language
                    text = phrases.not_prepared(error.reason, error.output, tries, language)
                    await self._break_off(exchange, text)
                    return None
            await self._clock.sleep(next(pauses))

    async def _try(self, exchange: _Exchange, prepared: Prepared) -> Trouble | None:
        """Try the exchange within the bound; return what went wrong the last time, if it did."""
        facts = {names.TICKET_ID: self._ticket.id}
        links = [one.trace for one in exchange.inputs[:-1]]
        pauses = delays(first=self._limits.retry_seconds, most=60)
        tries = 0
        while True:
            try:
                with tracing.span(
                    names.SPAN_DELIVER_INPUT, on=self._tools.trace, links=links, attributes=facts
                ):
                    await self._have_turns(
                        exchange, prepared, resumed=exchange.resumed or tries > 0
                    )
            except AgentFailed as error:
                tries += 1
                await self._talk.close()
                self._log.warning(
                    "an agent failed", trouble=error.trouble, detail=error.detail, tries=tries
                )
                if self._tools.final:
                    return None
                if tries >= self._limits.attempts:
                    return error.trouble
            else:
                return None
            await self._clock.sleep(next(pauses))

    async def _have_turns(self, exchange: _Exchange, prepared: Prepared, *, resumed: bool) -> None:
        def give(on_sign: OnSign) -> Awaitable[Turn]:
            return self._talk.give(exchange.inputs, prepared, resumed=resumed, on_sign=on_sign)

        def remind(on_sign: OnSign) -> Awaitable[Turn]:
            return self._talk.remind(prompting.silent(), on_sign=on_sign)

        await self._talk.open(prepared)
        turn = await self._turn(give)
        if not self._word_is_owed():
            return
        self._log.info("a turn ended without a word to anybody")
        said = turn.last_words
        turn = await self._turn(remind)
        if self._word_is_owed():
            last_words = turn.last_words or said
            text = phrases.silent(last_words, self._ticket.language)
            await self._report(ReportKind.BLOCKED, text)

    async def _turn(self, have: Callable[[OnSign], Awaitable[Turn]]) -> Turn:
        """Have one turn; the Ticket hears that the Inputs were read once the agent shows it."""
        sign = asyncio.Event()
        reading = asyncio.create_task(self._read_on(sign), name=f"reading {self._ticket.id}")
        try:
            async with asyncio.timeout(self._limits.turn_seconds) as limit:
                ending = asyncio.create_task(self._shorten(limit))
                try:
                    turn = await have(sign.set)
                finally:
                    ending.cancel()
        except TimeoutError as error:
            detail = f"a turn took longer than {self._limits.turn_seconds:g} s"
            raise AgentFailed("the agent", Trouble.TOO_SLOW, detail) from error
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        if turn.end is TurnEnd.REFUSAL:
            raise AgentFailed("the agent", Trouble.REFUSED, turn.last_words)
        if turn.end is TurnEnd.CANCELLED:
            raise AgentFailed("the agent", Trouble.DIED, "it cancelled its turn by itself")
        await self._reading.read()
        return turn

    async def _shorten(self, limit: asyncio.Timeout) -> None:
        """Leave an agent that has given its final report a moment to end its turn."""
        await self._tools.finished.wait()
        limit.reschedule(asyncio.get_running_loop().time() + self._limits.farewell_seconds)

    async def _read_on(self, sign: asyncio.Event) -> None:
        await sign.wait()
        await self._reading.read()

    # -- words --------------------------------------------------------------------------

    def _is_owed(self, exchange: _Exchange, new: Sequence[Arrived]) -> bool:
        """Whether people wait for a word as an exchange begins.

        What only bots and the provider say calls for none where people know how things stand.
        """
        if any(one.from_person for one in new):
            return True
        # A host may have died after the word and before it was put down.
        known = exchange.resumed and _people_know(self._watch.ticket)
        return self._journal.now.owed and not known

    def _word_is_owed(self) -> bool:
        """Whether a turn left people without a word; what came meanwhile goes first."""
        return self._journal.now.owed and not self._tools.final and not self._feed.waiting

    async def _report(self, kind: ReportKind, text: str) -> None:
        def report(assignment: AssignmentId, message: int) -> GiveReport:
            return GiveReport(assignment=assignment, message=message, kind=kind, text=text)

        await self._spokesman.say(report, trace=self._tools.trace)
        await self._journal.note(owed=False)
        self._tools.stuck = kind in STUCK


def _people_know(ticket: Ticket) -> bool:
    """Whether people know how things stand: a report since they wrote, or a question to them."""
    if ticket.attention is not None:
        return True
    report = ticket.report
    return report is not None and report.kind is not ReportKind.PROGRESS and not ticket.heard_person


def _is_stuck(ticket: Ticket) -> bool:
    return ticket.report is not None and ticket.report.kind in STUCK and not ticket.heard_person
