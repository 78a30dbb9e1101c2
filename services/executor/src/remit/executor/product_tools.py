"""The product's tools: all that an agent can do beyond its directory, and what became of it.

Each names its effect and returns what happened, so that an agent reports honestly (TON-5). A call that
is repeated says nothing twice (field report B10). None of them can create a Ticket, widen a Mandate or
declare that a person asked to stop (TKT-1, MAN-2, ASG-4).
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from remit.bus.errors import PublishRefused
from remit.connectors.contract import ConnectorError
from remit.domain.channel import PullRequest, WriteKind, WriteOutcome
from remit.domain.ids import AssignmentId
from remit.domain.report import STUCK, ReportKind
from remit.domain.ticket import (
    AskPerson,
    GiveReport,
    ProposePullRequest,
    ReplyToPerson,
    Settled,
    Ticket,
)
from remit.executor.commands import CommandMissing, CommandTooSlow
from remit.executor.git import GitFailed
from remit.executor.hearing import InputFeed
from remit.executor.journal import JournalFile
from remit.executor.push_branch import NothingToPush, Pushed, PushFailed
from remit.executor.speaking import Say, Spokesman, Unheard
from remit.executor.watching import TicketWatch

Words = Annotated[str, Field(min_length=1, max_length=60_000)]
Line = Annotated[str, Field(min_length=1, max_length=300)]


class _Arguments(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReportArguments(_Arguments):
    """Arguments of `report`."""

    kind: ReportKind = Field(
        description="progress: you work on, nobody is told. waiting: you wait for something that is "
        "no person, nobody is told. ready: there is a result. blocked: you cannot go on. failed: it "
        "did not work. dropped: it will not be done."
    )
    text: Words = Field(description="What people read: short, plain, in their language.")
    final: bool = Field(
        default=False, description="Nothing is left to do: the work ends with this report."
    )


class AskArguments(_Arguments):
    """Arguments of `ask`."""

    question: Words = Field(description="One concrete question, in the language of the people.")
    choices: tuple[Line, ...] = Field(
        default=(), max_length=10, description="The answers to choose from, where there are some."
    )


class ReplyArguments(_Arguments):
    """Arguments of `reply`."""

    text: Words = Field(description="What people read: short, plain, in their language.")


class ProposeArguments(_Arguments):
    """Arguments of `propose_pull_request`."""

    title: Line = Field(description="The pull request's title.")
    body: Words = Field(description="What it changes and why, and what was not checked.")
    base: Line | None = Field(
        default=None,
        description="The branch to merge into; leave out for the repository's default.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool, as it is offered.

    Attributes:
        name: Its name.
        description: What it does, for the agent.
        arguments: What it takes.
    """

    name: str
    description: str
    arguments: type[_Arguments]


TOOLS: tuple[Tool, ...] = (
    Tool(
        name="report",
        description="Report on your work. Reports of the kinds ready, blocked, failed and dropped "
        "reach the people who asked; progress and waiting are only recorded.",
        arguments=ReportArguments,
    ),
    Tool(
        name="ask",
        description="Ask the people a question that you cannot go on without. It is posted where "
        "they asked. End your turn then: the answer comes as the next input. One question is open "
        "at a time; another one takes its place.",
        arguments=AskArguments,
    ),
    Tool(
        name="reply",
        description="Write to the people while you work, because they can use it now. It is posted "
        "where they asked.",
        arguments=ReplyArguments,
    ),
    Tool(
        name="propose_pull_request",
        description="Push the commits on your branch and open a pull request for it. If there is "
        "one already, it gets your new commits. Only what is committed is pushed.",
        arguments=ProposeArguments,
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What an agent is told of a call.

    Attributes:
        text: What happened.
        error: It did not happen.
    """

    text: str
    error: bool = False


class Push(Protocol):
    """Pushes the Ticket's branch."""

    def __call__(self, trace: str | None, /) -> Awaitable[Pushed | None]:
        """Push it, on ``trace``; None where the Ticket has no code host."""
        ...


class ProductTools:
    """The product's tools in the hands of one Session.

    Args:
        spokesman: Says things to the Ticket.
        journal: Remembers what was said.
        feed: The Inputs that wait.
        watch: The Ticket.
        push: Pushes the branch.
        read: Tells the Ticket first that the agent has read its Inputs.
        receipt_seconds: How long a pull request is waited for.

    Attributes:
        trace: The trace that what is said goes on.
        finished: The final report was given.
        stuck: The latest report says that the work cannot go on (ASG-5).
    """

    def __init__(
        self,
        *,
        spokesman: Spokesman,
        journal: JournalFile,
        feed: InputFeed,
        watch: TicketWatch,
        push: Push,
        read: Callable[[], Awaitable[None]],
        receipt_seconds: float,
    ) -> None:
        self._spokesman = spokesman
        self._journal = journal
        self._feed = feed
        self._watch = watch
        self._push = push
        self._read = read
        self._receipt_seconds = receipt_seconds
        self._turn = asyncio.Lock()
        self.trace: str | None = None
        self.finished = asyncio.Event()
        self.stuck = False

    @property
    def final(self) -> bool:
        """Whether the final report was given."""
        return self.finished.is_set()

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Carry out one call."""
        tool = next((tool for tool in TOOLS if tool.name == name), None)
        if tool is None:
            return ToolResult(text=f"There is no tool {name}.", error=True)
        try:
            checked = tool.arguments.model_validate(arguments)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(str(part) for part in first["loc"]) or "arguments"
            return ToolResult(text=f"Not done. {place}: {first['msg']}.", error=True)
        async with self._turn:
            if self.final:
                text = "Not done: you have given your final report. End your turn."
                return ToolResult(text=text, error=True)
            try:
                return await self._carry_out(checked)
            except (Unheard, PublishRefused) as error:
                return ToolResult(text=f"Not done: {error}. Try again later.", error=True)

    async def _carry_out(self, arguments: _Arguments) -> ToolResult:
        match arguments:
            case ReportArguments():
                return await self._report(arguments)
            case AskArguments(question=question, choices=choices):

                def ask(assignment: AssignmentId, message: int) -> AskPerson:
                    return AskPerson(
                        assignment=assignment, message=message, question=question, choices=choices
                    )

                return await self._tell(
                    arguments, ask, "Asked. End your turn: the answer comes as the next input."
                )
            case ReplyArguments(text=text):

                def reply(assignment: AssignmentId, message: int) -> ReplyToPerson:
                    return ReplyToPerson(assignment=assignment, message=message, text=text)

                return await self._tell(arguments, reply, "Sent.")
            case ProposeArguments():
                return await self._propose(arguments)
            case _:
                raise AssertionError(f"a tool without an effect: {type(arguments).__name__}")

    # -- saying -------------------------------------------------------------------------

    async def _report(self, arguments: ReportArguments) -> ToolResult:
        kind, final = arguments.kind, arguments.final
        if final and kind in (ReportKind.PROGRESS, ReportKind.WAITING):
            text = f"Not done: a report of the kind {kind} cannot be final, since work is left."
            return ToolResult(text=text, error=True)
        if final and self._feed.waiting:
            text = (
                "Not done: something new came in meanwhile, so this cannot be final. End your turn; "
                "you will get it then."
            )
            return ToolResult(text=text, error=True)

        def report(assignment: AssignmentId, message: int) -> GiveReport:
            return GiveReport(
                assignment=assignment, message=message, kind=kind, text=arguments.text, final=final
            )

        silent = kind in (ReportKind.PROGRESS, ReportKind.WAITING)
        told = "Recorded; nobody is told." if silent else "Taken; the people are told."
        if final:
            told += " The work ends here: end your turn."
        if final:
            # First, because the Ticket may end the Assignment before this call returns.
            self.finished.set()
        try:
            result = await self._tell(
                arguments, report, told, speaks=kind is not ReportKind.PROGRESS
            )
        except BaseException:
            self.finished.clear()
            raise
        self.stuck = kind in STUCK
        return result

    async def _tell(
        self, arguments: _Arguments, say: Say, told: str, *, speaks: bool = True
    ) -> ToolResult:
        digest = _digest(arguments)
        if digest in self._journal.now.said:
            return ToolResult(text="This was taken before, and is not sent a second time.")
        await self._read()
        await self._spokesman.say(say, trace=self.trace)
        said = (*self._journal.now.said, digest)
        await self._journal.note(said=said, owed=self._journal.now.owed and not speaks)
        return ToolResult(text=told)

    # -- the pull request ---------------------------------------------------------------

    async def _propose(self, arguments: ProposeArguments) -> ToolResult:
        try:
            pushed = await self._push(self.trace)
        except NothingToPush as error:
            text = f"Not done: {error}. Commit your work on that branch first."
            return ToolResult(text=text, error=True)
        except (
            PushFailed,
            ConnectorError,
            GitFailed,
            CommandMissing,
            CommandTooSlow,
        ) as error:
            return ToolResult(text=f"Not done: {error}", error=True)
        if pushed is None:
            text = (
                "Not done: this work did not come from a code host, so there is nowhere to push to. "
                "Describe the result in a report."
            )
            return ToolResult(text=text, error=True)
        known = self._known_pull_request()
        if known is not None:
            text = f"Pushed {pushed.commits} commit(s). The pull request {known} has them."
            return ToolResult(text=text)
        return await self._open(arguments, pushed)

    async def _open(self, arguments: ProposeArguments, pushed: Pushed) -> ToolResult:
        pending = any(
            write.kind is WriteKind.PULL_REQUEST for write in self._watch.ticket.unsettled
        )
        before = self._watch.ticket.writes
        if pending:
            before = min(
                write.number - 1
                for write in self._watch.ticket.unsettled
                if write.kind is WriteKind.PULL_REQUEST
            )
        else:
            await self._read()
            await self._spokesman.say(_proposal(arguments, pushed.branch), trace=self.trace)
        settled = await self._receipt(before)
        if settled is None:
            text = f"Pushed {pushed.commits} commit(s). The pull request is being opened."
            return ToolResult(text=text)
        receipt = settled.receipt
        if receipt.outcome is WriteOutcome.REFUSED:
            text = (
                f"Pushed, but the pull request was refused: {receipt.reason or 'no reason given'}"
            )
            return ToolResult(text=text, error=True)
        where = receipt.url or receipt.object_id or pushed.branch
        await self._journal.note(pull_request=where)
        return ToolResult(text=f"Pushed {pushed.commits} commit(s) and opened {where}.")

    def _known_pull_request(self) -> str | None:
        if self._journal.now.pull_request is not None:
            return self._journal.now.pull_request
        opened = _pull_requests(self._watch.ticket, after=0)
        accepted = [one for one in opened if one.receipt.outcome is WriteOutcome.ACCEPTED]
        if not accepted:
            return None
        return accepted[-1].receipt.url or accepted[-1].receipt.object_id

    async def _receipt(self, after: int) -> Settled | None:
        """Wait for the answer to the pull request that was asked for past write ``after``."""
        try:
            async with asyncio.timeout(self._receipt_seconds):
                ticket = await self._watch.until(
                    lambda ticket: bool(_pull_requests(ticket, after=after))
                )
        except TimeoutError:
            return None
        return _pull_requests(ticket, after=after)[-1]


def _pull_requests(ticket: Ticket, *, after: int) -> list[Settled]:
    return [
        one for one in ticket.settled if one.kind is WriteKind.PULL_REQUEST and one.number > after
    ]


def _proposal(arguments: ProposeArguments, branch: str) -> Say:
    def propose(assignment: AssignmentId, message: int) -> ProposePullRequest:
        return ProposePullRequest(
            assignment=assignment,
            message=message,
            pull_request=PullRequest(branch=branch, title=arguments.title, base=arguments.base),
            body=arguments.body,
        )

    return propose


def _digest(arguments: _Arguments) -> str:
    content = json.dumps(arguments.model_dump(mode="json"), sort_keys=True)
    return hashlib.sha256(f"{type(arguments).__name__}:{content}".encode()).hexdigest()[:16]
