"""Code hosts are configured when a Ticket first needs them, and only those it needs."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

import pytest

from remit.connectors import configuration
from remit.connectors.contract import ConfigurationInvalid, GitRemote, ProviderUnavailable
from remit.domain.channel import Address
from remit.domain.ids import SourceName, ThreadKey
from remit.executor.code_hosts import ConfiguredCodeHosts


class FakeKind:
    """A connector whose instances hold one repository, or none."""

    kind = "fake"

    def __init__(self) -> None:
        self.configured: list[str] = []
        self.closed: list[str] = []

    async def configure(self, name: SourceName, settings: Mapping[str, Any]) -> FakeInstance:
        self.configured.append(name)
        if settings.get("away"):
            raise ProviderUnavailable(name, "no answer")
        if "wrong" in settings:
            raise ConfigurationInvalid(name, "wrong", "is no setting")
        return FakeInstance(self, name, hosts=settings.get("hosts", True))


class FakeInstance:
    def __init__(self, kind: FakeKind, name: SourceName, *, hosts: bool) -> None:
        self.name = name
        self.code_host = self if hosts else None
        self._kind = kind

    async def remote(self, address: Address) -> GitRemote:
        return GitRemote(url=f"https://{self.name}.example/{address.target}.git")

    async def close(self) -> None:
        self._kind.closed.append(self.name)


def address(source: str) -> Address:
    return Address(
        source=SourceName(source), thread=ThreadKey(f"{source}:1"), kind="issue", target="acme/shop"
    )


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> FakeKind:
    kind = FakeKind()
    monkeypatch.setattr(configuration, "connectors", lambda: {"fake": kind})
    return kind


async def test_an_instance_is_configured_once_and_closed_at_the_end(kind: FakeKind) -> None:
    sources = {SourceName(name): {"kind": "fake"} for name in ("one", "other")}
    async with AsyncExitStack() as stack:
        hosts = ConfiguredCodeHosts(sources, stack)
        assert kind.configured == []
        for _ in range(2):
            remote = await hosts.remote(address("one"))
            assert remote is not None
            assert remote.url == "https://one.example/acme/shop.git"
        assert kind.configured == ["one"]
    assert kind.closed == ["one"]


@pytest.mark.parametrize(
    "settings", [{"kind": "console"}, {"kind": "fake", "hosts": False}], ids=["unknown", "no host"]
)
async def test_a_source_without_repositories_has_no_remote(
    kind: FakeKind, settings: dict[str, Any]
) -> None:
    async with AsyncExitStack() as stack:
        hosts = ConfiguredCodeHosts({SourceName("chat"): settings}, stack)
        assert await hosts.remote(address("chat")) is None
        assert await hosts.remote(address("not-configured")) is None


async def test_a_code_host_that_is_away_is_configured_again_when_it_is_back(kind: FakeKind) -> None:
    settings: dict[str, Any] = {"kind": "fake", "away": True}
    async with AsyncExitStack() as stack:
        hosts = ConfiguredCodeHosts({SourceName("one"): settings}, stack)
        with pytest.raises(ProviderUnavailable, match="no answer"):
            await hosts.remote(address("one"))
        settings["away"] = False
        assert await hosts.remote(address("one")) is not None


async def test_a_wrong_setting_is_told_as_such(kind: FakeKind) -> None:
    async with AsyncExitStack() as stack:
        hosts = ConfiguredCodeHosts({SourceName("one"): {"kind": "fake", "wrong": 1}}, stack)
        with pytest.raises(ProviderUnavailable, match="wrong: is no setting"):
            await hosts.remote(address("one"))
