"""What the channel service can be told from outside."""

from __future__ import annotations

from pydantic import Field

from remit.runtime.settings import ServiceSettings


class ChannelSettings(ServiceSettings):
    """Settings of the channel service.

    Attributes:
        lease_seconds: How long a replica that falls silent keeps a provider account to itself.
        concurrency: How many Threads of one account are written to together.
    """

    lease_seconds: float = Field(default=10.0, gt=0)
    concurrency: int = Field(default=8, ge=1)
