"""The Policy: written, versioned rules for what may start work (POL-1..7)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cached_property

from pydantic import Field, field_validator

from remit.domain.ids import PolicyVersion, RuleId, SourceName
from remit.domain.model import Model
from remit.domain.trigger import ReceivingScope, ScopeKind

RULE_ID = r"^[a-z][a-z0-9-]{0,63}$"


class AcceptMode(StrEnum):
    """What an accept does (POL-6)."""

    OFF = "off"
    """No Eval accepts."""
    OBSERVE = "observe"
    """What would have been accepted is recorded, and nothing is created."""
    AUTO = "auto"


class Admission(StrEnum):
    """What an admission table grants to a kind of sender in a scope."""

    REFUSE = "refuse"
    CANDIDATE = "candidate"
    """May start work as an inferred request."""
    REQUEST = "request"
    """May start work as an explicit request."""


class Audience(StrEnum):
    """Whom something is open to."""

    EVERYONE = "everyone"
    ADMITTED = "admitted"
    """Only people whom the gate would admit."""


class AdmissionRow(Model):
    """One row of an admission table: what holds in the scopes it names (POL-2).

    Attributes:
        scopes: Patterns of scopes: ``*``, a kind (``repository``), or a name with ``*`` (``acme/*``).
        allowed_unaddressed: People on the allowed list who do not speak to the agent.
        others_addressed: People not on the list who speak to the agent.
        others_unaddressed: People not on the list who do not.
        system: Events of the provider itself, such as CI.
        listen: Whose messages enter at all; None takes the scope's default: only admitted
            people where anybody may write, everyone elsewhere.
        resume: Who may resume an ended Ticket; None takes the same default.
    """

    scopes: tuple[str, ...] = ("*",)
    allowed_unaddressed: Admission = Admission.REFUSE
    others_addressed: Admission = Admission.REFUSE
    others_unaddressed: Admission = Admission.REFUSE
    system: Admission = Admission.REFUSE
    listen: Audience | None = None
    resume: Audience | None = None

    def covers(self, scope: ReceivingScope) -> bool:
        """Say whether the row speaks of ``scope``."""
        return any(
            pattern in ("*", scope.kind.value) or fnmatchcase(scope.name, pattern)
            for pattern in self.scopes
        )


class SourcePart(Model):
    """A Source's part of the Policy, in that Source's own identities (POL-2, POL-3).

    Attributes:
        allowed: Ids of the people who may originate work; None means that no list is
            configured, and then nobody may (field report A4).
        bots: Ids of the bots that may make candidates.
        admission: The admission table; the first row that covers a scope counts.
    """

    allowed: frozenset[str] | None = None
    bots: frozenset[str] = frozenset()
    admission: tuple[AdmissionRow, ...] = ()

    def row_for(self, scope: ReceivingScope) -> AdmissionRow:
        """Return the row that covers ``scope``, or one that admits nobody else."""
        return next((row for row in self.admission if row.covers(scope)), AdmissionRow())

    def listens_to(self, scope: ReceivingScope) -> Audience:
        """Return whose messages enter from ``scope``."""
        return self.row_for(scope).listen or _default_audience(scope)

    def resumed_by(self, scope: ReceivingScope) -> Audience:
        """Return who may resume an ended Ticket from ``scope``."""
        return self.row_for(scope).resume or _default_audience(scope)


def _default_audience(scope: ReceivingScope) -> Audience:
    open_to_all = scope.public and scope.kind is not ScopeKind.DIRECT
    return Audience.ADMITTED if open_to_all else Audience.EVERYONE


class AssessmentRule(Model):
    """A rule an accept can rest on.

    Attributes:
        id: Its id; Decisions and Mandates name it.
        text: What it says, for people and for a model that judges.
        scope: The work that it lets a Mandate allow, in words.
        words: For the ``rules`` assessor: the request must hold one of these words; none
            means that every request matches.
        kinds: The kinds of Trigger it speaks of; none means all.
        inferred: It also covers inferred candidates, not only explicit requests.
    """

    id: RuleId = Field(pattern=RULE_ID)
    text: str
    scope: str
    words: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    inferred: bool = False


class Policy(Model):
    """One combination of assessment rules, accept mode and every Source's part (POL-1)."""

    accept: AcceptMode = AcceptMode.OFF
    rules: tuple[AssessmentRule, ...] = ()
    sources: Mapping[SourceName, SourcePart] = {}

    @field_validator("rules")
    @classmethod
    def _ids_are_unique(cls, rules: tuple[AssessmentRule, ...]) -> tuple[AssessmentRule, ...]:
        seen: set[RuleId] = set()
        for rule in rules:
            if rule.id in seen:
                raise ValueError(f"two rules have the id {rule.id!r}; give each its own")
            seen.add(rule.id)
        return rules

    @cached_property
    def version(self) -> PolicyVersion:
        """A digest of the meaning: the same combination always has the same version (POL-1)."""
        meaning = self.model_dump(mode="json")
        for part in meaning["sources"].values():
            for field in ("allowed", "bots"):
                if part[field] is not None:
                    part[field] = sorted(part[field])
        text = json.dumps(meaning, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return PolicyVersion("p-" + hashlib.sha256(text.encode()).hexdigest()[:12])

    def part_of(self, source: SourceName) -> SourcePart | None:
        """Return the part of ``source``, if the Policy speaks of it."""
        return self.sources.get(source)

    def rule(self, rule: RuleId) -> AssessmentRule | None:
        """Return the rule with that id, if there is one."""
        return next((candidate for candidate in self.rules if candidate.id == rule), None)


EMPTY_POLICY = Policy()
"""What is in force before any Policy was applied: nobody may start anything."""
