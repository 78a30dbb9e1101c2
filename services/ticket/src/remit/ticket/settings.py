"""What the ticket service can be told from outside."""

from __future__ import annotations

from pydantic import Field

from remit.runtime.settings import ServiceSettings


class TicketSettings(ServiceSettings):
    """Settings of the ticket service.

    Attributes:
        eval_tries: How often an Eval may run out of time before it ends unavailable (EVL-5).
        concurrency: How many Threads or Tickets each worker works on together.
        batch: How many messages of one Thread go into one commit.
    """

    eval_tries: int = Field(default=3, ge=1)
    concurrency: int = Field(default=64, ge=1)
    batch: int = Field(default=32, ge=1)
