"""What the panel can be told from outside."""

from __future__ import annotations

import ipaddress
from datetime import timedelta
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from remit.runtime.settings import ServiceSettings


class PanelSettings(ServiceSettings):
    """Settings of the panel.

    Attributes:
        panel_data_dir: Where the read model and the traces are kept. It can be emptied while the
            panel does not run: the read model is built again, the traces are gone.
        panel_token_file: The tokens that people log in with: one on each line, with a name before
            it where there are several people.
        panel_open: Ask nobody for a token; only on a loopback address.
        panel_person: Who the holder of a token without a name is, in the console's identities.
        panel_session: How long a login lasts.
        panel_public_url: Where people reach the panel, where that is not where it listens.
        panel_otlp_token_file: The token that senders of traces must show; without one, traces are
            taken from this machine only.
        panel_traces: How many traces are kept.
        panel_traces_mb: How many megabytes of spans are kept.
        panel_unsettled_after: How long a Trigger may be without a Disposition before it is listed
            as needing a person.
        source_url: Where the source service is; without it the console only shows.
        console_source: The name of the console among the Source instances.
        console_token_file: What that instance wants as a bearer token.
    """

    panel_data_dir: Path = Path(".remit/panel")
    panel_token_file: Path | None = None
    panel_open: bool = False
    panel_person: str = Field(default="operator", min_length=1, max_length=256)
    panel_session: timedelta = timedelta(days=7)
    panel_public_url: str | None = None
    panel_otlp_token_file: Path | None = None
    panel_traces: int = Field(default=5000, ge=1)
    panel_traces_mb: int = Field(default=200, ge=1)
    panel_unsettled_after: timedelta = timedelta(minutes=1)
    source_url: str | None = None
    console_source: str = "console"
    console_token_file: Path | None = None

    @property
    def traces_endpoint(self) -> str | None:
        """Where the panel's own traces go: a collector, never the panel itself.

        Every request with spans that it took from itself would make spans of its own, for ever.
        """
        return self.otlp_endpoint

    @model_validator(mode="after")
    def _guarded(self) -> Self:
        if self.panel_token_file is None and not self.panel_open:
            raise ValueError(
                "the panel needs a login: set REMIT_PANEL_TOKEN_FILE to a file with a token, or "
                "REMIT_PANEL_OPEN=true where only this machine reaches it"
            )
        if self.panel_open and self.panel_token_file is not None:
            raise ValueError("set REMIT_PANEL_TOKEN_FILE or REMIT_PANEL_OPEN, not both")
        if self.panel_open and not is_loopback(self.host):
            raise ValueError(
                f"REMIT_PANEL_OPEN lets everybody in who reaches {self.host}: "
                "set REMIT_HOST to 127.0.0.1, or REMIT_PANEL_TOKEN_FILE"
            )
        return self


def is_loopback(host: str) -> bool:
    """Say whether a host name or an address is this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
