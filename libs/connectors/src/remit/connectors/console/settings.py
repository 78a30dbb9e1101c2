"""The settings of a console instance."""

from __future__ import annotations

from pydantic import Field, model_validator

from remit.connectors.secrets import SecretRef
from remit.connectors.settings import InstanceSettings

OWN_ID = "remit"


class ConsoleSettings(InstanceSettings):
    """What a console instance is told.

    Attributes:
        token: What a sender proves itself with, as a bearer token.
        open: Take messages from whoever reaches the source service; only for a service that
            nobody else can reach.
        agent: The name under which the agent speaks; its id in this Source as well.
    """

    token: SecretRef | None = None
    open: bool = False
    agent: str = Field(default=OWN_ID, min_length=1, max_length=64)

    @model_validator(mode="after")
    def _closed_unless_said(self) -> ConsoleSettings:
        if self.token is None and not self.open:
            raise ValueError(
                "write token: {file: PATH} or {env: NAME}, or open: true where nobody else "
                "reaches the source service"
            )
        if self.token is not None and self.open:
            raise ValueError("write token or open: true, not both")
        return self
