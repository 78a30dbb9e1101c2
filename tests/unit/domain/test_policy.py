"""The Policy's version and its tables."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from remit.domain.policy import AcceptMode, Admission, AdmissionRow, Policy
from remit.domain.trigger import ReceivingScope, ScopeKind
from support.domain import policy, rule


@pytest.mark.rule("POL-1")
def test_the_same_combination_has_the_same_version():
    ids = [f"{n}" for n in range(50)]
    one = policy(allowed=frozenset(ids), bots=frozenset({"1", "2"}))
    other = policy(allowed=frozenset(reversed(ids)), bots=frozenset({"2", "1"}))
    assert one.version == other.version
    assert Policy.model_validate_json(one.model_dump_json()).version == one.version


@pytest.mark.rule("POL-1")
@pytest.mark.parametrize(
    "changed",
    [
        policy(accept=AcceptMode.OBSERVE),
        policy(rules=()),
        policy(rules=(rule(scope="anything"),)),
        policy(allowed=frozenset({"102"})),
        policy(allowed=None),
        policy(bots=frozenset({"900"})),
        policy(admission=(AdmissionRow(system=Admission.CANDIDATE),)),
        Policy(),
    ],
)
def test_a_change_of_rules_mode_or_a_sources_part_gives_another_version(changed):
    assert changed.version != policy().version


def test_two_rules_cannot_share_an_id():
    with pytest.raises(ValidationError, match="two rules have the id 'small-fixes'"):
        policy(rules=(rule(), rule()))


@pytest.mark.rule("POL-2")
@pytest.mark.parametrize(
    ("patterns", "kind", "name", "covered"),
    [
        (("*",), ScopeKind.CHAT, "anything", True),
        (("repository",), ScopeKind.REPOSITORY, "acme/website", True),
        (("repository",), ScopeKind.CHAT, "repository-talk", False),
        (("acme/*",), ScopeKind.REPOSITORY, "acme/website", True),
        (("acme/*",), ScopeKind.REPOSITORY, "evil/acme", False),
        (("other", "acme/website"), ScopeKind.REPOSITORY, "acme/website", True),
        (("ACME/*",), ScopeKind.REPOSITORY, "acme/website", False),
    ],
)
def test_a_row_covers_the_scopes_it_names(patterns, kind, name, covered):
    row = AdmissionRow(scopes=patterns)
    assert row.covers(ReceivingScope(kind=kind, name=name)) is covered
