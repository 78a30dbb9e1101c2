"""The smallest aggregate there can be, for tests of commits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from remit.bus import subjects
from remit.bus.commit_log import JsonCommitLog
from remit.bus.commits import Step
from remit.bus.message import Message
from remit.bus.ports import Bus


class Count(BaseModel):
    """Counts what was added, and remembers by whom."""

    model_config = ConfigDict(frozen=True)

    total: int = 0
    by: tuple[str, ...] = ()


class Added(BaseModel):
    model_config = ConfigDict(frozen=True)

    kind: Literal["added"] = "added"
    who: str


class Cleared(BaseModel):
    model_config = ConfigDict(frozen=True)

    kind: Literal["cleared"] = "cleared"


CountEvent = Annotated[Added | Cleared, Field(discriminator="kind")]


def count_log(bus: Bus, **settings: Any) -> JsonCommitLog[Count, Added | Cleared]:
    return JsonCommitLog(
        bus,
        kind="count",
        stream="THREAD",
        subject_of=subjects.thread,
        state_type=Count,
        event_type=CountEvent,
        source="/remit/test",
        **settings,
    )


def add(
    who: str, outbox: tuple[Message, ...] = ()
) -> Callable[[Count | None], Step[Count, Added | Cleared] | None]:
    """Add once for each ``who``: deciding again changes nothing."""

    def decide(count: Count | None) -> Step[Count, Added | Cleared] | None:
        count = count or Count()
        if who in count.by:
            return None
        return Step(
            events=[Added(who=who)],
            state=Count(total=count.total + 1, by=(*count.by, who)),
            outbox=outbox,
        )

    return decide
