"""The GitHub connector keeps every connector's promises."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from remit.connectors.contract import DropReason
from remit.connectors.github import GitHubInstance
from remit.connectors.github.place import Place
from remit.connectors.markers import strip
from remit.domain.channel import Address
from support.contracts.connector import ConnectorContract, Failure, Rig, Sent, changed
from support.fake_github import FakeGitHub, TestClock, answering, losing_the_answer
from support.github_payloads import (
    ANN,
    BOT,
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


def place(number: int) -> Place:
    return Place(
        source="hub",  # type: ignore[arg-type]
        repository_id=77,
        repository="acme/website",
        number=number,
        is_pull=True,
    )


class TestGitHub(ConnectorContract):
    @pytest.fixture
    def rig(self, instance: GitHubInstance, github: FakeGitHub, clock: TestClock) -> Rig:
        numbers = iter(range(2, 10_000))

        def again(sent: Sent) -> Sent:
            return changed(sent, x_github_delivery=str(next(numbers)))

        async def fail(failure: Failure) -> None:
            if failure is Failure.LOSES_THE_ANSWER:
                github.after.append(losing_the_answer)
            else:
                github.before.append(answering(502))

        async def appeared(address: Address) -> Sequence[str]:
            kind = "pulls" if address.kind == "review_thread" else "issues"
            return [strip(row["body"]) for row in github.comments if row["kind"] == kind]

        async def pass_time(span: timedelta) -> None:
            clock.time += span

        created = event("issue_comment", "created", issue=issue(), comment=comment())
        return Rig(
            instance=instance,
            deliveries=[
                created,
                event("issues", "opened", issue=issue(body="@remit do it")),
                event(
                    "issue_comment",
                    "edited",
                    issue=issue(),
                    comment=comment(updated_at=LATER),
                    changes={"body": {"from": "Help"}},
                ),
                event(
                    "pull_request_review_comment",
                    "created",
                    pull_request=pull_request(),
                    comment=review_comment(),
                ),
            ],
            again=again,
            own=[
                event(
                    "issue_comment", "created", issue=issue(), comment=comment(user=BOT), sender=BOT
                ),
                event(
                    "issue_comment", "deleted", issue=issue(), comment=comment(user=BOT), sender=BOT
                ),
                event("issues", "opened", issue=issue(user=BOT), sender=BOT),
                event("pull_request", "opened", pull_request=pull_request(user=BOT), sender=BOT),
                event("pull_request", "synchronize", pull_request=pull_request(), sender=BOT),
                event(
                    "pull_request_review",
                    "submitted",
                    pull_request=pull_request(),
                    review=review(user=BOT, body="Fine", state="approved"),
                    sender=BOT,
                ),
                event(
                    "pull_request_review_comment",
                    "created",
                    pull_request=pull_request(),
                    comment=review_comment(user=BOT),
                    sender=BOT,
                ),
            ],
            dropped=[
                (event("ping", None), DropReason.UNKNOWN_EVENT),
                (event("check_run", "completed"), DropReason.UNKNOWN_EVENT),
                (event("issues", "labeled", issue=issue()), DropReason.UNHANDLED_ACTION),
                (
                    event(
                        "issue_comment",
                        "created",
                        issue=issue(),
                        comment=comment(),
                        repository=repository(full_name="other/website"),
                    ),
                    DropReason.NOT_LISTENED_TO,
                ),
                (
                    event(
                        "pull_request_review",
                        "submitted",
                        pull_request=pull_request(),
                        review=review(body=" "),
                    ),
                    DropReason.NO_CONTENT,
                ),
            ],
            forged=[
                changed(created, x_hub_signature_256="sha256=" + "0" * 64),
                changed(created, x_hub_signature_256="sha1=" + "0" * 40),
                changed(created, x_hub_signature_256="sha256=é"),
                changed(created, x_hub_signature_256=""),
                Sent(headers=created.headers, body=created.body + b" "),
                Sent(
                    headers={
                        key: value
                        for key, value in created.headers.items()
                        if key != "x-hub-signature-256"
                    },
                    body=created.body,
                ),
            ],
            malformed=[
                signed("issues", b"{"),
                signed("issues", b"[]"),
                signed("issues", b"\xff"),
                signed("issues", b"[" * 100_000),
                signed("issues", b"{}"),
                signed("ping", b"not json"),
                signed("", b"{}"),
                signed("issues", b"a=1", content_type="application/x-www-form-urlencoded"),
                signed(
                    "issues",
                    urlencode({"payload": "{"}).encode(),
                    content_type="application/x-www-form-urlencoded",
                ),
                event("issues", "opened"),
                event("issues", "opened", issue=issue() | {"number": None}),
                event("issue_comment", "created", issue=issue(), comment=comment(created_at="now")),
                event("issues", "opened", issue=issue(), repository={"id": 77}),
                event("issues", "opened", issue=issue(), repository=repository(full_name="a/..")),
                event("issues", "opened", issue=issue(), sender=ANN["login"]),
            ],
            addresses=[place(12).conversation, place(12).reply_to(4001)],
            appeared=appeared,
            fail=fail,
            pass_time=pass_time,
            now=clock.now,
        )
