"""Who the agent is on GitHub, and what is said where that cannot be known."""

from __future__ import annotations

import pytest

from remit.connectors.contract import ConfigurationInvalid, ProviderUnavailable
from remit.connectors.github import GitHubConnector, GitHubInstance
from remit.domain.ids import SourceName
from remit.domain.trigger import Addressing
from support.fake_github import FakeGitHub, TestClock, answering, losing_the_answer
from support.github_payloads import comment, event, issue
from support.github_reading import trigger_of

Settings = dict[str, object]


async def configured(
    github: FakeGitHub, clock: TestClock, settings: Settings, **changes: object
) -> GitHubInstance:
    connector = GitHubConnector(clock=clock, transport=github.transport)
    return await connector.configure(SourceName("hub"), settings | changes)


@pytest.mark.rule("SRC-3")
async def test_github_is_asked_whose_token_it_is(
    github: FakeGitHub, clock: TestClock, settings: Settings
) -> None:
    instance = await configured(github, clock, settings)
    assert instance.identity.ids == {"900"}
    assert instance.identity.names == ("remit",)
    (request,) = github.requests
    assert request.url.path == "/user"
    assert request.headers["authorization"] == "Bearer ghp_token"
    assert request.headers["x-github-api-version"]
    assert request.headers["user-agent"]
    await instance.close()


async def test_nobody_is_asked_where_it_is_configured(
    github: FakeGitHub, clock: TestClock, settings: Settings
) -> None:
    bot = {"id": 42, "login": "remit-app[bot]"}
    instance = await configured(github, clock, settings, bot=bot)
    assert github.requests == []
    assert instance.identity.ids == {"42"}
    await instance.close()


@pytest.mark.parametrize("call", ["@remit-app please", "@remit-app[bot] please"])
async def test_an_app_is_addressed_with_and_without_its_suffix(
    github: FakeGitHub, clock: TestClock, settings: Settings, call: str
) -> None:
    bot = {"id": 42, "login": "remit-app[bot]"}
    instance = await configured(github, clock, settings, bot=bot)
    said = event("issue_comment", "created", issue=issue(), comment=comment(body=call))
    assert trigger_of(instance, said).addressing is Addressing.MENTION
    await instance.close()


@pytest.mark.parametrize(
    ("status", "remedy"), [(401, "put a valid one in its place"), (403, "write bot:")]
)
async def test_a_token_that_will_not_do_is_the_settings_fault(
    github: FakeGitHub, clock: TestClock, settings: Settings, status: int, remedy: str
) -> None:
    github.before.append(answering(status))
    with pytest.raises(ConfigurationInvalid, match=remedy) as refused:
        await configured(github, clock, settings)
    assert refused.value.place == "token"


async def test_a_github_that_is_away_is_asked_again_later(
    github: FakeGitHub, clock: TestClock, settings: Settings
) -> None:
    for answer in (answering(502), losing_the_answer):
        github.before.append(answer)
        with pytest.raises(ProviderUnavailable):
            await configured(github, clock, settings)


async def test_a_token_that_is_not_there_is_named(
    github: FakeGitHub, clock: TestClock, settings: Settings
) -> None:
    with pytest.raises(ProviderUnavailable, match="NO_SUCH_TOKEN"):
        await configured(github, clock, settings, token={"env": "NO_SUCH_TOKEN"})
    assert github.requests == []


@pytest.mark.rule("SRC-1")
async def test_two_instances_share_neither_identity_nor_ids(
    github: FakeGitHub, clock: TestClock, settings: Settings
) -> None:
    connector = GitHubConnector(clock=clock, transport=github.transport)
    first = await connector.configure(SourceName("one"), settings)
    other = {"bot": {"id": 42, "login": "ann-bot"}, "repositories": ["acme/*"]}
    second = await connector.configure(SourceName("two"), settings | other)
    said = event("issue_comment", "created", issue=issue(), comment=comment(body="@ann-bot hi"))
    triggers = [trigger_of(instance, said) for instance in (first, second)]
    assert [trigger.id for trigger in triggers] == [
        "one:issue_comment/3001",
        "two:issue_comment/3001",
    ]
    assert [trigger.addressing for trigger in triggers] == [Addressing.NONE, Addressing.MENTION]
    await first.close()
    await second.close()
