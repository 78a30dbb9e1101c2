"""What the source service can be told from outside."""

from __future__ import annotations

from datetime import timedelta

from pydantic import Field

from remit.runtime.settings import ServiceSettings


class SourceSettings(ServiceSettings):
    """Settings of the source service.

    Attributes:
        max_body_bytes: The largest webhook body that is taken. NATS must be able to store it: its
            ``max_payload`` is larger. GitHub sends up to 25 MB, though hardly ever above 1 MB.
        horizon: How old an event may be: as long as the Trigger stream remembers.
        concurrency: How many deliveries are normalised together.
    """

    max_body_bytes: int = Field(default=7 * 1024 * 1024, ge=1)
    horizon: timedelta = timedelta(days=90)
    concurrency: int = Field(default=64, ge=1)
