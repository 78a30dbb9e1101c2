"""What each event becomes: its id, its Threads, where the answer goes, and whose it is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest

from remit.connectors.contract import Drop, DropReason
from remit.connectors.github import GitHubInstance
from remit.domain.trigger import Addressing, Reception, ScopeKind, Trigger
from support.contracts.connector import RECEIVED, Sent
from support.github_payloads import (
    ANN,
    BOT,
    EARLY,
    EVE,
    LATER,
    comment,
    event,
    issue,
    pull_request,
    repository,
    review,
    review_comment,
    signed,
)
from support.github_reading import read_one, trigger_of

AT_FIRST = datetime(2026, 11, 30, 10, tzinfo=UTC)
AFTERWARDS = datetime(2026, 11, 30, 11, tzinfo=UTC)
END = "2026-11-30T10:30:00Z"
AT_THE_END = datetime(2026, 11, 30, 10, 30, tzinfo=UTC)

ISSUE = ("hub:77/issue/12",)
PULL = ("hub:77/pr/12",)
LINE = ("hub:77/pr/12", "hub:77/pr/12/rt/4001")

EVENTS = {
    "an issue is opened": (
        event("issues", "opened", issue=issue()),
        ("issues.opened", "77/12/opened", ISSUE, "issue acme/website#12", AT_FIRST),
    ),
    "an issue is edited": (
        event("issues", "edited", issue=issue()),
        ("issues.edited", f"77/12/edit/{LATER}", ISSUE, "issue acme/website#12", AFTERWARDS),
    ),
    "an issue is closed": (
        event("issues", "closed", issue=issue(closed_at=END)),
        ("issues.closed", f"77/12/closed/{END}", ISSUE, "issue acme/website#12", AT_THE_END),
    ),
    "an issue is reopened": (
        event("issues", "reopened", issue=issue()),
        ("issues.reopened", f"77/12/reopened/{LATER}", ISSUE, "issue acme/website#12", AFTERWARDS),
    ),
    "an issue is commented on": (
        event("issue_comment", "created", issue=issue(), comment=comment()),
        ("issue_comment.created", "issue_comment/3001", ISSUE, "issue acme/website#12", AT_FIRST),
    ),
    "a comment is edited": (
        event("issue_comment", "edited", issue=issue(), comment=comment(updated_at=LATER)),
        (
            "issue_comment.edited",
            f"issue_comment/3001/edit/{LATER}",
            ISSUE,
            "issue acme/website#12",
            AFTERWARDS,
        ),
    ),
    "a comment is deleted": (
        event("issue_comment", "deleted", issue=issue(), comment=comment()),
        ("issue_comment.deleted", "issue_comment/3001/deleted", ISSUE, "", AFTERWARDS),
    ),
    "a pull request is commented on": (
        event("issue_comment", "created", issue=issue(pull=True), comment=comment()),
        ("issue_comment.created", "issue_comment/3001", PULL, "issue acme/website#12", AT_FIRST),
    ),
    "a pull request is opened": (
        event("pull_request", "opened", pull_request=pull_request()),
        ("pull_request.opened", "77/12/opened", PULL, "issue acme/website#12", AT_FIRST),
    ),
    "a pull request is edited": (
        event("pull_request", "edited", pull_request=pull_request()),
        ("pull_request.edited", f"77/12/edit/{LATER}", PULL, "issue acme/website#12", AFTERWARDS),
    ),
    "a pull request is closed": (
        event("pull_request", "closed", pull_request=pull_request(closed_at=END)),
        ("pull_request.closed", f"77/12/closed/{END}", PULL, "issue acme/website#12", AT_THE_END),
    ),
    "a pull request is merged": (
        event("pull_request", "closed", pull_request=pull_request(closed_at=END, merged_at=END)),
        ("pull_request.merged", "77/pr/12/merged", PULL, "issue acme/website#12", AT_THE_END),
    ),
    "a pull request is reopened": (
        event("pull_request", "reopened", pull_request=pull_request()),
        (
            "pull_request.reopened",
            f"77/12/reopened/{LATER}",
            PULL,
            "issue acme/website#12",
            AFTERWARDS,
        ),
    ),
    "a pull request is made ready": (
        event("pull_request", "ready_for_review", pull_request=pull_request()),
        (
            "pull_request.ready_for_review",
            f"77/12/ready_for_review/{LATER}",
            PULL,
            "issue acme/website#12",
            AFTERWARDS,
        ),
    ),
    "a pull request is made a draft": (
        event("pull_request", "converted_to_draft", pull_request=pull_request(draft=True)),
        (
            "pull_request.converted_to_draft",
            f"77/12/converted_to_draft/{LATER}",
            PULL,
            "issue acme/website#12",
            AFTERWARDS,
        ),
    ),
    "a pull request is pushed to": (
        event("pull_request", "synchronize", pull_request=pull_request()),
        (
            "pull_request.synchronize",
            f"77/12/synchronize/{'a' * 40}/{LATER}",
            PULL,
            "issue acme/website#12",
            AFTERWARDS,
        ),
    ),
    "a review is submitted": (
        event(
            "pull_request_review",
            "submitted",
            pull_request=pull_request(),
            review=review(body="Almost."),
        ),
        (
            "pull_request_review.submitted",
            "review/5001/submitted",
            PULL,
            "issue acme/website#12",
            AT_FIRST,
        ),
    ),
    "an approval without a word": (
        event(
            "pull_request_review",
            "submitted",
            pull_request=pull_request(),
            review=review(state="APPROVED"),
        ),
        (
            "pull_request_review.submitted",
            "review/5001/submitted",
            PULL,
            "issue acme/website#12",
            AT_FIRST,
        ),
    ),
    "a review is dismissed": (
        event(
            "pull_request_review",
            "dismissed",
            pull_request=pull_request(),
            review=review(body="No!", state="dismissed"),
        ),
        (
            "pull_request_review.dismissed",
            "review/5001/dismissed",
            PULL,
            "issue acme/website#12",
            AFTERWARDS,
        ),
    ),
    "a line is commented on": (
        event(
            "pull_request_review_comment",
            "created",
            pull_request=pull_request(),
            comment=review_comment(),
        ),
        (
            "pull_request_review_comment.created",
            "review_comment/4001",
            LINE,
            "review_thread acme/website#12/4001",
            AT_FIRST,
        ),
    ),
    "a comment on a line is answered": (
        event(
            "pull_request_review_comment",
            "created",
            pull_request=pull_request(),
            comment=review_comment(id=4002, in_reply_to_id=4001),
        ),
        (
            "pull_request_review_comment.created",
            "review_comment/4002",
            LINE,
            "review_thread acme/website#12/4001",
            AT_FIRST,
        ),
    ),
    "a comment on a line is edited": (
        event(
            "pull_request_review_comment",
            "edited",
            pull_request=pull_request(),
            comment=review_comment(updated_at=LATER),
        ),
        (
            "pull_request_review_comment.edited",
            f"review_comment/4001/edit/{LATER}",
            LINE,
            "review_thread acme/website#12/4001",
            AFTERWARDS,
        ),
    ),
    "a comment on a line is deleted": (
        event(
            "pull_request_review_comment",
            "deleted",
            pull_request=pull_request(),
            comment=review_comment(),
        ),
        (
            "pull_request_review_comment.deleted",
            "review_comment/4001/deleted",
            LINE,
            "",
            AFTERWARDS,
        ),
    ),
}


@pytest.mark.rule("SRC-6")
@pytest.mark.rule("TRG-2")
@pytest.mark.field("C12")
@pytest.mark.parametrize(("sent", "expected"), EVENTS.values(), ids=EVENTS.keys())
def test_an_event_has_its_id_its_threads_its_address_and_its_time(
    instance: GitHubInstance, sent: Sent, expected: tuple[str, str, tuple[str, ...], str, datetime]
) -> None:
    trigger = trigger_of(instance, sent)
    kind, key, threads, address, at = expected
    assert trigger.kind == kind
    assert trigger.id == f"hub:{key}"
    assert trigger.threads == threads
    assert " ".join(f"{it.kind} {it.target}" for it in trigger.channels) == address
    assert all(it.thread == threads[-1] for it in trigger.channels)
    assert trigger.occurred_at == at
    assert trigger.received_at == RECEIVED
    assert trigger.received_by is Reception.WEBHOOK
    assert trigger.actor.id == str(ANN["id"])


@pytest.mark.parametrize(("private", "public"), [(True, False), (False, True), (None, True)])
def test_the_scope_is_the_repository_and_public_unless_it_is_said_to_be_private(
    instance: GitHubInstance, private: bool | None, public: bool
) -> None:
    where = repository(private=private)
    if private is None:
        del where["private"]
    trigger = trigger_of(instance, event("issues", "opened", issue=issue(), repository=where))
    assert trigger.scope.kind is ScopeKind.REPOSITORY
    assert trigger.scope.name == "acme/website"
    assert trigger.scope.public is public


@pytest.mark.rule("TRG-1")
@pytest.mark.field("A7")
def test_the_metadata_holds_what_github_says_and_decides_nothing_by_it(
    instance: GitHubInstance,
) -> None:
    said = comment(author_association="CONTRIBUTOR", performed_via_github_app={"slug": "ci-helper"})
    trigger = trigger_of(instance, event("issue_comment", "created", issue=issue(), comment=said))
    assert trigger.metadata == {
        "repository_id": 77,
        "default_branch": "main",
        "number": 12,
        "author": {"id": "501", "name": "ann"},
        "author_association": "CONTRIBUTOR",
        "edited": False,
        "via_app": "ci-helper",
    }
    assert trigger.title == "The header is broken"
    assert trigger.url == said["html_url"]


def test_a_review_comment_says_which_line_of_which_commit(instance: GitHubInstance) -> None:
    trigger = trigger_of(
        instance,
        event(
            "pull_request_review_comment",
            "created",
            pull_request=pull_request(),
            comment=review_comment(),
        ),
    )
    facts = {"path": "header.html", "line": 7, "commit": "a" * 40, "head_ref": "mend"}
    assert facts.items() <= trigger.metadata.items()


@pytest.mark.field("C23")
@pytest.mark.parametrize(
    ("title", "body", "expected"),
    [
        ("@remit fix the header", "", Addressing.MENTION),
        ("The header", "@remit, can you?", Addressing.MENTION),
        ("The header", "", Addressing.NONE),
        ("The header", "Nobody in particular", Addressing.NONE),
    ],
)
def test_a_request_in_the_title_or_body_of_a_new_issue_counts(
    instance: GitHubInstance, title: str, body: str, expected: Addressing
) -> None:
    opened = trigger_of(instance, event("issues", "opened", issue=issue(title=title, body=body)))
    assert opened.addressing is expected
    assert opened.title == title
    assert opened.text == body


@pytest.mark.field("C9")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("@remit please", Addressing.MENTION),
        ("Could you, @Remit?", Addressing.MENTION),
        ("`@remit please`", Addressing.NONE),
        ("```\n@remit please\n```", Addressing.NONE),
        ("> @remit please\n\nNo.", Addressing.NONE),
        ("<!-- @remit please -->", Addressing.NONE),
        ("write to help@remit.example", Addressing.NONE),
        ("@remit-fork please", Addressing.NONE),
    ],
)
def test_only_a_mention_that_a_person_makes_addresses_the_agent(
    instance: GitHubInstance, body: str, expected: Addressing
) -> None:
    said = event("issue_comment", "created", issue=issue(), comment=comment(body=body))
    assert trigger_of(instance, said).addressing is expected


def test_the_title_of_an_issue_does_not_address_the_agent_in_each_comment(
    instance: GitHubInstance,
) -> None:
    about = issue(title="@remit fix the header", body="@remit please")
    said = event("issue_comment", "created", issue=about, comment=comment(body="Me too."))
    assert trigger_of(instance, said).addressing is Addressing.NONE


def edited(changes: Any, *, sender: dict[str, Any] = ANN, user: dict[str, Any] = ANN) -> Sent:
    about = issue(title="@remit fix it", body="@remit please", user=user)
    return event("issues", "edited", issue=about, sender=sender, changes=changes)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"title": {"from": "Fix it"}}, Addressing.MENTION),
        ({"body": {"from": "Please"}}, Addressing.MENTION),
        ({}, Addressing.NONE),
        (None, Addressing.NONE),
    ],
)
def test_an_edit_addresses_the_agent_by_what_it_changed(
    instance: GitHubInstance, changes: Any, expected: Addressing
) -> None:
    assert trigger_of(instance, edited(changes)).addressing is expected


@pytest.mark.rule("EVL-9")
def test_who_edits_the_words_of_somebody_else_has_not_asked_for_what_they_say(
    instance: GitHubInstance,
) -> None:
    changes = {"body": {"from": "Please"}}
    trigger = trigger_of(instance, edited(changes, sender=ANN, user=EVE))
    assert trigger.actor.id == str(ANN["id"])
    assert trigger.addressing is Addressing.NONE
    assert trigger.metadata["author"] == {"id": str(EVE["id"]), "name": "eve"}
    assert trigger.metadata["edited"] is True


def test_who_moves_an_issue_to_another_repository_is_not_its_author(
    instance: GitHubInstance,
) -> None:
    moved = event("issues", "opened", issue=issue(user=EVE, body="@remit do it"), sender=ANN)
    assert trigger_of(instance, moved).actor.id == str(EVE["id"])


@pytest.mark.rule("SRC-3")
@pytest.mark.parametrize(
    ("name", "action", "parts"),
    [
        ("issues", "closed", {"issue": issue(user=BOT)}),
        ("issues", "reopened", {"issue": issue(user=BOT)}),
        ("pull_request", "closed", {"pull_request": pull_request(user=BOT)}),
        ("pull_request", "closed", {"pull_request": pull_request(user=BOT, merged_at=END)}),
        ("pull_request", "reopened", {"pull_request": pull_request(user=BOT)}),
        ("pull_request", "ready_for_review", {"pull_request": pull_request(user=BOT)}),
        (
            "pull_request_review",
            "dismissed",
            {"pull_request": pull_request(), "review": review(user=ANN)},
        ),
    ],
)
def test_what_the_agent_changed_without_words_is_kept(
    instance: GitHubInstance, name: str, action: str, parts: dict[str, Any]
) -> None:
    trigger = trigger_of(instance, event(name, action, sender=BOT, **parts))
    assert trigger.actor.id == str(BOT["id"])
    assert trigger.text == ""
    assert trigger.addressing is Addressing.NONE
    assert trigger.is_message is False


@pytest.mark.rule("SRC-3")
def test_the_agents_words_stay_its_own_whoever_edits_them(instance: GitHubInstance) -> None:
    ticked = event("issue_comment", "edited", issue=issue(), comment=comment(user=BOT), sender=ANN)
    drop = read_one(instance, ticked)
    assert isinstance(drop, Drop)
    assert drop.reason is DropReason.OWN_MESSAGE


@pytest.mark.rule("SRC-3")
def test_the_agents_edit_of_somebody_elses_words_is_its_own(instance: GitHubInstance) -> None:
    drop = read_one(
        instance, event("issue_comment", "edited", issue=issue(), comment=comment(), sender=BOT)
    )
    assert isinstance(drop, Drop)
    assert drop.reason is DropReason.OWN_MESSAGE


@pytest.mark.field("A6")
@pytest.mark.rule("SRC-3")
def test_who_took_over_the_agents_login_is_not_the_agent(instance: GitHubInstance) -> None:
    taken = {"id": 901, "login": "remit", "type": "User"}
    said = event("issue_comment", "created", issue=issue(), comment=comment(user=taken))
    assert isinstance(read_one(instance, said), Trigger)
    renamed = {"id": 900, "login": "remit-old", "type": "User"}
    own = event("issue_comment", "created", issue=issue(), comment=comment(user=renamed))
    assert isinstance(read_one(instance, own), Drop)


@pytest.mark.field("B8")
def test_a_review_with_comments_waits_on_the_pull_requests_thread_alone(
    instance: GitHubInstance,
) -> None:
    stream = [
        event(
            "pull_request_review",
            "submitted",
            pull_request=pull_request(),
            review=review(body="See below.", state="changes_requested"),
        ),
        *(
            event(
                "pull_request_review_comment",
                "created",
                pull_request=pull_request(),
                comment=review_comment(id=4100 + n, body=f"Line {n}"),
            )
            for n in range(15)
        ),
    ]
    triggers = [trigger_of(instance, sent) for sent in stream]
    assert {trigger.home for trigger in triggers} == {"hub:77/pr/12"}
    assert len({trigger.id for trigger in triggers}) == 16
    assert [trigger.text for trigger in triggers[1:]] == [f"Line {n}" for n in range(15)]


@pytest.mark.field("A3")
def test_a_deletion_is_recorded_without_the_words_that_were_deleted(
    instance: GitHubInstance,
) -> None:
    gone = event("issue_comment", "deleted", issue=issue(), comment=comment(user=EVE), sender=ANN)
    trigger = trigger_of(instance, gone)
    assert trigger.text == ""
    assert trigger.channels == ()
    assert trigger.metadata["comment"] == 3001
    assert trigger.metadata["author"] == EVE["id"]


@pytest.mark.rule("SUB-7")
def test_a_ticket_named_in_the_text_is_pointed_at(instance: GitHubInstance) -> None:
    body = "Like t-abcdefgh234567ab, but t-abcdefgh234567ab-w1 is no Ticket. Nor t-short."
    said = event("issue_comment", "created", issue=issue(), comment=comment(body=body))
    assert trigger_of(instance, said).points_at == ("t-abcdefgh234567ab",)


def test_line_ends_are_plain(instance: GitHubInstance) -> None:
    said = event("issue_comment", "created", issue=issue(), comment=comment(body="a\r\nb\rc"))
    assert trigger_of(instance, said).text == "a\nb\nc"


def test_times_in_ids_have_one_form(instance: GitHubInstance) -> None:
    zones = (LATER, "2026-11-30T11:00:00+00:00", "2026-11-30T12:00:00.000+01:00")
    ids = {
        trigger_of(
            instance,
            event("issue_comment", "edited", issue=issue(), comment=comment(updated_at=zone)),
        ).id
        for zone in zones
    }
    assert ids == {f"hub:issue_comment/3001/edit/{LATER}"}


@pytest.mark.rule("SRC-4")
@pytest.mark.parametrize(
    ("name", "listened_to"),
    [
        ("acme/website", True),
        ("Acme/Website", True),
        ("acme/.github", True),
        ("acme-evil/website", False),
        ("evil/acme", False),
    ],
)
def test_an_instance_listens_to_its_repositories_alone(
    instance: GitHubInstance, name: str, listened_to: bool
) -> None:
    where = repository(full_name=name)
    one = read_one(instance, event("issues", "opened", issue=issue(), repository=where))
    if listened_to:
        assert isinstance(one, Trigger)
    else:
        assert isinstance(one, Drop)
        assert one.reason is DropReason.NOT_LISTENED_TO
        assert one.detail == name


def test_a_form_is_read_like_a_document(instance: GitHubInstance) -> None:
    plain = event("issues", "opened", issue=issue(body="@remit: 1+1 = 2 & more"))
    form = urlencode({"payload": plain.body.decode()}).encode()
    sent = signed("issues", form, content_type="application/x-www-form-urlencoded; charset=utf-8")
    assert trigger_of(instance, sent) == trigger_of(instance, plain)


def test_what_github_leaves_out_or_adds_does_not_matter(instance: GitHubInstance) -> None:
    about = {"number": 12, "created_at": EARLY, "updated_at": LATER, "new_in_2030": {"x": [1]}}
    trigger = trigger_of(instance, event("issues", "opened", issue=about, extra=[1, 2]))
    assert trigger.text == ""
    assert trigger.title is None
    assert trigger.actor.id == ""
