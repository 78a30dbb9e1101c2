"""What an instance is told, and what it says where it will not do."""

from __future__ import annotations

from typing import Any

import pytest

from remit.connectors.contract import ConfigurationInvalid
from remit.connectors.github import GitHubSettings
from remit.connectors.settings import read_settings
from remit.domain.ids import SourceName

FEWEST: dict[str, Any] = {
    "token": {"env": "TOKEN"},
    "webhook_secret": {"env": "SECRET"},
    "repositories": ["acme/website"],
}


def read(**changes: Any) -> GitHubSettings:
    settings = {key: value for key, value in (FEWEST | changes).items() if value is not None}
    return read_settings(GitHubSettings, SourceName("hub"), settings)


def test_the_addresses_are_githubs_own_unless_given() -> None:
    assert (read().api_url, read().git_url) == ("https://api.github.com", "https://github.com")
    assert read(api_url="http://localhost:8080/api/v3/").api_url == "http://localhost:8080/api/v3"


@pytest.mark.parametrize(
    ("changes", "place", "problem"),
    [
        ({"token": None}, "token", "is needed"),
        ({"token": "ghp_x"}, "token", ""),
        ({"webhook_secret": None}, "settings", "allow_unsigned: true"),
        ({"repositories": None}, "repositories", "is needed"),
        ({"repositories": []}, "repositories", ""),
        ({"repositories": ["acme"]}, "repositories.0", "'acme' is no repository"),
        ({"repositories": ["a/b", "*"]}, "repositories.1", "with * for any part"),
        ({"repositories": ["acme/web site"]}, "repositories.0", "owner/name"),
        ({"api_url": "api.github.com"}, "api_url", "https://"),
        ({"git_url": "file:///repos"}, "git_url", "https://"),
        ({"write_interval": -1}, "write_interval", ""),
        ({"bot": {"id": 1}}, "bot.login", "is needed"),
        ({"bot": {"id": 1, "login": "r", "name": "R"}}, "bot.name", "take it out"),
        ({"repos": ["a/b"]}, "repos", "known are allow_unsigned, api_url, bot"),
    ],
)
def test_a_setting_that_will_not_do_is_named(
    changes: dict[str, Any], place: str, problem: str
) -> None:
    with pytest.raises(ConfigurationInvalid) as refused:
        read(**changes)
    assert refused.value.source == "hub"
    assert refused.value.place == place
    assert problem in refused.value.problem


def test_unsigned_deliveries_are_taken_only_where_it_is_said() -> None:
    assert read(webhook_secret=None, allow_unsigned=True).webhook_secret is None
