"""Where a Ticket's branch is pushed, and with what."""

from __future__ import annotations

from remit.connectors.contract import ConfigurationInvalid, GitRemote, ProviderUnavailable
from remit.connectors.github.place import target_of
from remit.connectors.github.settings import GitHubSettings
from remit.connectors.secrets import SecretUnavailable
from remit.domain.channel import Address
from remit.domain.ids import SourceName

USERNAME = "x-access-token"
"""What GitHub takes as the user of any token."""


class GitHubCodeHost:
    """Hands out remotes of the repositories that an account may push to."""

    def __init__(self, name: SourceName, settings: GitHubSettings) -> None:
        self._name = name
        self._settings = settings

    async def remote(self, address: Address) -> GitRemote:
        """See `remit.connectors.contract.CodeHost.remote`.

        Raises:
            ConfigurationInvalid: ``address`` is none of GitHub's.
            ProviderUnavailable: The token cannot be read now.
        """
        target = target_of(address)
        if target is None:
            raise ConfigurationInvalid(
                self._name, "address", f"{address.kind} {address.target!r} is no place on GitHub"
            )
        try:
            token = self._settings.token.read()
        except SecretUnavailable as error:
            raise ProviderUnavailable(self._name, f"token: {error}") from error
        return GitRemote(
            url=f"{self._settings.git_url}/{target.repository}.git",
            username=USERNAME,
            password=token,
        )
