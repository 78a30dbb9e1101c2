"""Who somebody is: by type and numeric id, never by name."""

from __future__ import annotations

from typing import Any

import pytest

from remit.connectors.github import GitHubInstance
from remit.domain.gate import GateReason, judge
from remit.domain.ids import SourceName
from remit.domain.policy import Policy, SourcePart
from remit.domain.trigger import ActorClass
from support.github_payloads import comment, event, issue
from support.github_reading import trigger_of

LISTED = Policy(
    sources={
        SourceName("hub"): SourcePart(allowed=frozenset({"501"}), bots=frozenset({"7001"})),
    }
)

TABLE: dict[str, tuple[dict[str, Any] | None, ActorClass, str, GateReason]] = {
    "an allowed person": (
        {"id": 501, "login": "ann", "type": "User"},
        ActorClass.PERSON,
        "501",
        GateReason.ALLOWED_PERSON_ASKED,
    ),
    "a person with the allowed one's old name": (
        {"id": 502, "login": "ann", "type": "User"},
        ActorClass.PERSON,
        "502",
        GateReason.NOT_ON_LIST,
    ),
    "an App that anyone can create": (
        {"id": 7000, "login": "evil[bot]", "type": "Bot"},
        ActorClass.BOT,
        "7000",
        GateReason.UNLISTED_BOT,
    ),
    "an App without the suffix": (
        {"id": 7000, "login": "evil", "type": "Bot"},
        ActorClass.BOT,
        "7000",
        GateReason.UNLISTED_BOT,
    ),
    "a listed App": (
        {"id": 7001, "login": "ci[bot]", "type": "Bot"},
        ActorClass.BOT,
        "7001",
        GateReason.LISTED_BOT,
    ),
    "a person who is called like an App": (
        {"id": 7001, "login": "ci[bot]", "type": "User"},
        ActorClass.PERSON,
        "7001",
        GateReason.NOT_ON_LIST,
    ),
    "a bot with the id of an allowed person": (
        {"id": 501, "login": "ann", "type": "Bot"},
        ActorClass.BOT,
        "501",
        GateReason.UNLISTED_BOT,
    ),
    "an organisation": (
        {"id": 501, "login": "acme", "type": "Organization"},
        ActorClass.BOT,
        "501",
        GateReason.UNLISTED_BOT,
    ),
    "a mannequin of an import": (
        {"id": 501, "login": "ann", "type": "Mannequin"},
        ActorClass.BOT,
        "501",
        GateReason.UNLISTED_BOT,
    ),
    "a type that GitHub has yet to invent": (
        {"id": 501, "login": "ann", "type": "Agent"},
        ActorClass.BOT,
        "501",
        GateReason.UNLISTED_BOT,
    ),
    "an account whose type is not said": (
        {"id": 501, "login": "ann"},
        ActorClass.BOT,
        "",
        GateReason.LOOK_UP_FAILED,
    ),
    "an account whose id is not said": (
        {"login": "ann", "type": "User"},
        ActorClass.BOT,
        "",
        GateReason.LOOK_UP_FAILED,
    ),
    "an account that is gone": (None, ActorClass.BOT, "", GateReason.LOOK_UP_FAILED),
}


@pytest.mark.field("A1")
@pytest.mark.field("A6")
@pytest.mark.rule("TRG-1")
@pytest.mark.parametrize(
    ("account", "actor_class", "actor_id", "reason"), TABLE.values(), ids=TABLE.keys()
)
def test_the_gate_knows_an_actor_by_type_and_numeric_id(
    instance: GitHubInstance,
    account: dict[str, Any] | None,
    actor_class: ActorClass,
    actor_id: str,
    reason: GateReason,
) -> None:
    said = event(
        "issue_comment", "created", issue=issue(), comment=comment(user=account), sender=account
    )
    trigger = trigger_of(instance, said)
    assert trigger.actor.actor_class is actor_class
    assert trigger.actor.id == actor_id
    verdict = judge(trigger, LISTED)
    assert verdict.reason is reason
    assert verdict.admitted is (reason in {GateReason.ALLOWED_PERSON_ASKED, GateReason.LISTED_BOT})
