"""Agents, as the rest of the Executor sees them: sessions that take prompts.

The one implementation speaks the Agent Client Protocol to a process (`remit.executor.acp`); tests
have one of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol


class Trouble(StrEnum):
    """What can go wrong with an agent: a closed list, each with words for people."""

    CANNOT_START = "cannot_start"
    DIED = "died"
    REFUSED = "refused"
    TOO_SLOW = "too_slow"
    UNUSABLE = "unusable"
    """It answers, but lacks something that it must have, or breaks the protocol."""


class AgentFailed(Exception):
    """An agent could not go on. What it was given may not have been read.

    Attributes:
        agent: The agent's name.
        trouble: What happened.
        detail: In words, for logs and the panel.
    """

    def __init__(self, agent: str, trouble: Trouble, detail: str) -> None:
        super().__init__(f"{agent}: {trouble}: {detail}")
        self.agent = agent
        self.trouble = trouble
        self.detail = detail


class TurnEnd(StrEnum):
    """Why an agent stopped, in ACP's words."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A turn that came to its end.

    Attributes:
        end: Why.
        last_words: The end of what the agent wrote in it.
    """

    end: TurnEnd
    last_words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What a session is opened with.

    Attributes:
        directory: The agent's working directory.
        tools_url: Where the product's tools are served for this session, over MCP. A secret.
        variables: The Ticket's variables of the execution environment, none of them secret. They
            are offered in the request's ``_meta``: ACP has no place of its own for them.
        session: The session to load, in the agent's words; None opens a new one.
    """

    directory: Path
    tools_url: str = field(repr=False)
    variables: dict[str, str]
    session: str | None = None


class AgentSession(Protocol):
    """One conversation with an agent."""

    @property
    def id(self) -> str:
        """Its id, in the agent's words."""
        ...

    @property
    def history(self) -> str:
        """What the agent was told before, by its own account; empty for a new session."""
        ...

    async def prompt(self, texts: Sequence[str], *, on_sign: Callable[[], None]) -> Turn:
        """Give the agent ``texts``, one block each, and wait for the end of its turn.

        Where the caller is cancelled, so is the turn; if the agent does not stop in time, its
        process is ended.

        Args:
            texts: What it is told.
            on_sign: Called once the agent shows that it works on them.

        Raises:
            AgentFailed: It did not come to the end.
        """
        ...

    async def close(self) -> None:
        """Let the agent let go of it; its history stays with the agent."""
        ...


class Agents(Protocol):
    """The agents of this host."""

    @property
    def name(self) -> str:
        """The agent's name."""
        ...

    async def start(self) -> None:
        """Start the agent's process, if it does not run.

        Raises:
            AgentFailed: It cannot be started.
        """
        ...

    async def open(self, opening: Opening) -> AgentSession:
        """Open a session; the agent's process is started if it does not run.

        Where ``opening`` names a session that the agent cannot load, a new one is opened: its id
        differs from the one that was asked for.

        Raises:
            AgentFailed: There is no session.
        """
        ...
