"""Putting a Policy in force: one message on the stream that every service watches."""

from __future__ import annotations

from dataclasses import dataclass

from remit.bus import subjects
from remit.bus.clock import Clock
from remit.bus.errors import Conflict
from remit.bus.ports import Bus, Reader
from remit.cli.policy_file import PolicyFile
from remit.domain.ids import PolicyVersion
from remit.domain.messages import PolicyInForce
from remit.runtime.wire import POLICY_DOCUMENT, message_of, read

STREAM = "POLICY"


class PolicyOvertaken(Exception):
    """Somebody else put another version in force meanwhile.

    Attributes:
        version: The version that was to be put in force.
    """

    def __init__(self, version: PolicyVersion) -> None:
        super().__init__(
            f"another Policy came into force while {version} was being applied; "
            "look at it with 'remit policy show', then apply again"
        )
        self.version = version


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying came to.

    Attributes:
        version: The version that is in force.
        changed: It was not in force before.
    """

    version: PolicyVersion
    changed: bool


async def policy_in_force(bus: Reader) -> tuple[PolicyInForce | None, int]:
    """Return the Policy in force, if one was ever applied, and its place in the stream."""
    last = await bus.last(STREAM, subjects.policy(POLICY_DOCUMENT), leader=True)
    return (None, 0) if last is None else (read(last, PolicyInForce), last.sequence)


async def apply_policy(bus: Bus, file: PolicyFile, *, by: str, clock: Clock) -> Applied:
    """Put the Policy of ``file`` in force, unless it says what is in force already (POL-1).

    Args:
        bus: Where Policies are.
        file: What to put in force.
        by: Who does, for the record.
        clock: When, for the record.

    Raises:
        PolicyOvertaken: Somebody else came first.
        BusUnavailable: No answer in time; it may be in force.
    """
    version = file.policy.version
    current, position = await policy_in_force(bus)
    if current is not None and current.policy.version == version:
        return Applied(version, changed=False)
    now = clock.now()
    payload = PolicyInForce(policy=file.policy, text=file.text, applied_at=now, applied_by=by)
    message = message_of(payload, id=f"policy/{version}/{position}", source="cli")
    try:
        await bus.replace(message, expected=position)
    except Conflict as conflict:
        raise PolicyOvertaken(version) from conflict
    return Applied(version, changed=True)
