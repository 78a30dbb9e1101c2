"""What the client makes of GitHub's answers, and where it never takes the token."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import httpx
import pytest
from pydantic import BaseModel

from remit.connectors.contract import ProviderUnavailable
from remit.connectors.github.client import CredentialsRefused, GitHubClient, Refused
from remit.connectors.github.settings import GitHubSettings
from remit.domain.ids import SourceName
from support.fake_github import API, FakeGitHub, TestClock, answering


class Thing(BaseModel):
    id: int


def settings_of(settings: dict[str, object], **changes: object) -> GitHubSettings:
    return GitHubSettings.model_validate(settings | changes)


@pytest.fixture
async def client(
    github: FakeGitHub, clock: TestClock, settings: dict[str, object]
) -> AsyncIterator[GitHubClient]:
    made = GitHubClient(
        SourceName("hub"), settings_of(settings), clock=clock, transport=github.transport
    )
    yield made
    await made.close()


def moved(to: str, status: int = 307) -> httpx.Response:
    return httpx.Response(status, headers={"location": to}, json={"message": "Moved"})


@pytest.mark.parametrize("status", [400, 403, 404, 405, 409, 410, 422, 451])
async def test_what_github_will_not_do_is_refused_in_its_words(
    client: GitHubClient, github: FakeGitHub, status: int
) -> None:
    errors = [{"field": "body", "code": "missing"}, {"message": "Too odd"}, "Plain words"]
    answer = httpx.Response(status, json={"message": "No", "errors": errors})
    github.before.append(lambda _: answer)
    with pytest.raises(Refused) as refused:
        await client.post(Thing, "/things", {})
    assert refused.value.status == status
    assert refused.value.reason == "No; body missing; Too odd; Plain words"


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
async def test_what_may_work_later_is_put_off(
    client: GitHubClient, github: FakeGitHub, status: int
) -> None:
    github.before.append(answering(status))
    with pytest.raises(ProviderUnavailable, match=f"answered {status}") as put_off:
        await client.get(Thing, "/things/1")
    assert put_off.value.retry_after is None


async def test_a_token_that_github_does_not_take_is_named_and_may_be_replaced(
    client: GitHubClient, github: FakeGitHub
) -> None:
    github.before.append(answering(401, "Bad credentials"))
    with pytest.raises(CredentialsRefused, match="put a valid token"):
        await client.get(Thing, "/things/1")


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>A proxy says hello</html>"),
        httpx.Response(200, json={"name": "no id"}),
        httpx.Response(200, json=[]),
    ],
)
async def test_an_answer_of_another_form_is_no_answer(
    client: GitHubClient, github: FakeGitHub, answer: httpx.Response
) -> None:
    github.before.append(lambda _: answer)
    with pytest.raises(ProviderUnavailable):
        await client.get(Thing, "/things/1")


@pytest.mark.field("C21")
async def test_after_a_limit_github_is_left_alone_for_as_long_as_it_says(
    client: GitHubClient, github: FakeGitHub, clock: TestClock
) -> None:
    github.before.append(answering(403, "secondary rate limit", retry_after="90"))
    with pytest.raises(ProviderUnavailable) as first:
        await client.post(Thing, "/things", {})
    assert first.value.retry_after == timedelta(seconds=90)

    clock.time += timedelta(seconds=60)
    with pytest.raises(ProviderUnavailable) as second:
        await client.get(Thing, "/things/1")
    assert second.value.retry_after == timedelta(seconds=30)
    assert len(github.requests) == 1

    clock.time += timedelta(seconds=30)
    github.before.append(lambda _: httpx.Response(200, json={"id": 1}))
    assert await client.get(Thing, "/things/1") == Thing(id=1)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_write_to_a_renamed_repository_is_sent_again_as_a_write(
    client: GitHubClient, github: FakeGitHub, status: int
) -> None:
    github.before += [
        lambda _: moved(f"{API}/repositories/77/things", status),
        lambda _: httpx.Response(201, json={"id": 1}),
    ]
    assert await client.post(Thing, "/repos/old/name/things", {"body": "x"}) == Thing(id=1)
    first, second = github.requests
    assert second.method == "POST"
    assert second.content == first.content
    assert second.headers["authorization"] == first.headers["authorization"]


async def test_the_token_never_follows_a_redirect_to_another_host(
    client: GitHubClient, github: FakeGitHub
) -> None:
    github.before.append(lambda _: moved("https://evil.example/things"))
    with pytest.raises(ProviderUnavailable, match="another host"):
        await client.get(Thing, "/things/1")
    assert {request.url.host for request in github.requests} == {"api.github.example"}


async def test_the_token_never_follows_a_lists_link_to_another_host(
    client: GitHubClient, github: FakeGitHub
) -> None:
    link = {"link": '<https://evil.example/things?page=2>; rel="next"'}
    github.before.append(lambda _: httpx.Response(200, json=[{"id": 1}], headers=link))
    with pytest.raises(ProviderUnavailable, match="another host"):
        [one async for one in client.items(Thing, "/things", {})]


async def test_redirects_in_a_circle_come_to_an_end(
    client: GitHubClient, github: FakeGitHub
) -> None:
    github.before += [lambda _: moved(f"{API}/things/1")] * 20
    with pytest.raises(ProviderUnavailable, match="in a circle"):
        await client.get(Thing, "/things/1")
    assert len(github.requests) < 10


async def test_a_list_is_read_over_all_of_its_pages(
    client: GitHubClient, github: FakeGitHub
) -> None:
    def page(number: int, following: bool) -> httpx.Response:
        link = {"link": f'<{API}/things?page={number + 1}>; rel="next"'} if following else {}
        return httpx.Response(200, json=[{"id": number}], headers=link)

    def answering_with(answer: httpx.Response) -> Callable[[httpx.Request], httpx.Response]:
        return lambda _: answer

    github.before += [answering_with(page(n, n < 3)) for n in (1, 2, 3)]
    found = [one.id async for one in client.items(Thing, "/things", {"since": "x"})]
    assert found == [1, 2, 3]
    assert github.requests[0].url.params["per_page"] == "100"
    assert github.requests[0].url.params["since"] == "x"


async def test_a_list_without_an_end_is_given_up(client: GitHubClient, github: FakeGitHub) -> None:
    link = {"link": f'<{API}/things?page=2>; rel="next"'}
    github.before += [lambda _: httpx.Response(200, json=[], headers=link)] * 200
    with pytest.raises(ProviderUnavailable, match="goes on"):
        [one async for one in client.items(Thing, "/things", {})]


async def test_writes_take_turns_with_a_second_between_them(
    github: FakeGitHub, clock: TestClock, settings: dict[str, object]
) -> None:
    paced = settings_of(settings, write_interval=1)
    client = GitHubClient(SourceName("hub"), paced, clock=clock, transport=github.transport)
    times: list[float] = []

    def taken(_: httpx.Request) -> httpx.Response:
        times.append(clock.now().timestamp())
        return httpx.Response(201, json={"id": len(times)})

    github.before += [taken] * 4
    await asyncio.gather(*(client.post(Thing, "/things", {}) for _ in range(4)))
    assert [later - times[0] for later in times] == [0, 1, 2, 3]
    await client.close()


async def test_reading_waits_for_no_turn(
    github: FakeGitHub, clock: TestClock, settings: dict[str, object]
) -> None:
    paced = settings_of(settings, write_interval=60)
    client = GitHubClient(SourceName("hub"), paced, clock=clock, transport=github.transport)
    github.before += [lambda _: httpx.Response(200, json={"id": 1})] * 3
    await client.post(Thing, "/things", {})
    await client.get(Thing, "/things/1")
    await client.get(Thing, "/things/1")
    assert clock.slept == []
    await client.close()
