"""The ``rules`` assessor: deterministic, the default where no model is configured.

It takes one request at a time, the oldest first: the others stay for the next Eval (EVL-10).
"""

from __future__ import annotations

import re

from remit.domain.assessment import Candidate, Case, Judgement
from remit.domain.decision import DecidedBy, Outcome
from remit.domain.mandate import Strength
from remit.domain.policy import AssessmentRule, Policy
from remit.domain.subscription import Standing
from remit.domain.trigger import Trigger

_LEADING_MENTIONS = re.compile(r"^(?:@[\w.-]+[\s,:，：、]*)+")
"""A short name must not address anybody: it is said again to people (field report B6)."""
TITLE_LENGTH = 80
"""Characters of a Ticket's short name."""


class RulesAssessor:
    """Judges by the words and kinds that the Policy's rules name."""

    @property
    def decided_by(self) -> DecidedBy:
        """Its Decisions are recorded as made by rules."""
        return DecidedBy.RULES

    @property
    def takes_long(self) -> bool:
        """It answers at once."""
        return False

    async def assess(self, case: Case) -> Judgement:
        """Return the judgement on the oldest candidate that a rule covers, else on all of them."""
        return judge_by_rules(case)


def judge_by_rules(case: Case) -> Judgement:
    """Return what the rules of the Policy say to ``case``."""
    covered = any(sub.standing is Standing.LIVE for sub in case.thread.subscriptions)
    for candidate in case.candidates:
        if covered and candidate.verdict.strength is Strength.INFERRED:
            # A live Ticket has it as an Input already (EVL-7).
            continue
        rule = _rule_for(candidate, case.policy)
        if rule is not None:
            return Judgement(
                outcome=Outcome.ACCEPT,
                triggers=(candidate.trigger.id,),
                request=candidate.trigger.id,
                rules=(rule.id,),
                title=title_of(candidate.trigger),
                reason=f"rule {rule.id} covers it",
            )
    return Judgement(
        outcome=Outcome.IGNORE,
        triggers=tuple(candidate.trigger.id for candidate in case.candidates),
        reason="a live Ticket covers it" if covered else "no rule of the Policy covers it",
    )


def _rule_for(candidate: Candidate, policy: Policy) -> AssessmentRule | None:
    inferred = candidate.verdict.strength is Strength.INFERRED
    return next(
        (
            rule
            for rule in policy.rules
            if (rule.inferred or not inferred) and _covers(rule, candidate.trigger)
        ),
        None,
    )


def _covers(rule: AssessmentRule, trigger: Trigger) -> bool:
    if rule.kinds and trigger.kind not in rule.kinds:
        return False
    text = f"{trigger.title or ''}\n{trigger.text}".casefold()
    return not rule.words or any(word.casefold() in text for word in rule.words)


def title_of(trigger: Trigger) -> str:
    """Return a short name for the work that ``trigger`` asks for."""
    lines = (_LEADING_MENTIONS.sub("", line.strip()) for line in trigger.text.splitlines())
    line = next((line for line in lines if line), trigger.title or trigger.kind)
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1].rstrip() + "…"
