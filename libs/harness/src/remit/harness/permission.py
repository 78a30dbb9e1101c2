"""Permission presets: which tools run at once and which a person is asked about.

A preset is one name for three things the log records: the preset itself, how far tools may reach
(`sandbox/mode`) and whether anybody is asked (`approval/policy`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from remit.harness.log.payloads import ApprovalPolicy, PermissionPreset, Preset, SandboxMode
from remit.harness.log.record import Record
from remit.harness.tools.tool import Effect


@dataclass(frozen=True, slots=True)
class PermissionRules:
    """What one preset means.

    Attributes:
        preset: Its name.
        title: Its name for people.
        description: What it means, for people and for the model.
        policy: Whether anybody is asked.
        asks: The effects that need a person's word each time.
    """

    preset: Preset
    title: str
    description: str
    policy: Literal["ask", "never"]
    asks: frozenset[Effect]


PRESETS: dict[str, PermissionRules] = {
    rules.preset: rules
    for rules in (
        PermissionRules(
            "read-only",
            "Read only",
            "Looking is free. Changing files, running commands and acting elsewhere is asked for.",
            "ask",
            frozenset({"write", "execute", "external"}),
        ),
        PermissionRules(
            "workspace-write",
            "Workspace write",
            "Files in the working directory may be changed. Running commands is asked for.",
            "ask",
            frozenset({"execute"}),
        ),
        PermissionRules(
            "danger-full-access",
            "Full access",
            "Nothing is asked for. Commands run unconfined.",
            "never",
            frozenset(),
        ),
    )
}
"""The presets there are, by name."""


def current_rules(record: Record) -> PermissionRules:
    """The rules in force: the last recorded preset; without one that is known, the strictest."""
    recorded = record.latest(PermissionPreset)
    return PRESETS.get(recorded.preset if recorded else "", PRESETS["read-only"])


def preset_events(
    rules: PermissionRules, record: Record
) -> list[PermissionPreset | SandboxMode | ApprovalPolicy]:
    """What must be recorded so that a preset is in force: nothing where it is already."""
    preset, mode, policy = (
        record.latest(PermissionPreset),
        record.latest(SandboxMode),
        record.latest(ApprovalPolicy),
    )
    events: list[PermissionPreset | SandboxMode | ApprovalPolicy] = []
    if preset is None or preset.preset != rules.preset:
        events.append(PermissionPreset(preset=rules.preset))
    if mode is None or mode.mode != rules.preset:
        events.append(SandboxMode(mode=rules.preset))
    if policy is None or policy.policy != rules.policy:
        events.append(ApprovalPolicy(policy=rules.policy))
    return events
