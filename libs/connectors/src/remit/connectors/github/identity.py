"""Who the agent is on GitHub, known before anything is read (SRC-3)."""

from __future__ import annotations

from pydantic import BaseModel

from remit.connectors.contract import ConfigurationInvalid, Identity
from remit.connectors.github.client import CredentialsRefused, GitHubClient, Refused
from remit.connectors.github.settings import GitHubSettings
from remit.domain.ids import SourceName

APP_SUFFIX = "[bot]"


class _User(BaseModel):
    id: int
    login: str


def identity_from(user_id: int, login: str) -> Identity:
    """Return the identity of an account.

    An App writes as ``name[bot]``, and people address it as ``@name`` too.
    """
    names = dict.fromkeys((login.removesuffix(APP_SUFFIX), login))
    return Identity(ids=frozenset({str(user_id)}), names=tuple(names))


async def resolve_identity(
    source: SourceName, settings: GitHubSettings, client: GitHubClient
) -> Identity:
    """Return who the agent is: as configured, else as GitHub says.

    See https://docs.github.com/en/rest/users/users#get-the-authenticated-user.

    Raises:
        ConfigurationInvalid: GitHub does not take the token, or its owner is no user.
        ProviderUnavailable: GitHub cannot be asked now.
    """
    if settings.bot is not None:
        return identity_from(settings.bot.id, settings.bot.login)
    try:
        user = await client.get(_User, "/user")
    except CredentialsRefused as error:
        raise ConfigurationInvalid(
            source, "token", "GitHub does not know this token; put a valid one in its place"
        ) from error
    except Refused as error:
        raise ConfigurationInvalid(
            source,
            "token",
            f"GitHub does not say whose token it is ({error.reason}); an App's token belongs to "
            "no user, so write bot: {id: ID, login: NAME[bot]}",
        ) from error
    return identity_from(user.id, user.login)
