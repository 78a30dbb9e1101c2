"""What a write becomes on GitHub, and when it is refused, delayed, or found again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx
import pytest

from remit.connectors import markers
from remit.connectors.contract import ConfigurationInvalid, ProviderUnavailable
from remit.connectors.github import GitHubInstance
from remit.domain.channel import Address, ChannelWrite, PullRequest, WriteKind, WriteOutcome
from remit.domain.ids import SourceName, ThreadKey, TicketId, WriteId
from support.fake_github import API, START, FakeGitHub, TestClock, answering, losing_the_answer
from support.github_payloads import BOT, EVE

ISSUE = Address(
    source=SourceName("hub"),
    thread=ThreadKey("hub:77/issue/12"),
    kind="issue",
    target="acme/website#12",
)
LINE = Address(
    source=SourceName("hub"),
    thread=ThreadKey("hub:77/pr/12/rt/4001"),
    kind="review_thread",
    target="acme/website#12/4001",
)
KEY = "t-abc-w1"


def write(body: str = "It is done.", **changes: Any) -> ChannelWrite:
    fields: dict[str, Any] = {
        "id": WriteId(KEY),
        "ticket": TicketId("t-abc"),
        "address": ISSUE,
        "kind": WriteKind.REPLY,
        "body": body,
        "requested_at": START,
    }
    return ChannelWrite(**(fields | changes))


def opening(**changes: Any) -> ChannelWrite:
    pull = PullRequest(branch="remit/t-abc", title="Mend the header for @remit")
    fields: dict[str, Any] = {
        "body": "Fixes #12",
        "kind": WriteKind.PULL_REQUEST,
        "pull_request": pull,
    }
    return write(**(fields | changes))


@pytest.mark.rule("CHN-2")
@pytest.mark.parametrize("kind", [WriteKind.ACKNOWLEDGE, WriteKind.REPLY])
async def test_words_become_a_comment_with_a_hidden_marker(
    instance: GitHubInstance, github: FakeGitHub, kind: WriteKind
) -> None:
    receipt = await instance.channel.write(write(kind=kind))
    (comment,) = github.comments
    assert comment["body"] == f"It is done.\n\n<!-- remit:{KEY}/1 -->"
    assert github.posts == ["/repos/acme/website/issues/12/comments"]
    assert receipt.outcome is WriteOutcome.ACCEPTED
    assert receipt.object_id == str(comment["id"])
    assert receipt.url == comment["html_url"]


@pytest.mark.field("C12")
@pytest.mark.rule("CHN-2")
async def test_an_answer_in_a_review_thread_is_a_reply_there(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    await instance.channel.write(write(address=LINE))
    assert github.posts == ["/repos/acme/website/pulls/12/comments/4001/replies"]
    assert github.comments[0]["in_reply_to_id"] == 4001


@pytest.mark.field("C11")
async def test_an_answer_whose_place_is_gone_goes_to_no_other_place(
    instance: GitHubInstance, github: FakeGitHub, clock: TestClock
) -> None:
    clock.time += timedelta(hours=1)
    github.before += [lambda _: httpx.Response(200, json=[]), answering(404, "Not Found")]
    receipt = await instance.channel.write(write(address=LINE))
    assert receipt.outcome is WriteOutcome.REFUSED
    assert receipt.reason == "GitHub answered 404: Not Found"
    assert len(github.posts) == 1


@pytest.mark.rule("CHN-3")
async def test_a_marker_that_somebody_else_quotes_proves_nothing(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    github.say(12, f"They would say this.\n\n<!-- remit:{KEY}/1 -->", EVE)
    receipt = await instance.channel.write(write())
    assert len(github.posts) == 1
    assert receipt.object_id == str(github.comments[-1]["id"])


@pytest.mark.rule("CHN-3")
async def test_an_earlier_try_is_found_on_a_later_page(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    github.page_size = 2
    for number in range(5):
        github.say(12, f"Remark {number}", EVE)
    github.after.append(losing_the_answer)
    with pytest.raises(ProviderUnavailable):
        await instance.channel.write(write())
    await instance.channel.write(write())
    assert len(github.posts) == 1


@pytest.mark.rule("CHN-3")
async def test_an_earlier_try_is_found_though_the_clocks_differ(
    instance: GitHubInstance, github: FakeGitHub, clock: TestClock
) -> None:
    clock.time -= timedelta(minutes=4)
    await instance.channel.write(write())
    await instance.channel.write(write())
    assert len(github.comments) == 1


@pytest.mark.field("C19")
async def test_a_long_text_appears_in_parts_that_github_takes(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "长文 🎉 " * 400 for n in range(60))
    receipt = await instance.channel.write(write(text))
    bodies = [comment["body"] for comment in github.comments]
    assert len(bodies) > 1
    assert all(len(body) <= 65_536 for body in bodies)
    assert [markers.find(body) for body in bodies] == [
        (f"{KEY}/{n}",) for n in range(1, len(bodies) + 1)
    ]
    shown = "".join(markers.strip(body) for body in bodies)
    assert "".join(shown.split()) == "".join(text.split())
    assert receipt.object_id == str(github.comments[0]["id"])


@pytest.mark.rule("CHN-3")
@pytest.mark.field("C19")
async def test_the_parts_that_are_there_are_not_said_again(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "words " * 200 for n in range(150))
    github.after += [lambda request: _kept(github), losing_the_answer]
    with pytest.raises(ProviderUnavailable):
        await instance.channel.write(write(text))
    there = len(github.comments)
    assert there == 2
    await instance.channel.write(write(text))
    await instance.channel.write(write(text))
    keys = [key for comment in github.comments for key in markers.find(comment["body"])]
    assert keys == [f"{KEY}/{n}" for n in range(1, len(keys) + 1)]
    assert len(keys) > there


def _kept(github: FakeGitHub) -> httpx.Response:
    return httpx.Response(201, json=github.comments[-1])


async def test_nothing_to_say_is_said_nowhere(instance: GitHubInstance, github: FakeGitHub) -> None:
    receipt = await instance.channel.write(write(" \n<!-- remit:t-x-w2/1 -->"))
    assert receipt.outcome is WriteOutcome.REFUSED
    assert github.posts == []


@pytest.mark.field("B6")
async def test_an_acknowledgement_that_repeats_the_request_does_not_call_the_agent(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    await instance.channel.write(write("On it: @remit fix it, says @acme/core"))
    assert github.comments[0]["body"].startswith("On it: remit fix it, says `@acme/core`")


@pytest.mark.rule("CHN-4")
@pytest.mark.field("C21")
async def test_a_limit_delays_a_write_and_does_not_lose_it(
    instance: GitHubInstance, github: FakeGitHub, clock: TestClock
) -> None:
    github.before.append(answering(429, retry_after="30"))
    with pytest.raises(ProviderUnavailable) as delayed:
        await instance.channel.write(write())
    assert delayed.value.retry_after == timedelta(seconds=30)
    clock.time += timedelta(seconds=30)
    await instance.channel.write(write())
    assert len(github.comments) == 1


async def test_what_an_event_has_just_told_of_is_waited_for(
    instance: GitHubInstance, github: FakeGitHub, clock: TestClock
) -> None:
    github.before += [answering(404)] * 3
    receipt = await instance.channel.write(write())
    assert receipt.outcome is WriteOutcome.ACCEPTED
    assert clock.slept == [1, 2, 4]


async def test_the_waiting_comes_to_an_end(
    instance: GitHubInstance, github: FakeGitHub, clock: TestClock
) -> None:
    github.before += [answering(404)] * 9
    receipt = await instance.channel.write(write())
    assert receipt.outcome is WriteOutcome.REFUSED
    assert clock.slept == [1, 2, 4]


async def test_old_news_is_not_waited_for(
    instance: GitHubInstance, github: FakeGitHub, clock: TestClock
) -> None:
    clock.time += timedelta(minutes=3)
    github.before += [answering(404)] * 9
    receipt = await instance.channel.write(write())
    assert receipt.outcome is WriteOutcome.REFUSED
    assert clock.slept == []


@pytest.mark.parametrize("status", [403, 410, 422])
async def test_a_refusal_is_a_receipt_with_githubs_words(
    instance: GitHubInstance, github: FakeGitHub, status: int
) -> None:
    github.before += [lambda _: httpx.Response(200, json=[]), answering(status, "It is locked")]
    receipt = await instance.channel.write(write())
    assert receipt.outcome is WriteOutcome.REFUSED
    assert receipt.reason == f"GitHub answered {status}: It is locked"


@pytest.mark.rule("TON-5")
async def test_what_cannot_be_done_is_said_and_not_pretended(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    receipt = await instance.channel.write(write(kind=WriteKind.RESOLVE, address=LINE))
    assert receipt.outcome is WriteOutcome.REFUSED
    assert receipt.reason == "review threads on GitHub are resolved by a person"
    assert github.requests == []


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        ("issue", "acme/website"),
        ("issue", "acme/website#12/4001"),
        ("issue", "acme/..#12"),
        ("issue", "acme/website#12?x=1"),
        ("review_thread", "acme/website#12"),
        ("conversation", "acme/website#12"),
    ],
)
async def test_an_address_that_is_none_of_githubs_is_refused(
    instance: GitHubInstance, github: FakeGitHub, kind: str, target: str
) -> None:
    where = ISSUE.model_copy(update={"kind": kind, "target": target})
    receipt = await instance.channel.write(write(address=where))
    assert receipt.outcome is WriteOutcome.REFUSED
    assert github.requests == []


@pytest.mark.rule("CHN-2")
@pytest.mark.parametrize("address", [ISSUE, LINE])
async def test_a_pull_request_is_opened_from_the_branch(
    instance: GitHubInstance, github: FakeGitHub, address: Address
) -> None:
    receipt = await instance.channel.write(opening(address=address))
    (pull,) = github.pulls
    assert pull["title"] == "Mend the header for remit"
    assert pull["head"]["ref"] == "remit/t-abc"
    assert pull["base"]["ref"] == "main"
    assert pull["body"] == f"Fixes #12\n\n<!-- remit:{KEY}/1 -->"
    assert receipt.outcome is WriteOutcome.ACCEPTED
    assert receipt.object_id == str(pull["number"])
    assert receipt.url == pull["html_url"]
    assert receipt.thread == f"hub:77/pr/{pull['number']}"


async def test_a_pull_request_goes_to_the_base_that_is_named(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    pull = PullRequest(branch="remit/t-abc", title="Mend", base="stable")
    await instance.channel.write(opening(pull_request=pull))
    assert github.pulls[0]["base"]["ref"] == "stable"


@pytest.mark.rule("CHN-3")
async def test_a_pull_request_that_is_tried_again_is_opened_once(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    github.after.append(losing_the_answer)
    with pytest.raises(ProviderUnavailable):
        await instance.channel.write(opening())
    first = await instance.channel.write(opening())
    assert await instance.channel.write(opening()) == first
    assert len(github.pulls) == 1
    assert len(github.posts) == 1


@pytest.mark.rule("CHN-3")
async def test_a_pull_request_that_shows_late_is_found_after_the_refusal(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    repository = {"id": 77, "full_name": "acme/website", "default_branch": "main"}
    await instance.channel.write(opening())
    github.before += [
        lambda _: httpx.Response(200, json=repository),
        lambda _: httpx.Response(200, json=[]),
    ]
    receipt = await instance.channel.write(opening())
    assert receipt.outcome is WriteOutcome.ACCEPTED
    assert len(github.pulls) == 1


async def test_a_branch_whose_pull_request_is_another_writes_is_refused(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    await instance.channel.write(opening())
    receipt = await instance.channel.write(opening(id=WriteId("t-abc-w2")))
    assert receipt.outcome is WriteOutcome.REFUSED
    assert "already exists" in (receipt.reason or "")


async def test_a_long_pull_request_body_goes_on_in_comments_on_it(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    text = "\n\n".join(f"Paragraph {n}. " + "words " * 200 for n in range(80))
    for _ in range(2):
        await instance.channel.write(opening(body=text))
    number = github.pulls[0]["number"]
    assert [comment["number"] for comment in github.comments] == [number]
    assert markers.find(github.comments[0]["body"]) == (f"{KEY}/2",)


async def test_a_pull_request_without_a_branch_is_refused(instance: GitHubInstance) -> None:
    receipt = await instance.channel.write(opening(pull_request=None))
    assert receipt.outcome is WriteOutcome.REFUSED


async def test_a_renamed_repository_is_followed(
    instance: GitHubInstance, github: FakeGitHub
) -> None:
    comment = {"id": 1, "body": "", "user": BOT, "html_url": "https://github.example/c/1"}
    github.before += [
        lambda _: httpx.Response(301, headers={"location": f"{API}/repositories/77/list?since=x"}),
        lambda _: httpx.Response(200, json=[]),
        lambda _: httpx.Response(307, headers={"location": f"{API}/repositories/77/comments"}),
        lambda _: httpx.Response(201, json=comment),
    ]
    receipt = await instance.channel.write(write())
    assert receipt.outcome is WriteOutcome.ACCEPTED
    assert github.requests[-1].method == "POST"


async def test_the_branch_is_pushed_with_the_token_and_never_shown(
    instance: GitHubInstance,
) -> None:
    remote = await instance.code_host.remote(LINE)
    assert remote.url == "https://github.com/acme/website.git"
    assert remote.username == "x-access-token"
    assert remote.password == "ghp_token"
    assert "ghp_token" not in repr(remote)


async def test_there_is_no_remote_for_a_place_that_is_none_of_githubs(
    instance: GitHubInstance,
) -> None:
    where = ISSUE.model_copy(update={"target": "acme/../other#1"})
    with pytest.raises(ConfigurationInvalid):
        await instance.code_host.remote(where)
