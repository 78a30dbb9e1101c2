"""The settings of a GitHub instance."""

from __future__ import annotations

import re
from datetime import timedelta
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from remit.connectors.secrets import SecretRef
from remit.connectors.settings import InstanceSettings

_PATTERN = re.compile(r"[A-Za-z0-9_.*-]+/[A-Za-z0-9_.*-]+", re.ASCII)


def _is_pattern(value: str) -> str:
    if not _PATTERN.fullmatch(value):
        raise ValueError(f"{value!r} is no repository; write owner/name, with * for any part of it")
    return value


def _is_address(value: str) -> str:
    if not value.startswith(("https://", "http://")):
        raise ValueError(f"{value!r} is no address; write it with https://")
    return value.rstrip("/")


RepositoryPattern = Annotated[str, AfterValidator(_is_pattern)]
WebAddress = Annotated[str, AfterValidator(_is_address)]


class BotSettings(InstanceSettings):
    """Who the agent is on GitHub, where it is not to be asked.

    Attributes:
        id: The account's numeric id.
        login: Its login; for an App with the ``[bot]`` at the end.
    """

    id: int = Field(gt=0)
    login: str = Field(min_length=1)


class GitHubSettings(InstanceSettings):
    """What a GitHub instance is told.

    Attributes:
        api_url: Where the REST API is.
        git_url: Where repositories are pushed to.
        token: The account's token.
        webhook_secret: What GitHub signs deliveries with.
        allow_unsigned: Take deliveries without a signature, where no secret is set.
        repositories: What the instance listens to, such as ``acme/*``.
        bot: The account's identity; GitHub is asked where it is not given.
        write_interval: Time between two writes of the account, as GitHub wishes.
        longest_wait: The longest it is left alone at one time when it says it is busy.
        timeout: Time that GitHub has to answer.
    """

    api_url: WebAddress = "https://api.github.com"
    git_url: WebAddress = "https://github.com"
    token: SecretRef
    webhook_secret: SecretRef | None = None
    allow_unsigned: bool = False
    repositories: tuple[RepositoryPattern, ...] = Field(min_length=1)
    bot: BotSettings | None = None
    write_interval: timedelta = Field(default=timedelta(seconds=1), ge=timedelta(0))
    longest_wait: timedelta = Field(default=timedelta(minutes=15), gt=timedelta(0))
    timeout: timedelta = Field(default=timedelta(seconds=20), gt=timedelta(0))

    @model_validator(mode="after")
    def _signed_unless_said(self) -> GitHubSettings:
        if self.webhook_secret is None and not self.allow_unsigned:
            raise ValueError(
                "write webhook_secret: {env: NAME} or {file: PATH}, or allow_unsigned: true to "
                "take what anybody may have sent"
            )
        return self

    def listens_to(self, repository: str) -> bool:
        """Say whether the instance listens to ``owner/name``; GitHub's names have no case."""
        name = repository.casefold()
        return any(fnmatchcase(name, pattern.casefold()) for pattern in self.repositories)
