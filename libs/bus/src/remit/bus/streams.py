"""The streams, as code.

`streams` says what there is; `remit.bus.provisioning` brings a server to it. Sizes come
from settings (`Sizing`); everything else is fixed here, because the rest of Remit relies
on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Literal

from remit.bus import subjects

Retention = Literal["limits", "workqueue"]
Storage = Literal["file", "memory"]
Discard = Literal["old", "new"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """One stream.

    Attributes:
        name: Its name.
        subjects: What it stores.
        why: What it is for, in a line; shown as the stream's description.
        retention: ``limits`` keeps messages; a ``workqueue`` drops each once it is settled.
        discard: When it is full: ``new`` refuses messages, ``old`` forgets the first ones.
        max_age: How long a message is kept; None keeps it.
        max_bytes: How large it may grow; None leaves that to the server's own limit.
        max_per_subject: How many messages a subject keeps; None keeps all.
        duplicate_window: How long an id is remembered. Only spares work: nothing relies on it.
        schedules: It may hold timers.
        storage: Where it is kept.
        replicas: How many servers keep it.
    """

    name: str
    subjects: tuple[str, ...]
    why: str
    retention: Retention = "limits"
    discard: Discard = "new"
    max_age: timedelta | None = None
    max_bytes: int | None = None
    max_per_subject: int | None = None
    duplicate_window: timedelta = timedelta(minutes=2)
    schedules: bool = False
    storage: Storage = "file"
    replicas: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """What a deployment may choose.

    Attributes:
        replicas: Servers that keep each stream: 1, 3 or 5.
        storage: ``memory`` only where losing everything with the server is fine.
        horizon: How long Triggers, Inputs and Dispositions are kept. Sources drop events
            older than this, so a Trigger is known for as long as it could come again.
        dead_letters: How long what was given up on is kept.
        commits_per_aggregate: How many earlier commits of a Thread or a Ticket are kept.
        drops_per_reason: How many dropped events are kept for a Source and a reason.
        max_bytes: Byte limits by stream name. None are set by default: the server's own
            limit holds, and no disk space is set aside.
    """

    replicas: int = 1
    storage: Storage = "file"
    horizon: timedelta = timedelta(days=90)
    dead_letters: timedelta = timedelta(days=90)
    commits_per_aggregate: int = 1000
    drops_per_reason: int = 10_000
    max_bytes: Mapping[str, int] = field(default_factory=dict)


def streams(sizing: Sizing | None = None) -> tuple[Stream, ...]:
    """Return every stream, in the sizes given.

    Raises:
        ValueError: A byte limit is given for a stream that does not exist.
    """
    sizing = sizing or Sizing()

    def stream(
        name: str,
        *patterns: str,
        why: str,
        retention: Retention = "limits",
        discard: Discard = "new",
        max_age: timedelta | None = None,
        max_per_subject: int | None = None,
        schedules: bool = False,
    ) -> Stream:
        return Stream(
            name=name,
            subjects=patterns,
            why=why,
            retention=retention,
            discard=discard,
            max_age=max_age,
            max_bytes=sizing.max_bytes.get(name),
            max_per_subject=max_per_subject,
            schedules=schedules,
            storage=sizing.storage,
            replicas=sizing.replicas,
        )

    every = (
        stream(
            "INBOX",
            subjects.INBOXES,
            why="Raw deliveries, stored before a provider is answered and normalised after.",
            retention="workqueue",
        ),
        stream(
            "TRIGGER",
            subjects.TRIGGERS,
            why="One message per Trigger, create-only: what entered the domain, each once.",
            max_age=sizing.horizon,
        ),
        stream(
            "THREAD",
            subjects.THREADS,
            why="Commits of Threads. Refuses rather than forgets: the last one is the Thread.",
            max_per_subject=sizing.commits_per_aggregate,
        ),
        stream(
            "TICKET",
            subjects.TICKETS,
            why="Commits of Tickets. Refuses rather than forgets: the last one is the Ticket.",
            max_per_subject=sizing.commits_per_aggregate,
        ),
        stream(
            "EVAL",
            subjects.EVAL_REQUESTS,
            subjects.EVAL_RESULTS,
            why="Evals that are asked for, and the Decisions they propose.",
            retention="workqueue",
        ),
        stream(
            "ASSIGNMENT",
            subjects.ASSIGNMENTS,
            why="Offers of work to Executors.",
            retention="workqueue",
        ),
        stream(
            "INPUT",
            subjects.INPUTS,
            why="What a Ticket's Executor is to read, in order, also over Assignments.",
            max_age=sizing.horizon,
        ),
        stream(
            "REPORT",
            subjects.REPORTS,
            why="What Executors report.",
            retention="workqueue",
        ),
        stream(
            "CHANNEL",
            subjects.CHANNELS,
            why="Writes to providers. One consumer per Source: filters must not overlap.",
            retention="workqueue",
        ),
        stream(
            "COMMAND",
            subjects.THREAD_COMMANDS,
            subjects.TICKET_COMMANDS,
            subjects.TIMERS,
            # The server takes no schedules on a stream that refuses when full (error 10052).
            why="What other parts ask of a Thread or a Ticket, and the timers that fire on them.",
            retention="workqueue",
            discard="old",
            schedules=True,
        ),
        stream(
            "DISPOSITION",
            subjects.DISPOSITIONS,
            why="What became of every Trigger: the audit trail.",
            max_age=sizing.horizon,
        ),
        stream(
            "POLICY",
            subjects.POLICIES,
            why="Versions of the Policy; the last ones are in force.",
        ),
        stream(
            "DEADLETTER",
            subjects.DEADLETTERS,
            why="What was given up on, whole, and why. Full, it forgets the first ones: it must "
            "never stop the rest.",
            discard="old",
            max_age=sizing.dead_letters,
        ),
        stream(
            "CONSOLE",
            subjects.CONSOLES,
            why="Transcripts of conversations in the console, both sides.",
            discard="old",
            max_age=sizing.horizon,
        ),
        stream(
            "DROP",
            subjects.DROPS,
            why="Events dropped before they became Triggers, by reason, so that each is counted. "
            "Full, it forgets the first ones: noise must never stop the rest.",
            discard="old",
            max_age=sizing.horizon,
            max_per_subject=sizing.drops_per_reason,
        ),
    )
    unknown = sorted(set(sizing.max_bytes) - {one.name for one in every})
    if unknown:
        raise ValueError(f"no such stream to limit: {', '.join(unknown)}")
    return every


STREAMS: tuple[Stream, ...] = streams()
"""Every stream in its default size."""


def stream_of(subject: str, among: tuple[Stream, ...] = STREAMS) -> Stream | None:
    """Return the stream that stores ``subject``, if one does."""
    for stream in among:
        if any(subjects.matches(pattern, subject) for pattern in stream.subjects):
            return stream
    return None
