"""What every service can be told from outside, by environment variables.

Each service's own settings extend these. Unknown variables are ignored; a wrong one is refused
at start with its name.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


def default_instance() -> str:
    """Return a name for this process: the host, and the process on it."""
    return f"{socket.gethostname()}-{os.getpid()}"


class ServiceSettings(BaseSettings):
    """Settings that all services share.

    Attributes:
        nats_url: Where NATS is; several servers separated by commas.
        nats_user: The service's own user, which may touch only its subjects.
        nats_password_file: Where that user's password is.
        redis_url: Where Redis or Valkey is.
        instance: The name of this process; a process that was started again is another one.
        host: Where the service listens.
        port: The port for health and the service's own HTTP; 0 takes a free one.
        otlp_endpoint: Base URL of an OTLP/HTTP collector.
        panel_url: Where the panel is; it takes traces where no collector is set.
        trace_sample: The share of traces that are kept, 0 to 1.
        log_level: debug, info, warning or error.
        sources_file: The Sources document, for services that read from or write to providers.
        drain_seconds: How long a stop may take to finish or put back what is in work.
    """

    model_config = SettingsConfigDict(env_prefix="REMIT_", extra="ignore", frozen=True)

    nats_url: str = "nats://127.0.0.1:4222"
    nats_user: str | None = None
    nats_password_file: Path | None = None
    redis_url: SecretStr = SecretStr("redis://127.0.0.1:6379")
    instance: str = Field(default_factory=default_instance)
    host: str = "127.0.0.1"
    port: int = 0
    otlp_endpoint: str | None = Field(
        default_factory=lambda: os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    )
    panel_url: str | None = None
    trace_sample: float = Field(default=1.0, ge=0, le=1)
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    sources_file: Path | None = None
    drain_seconds: float = Field(default=20.0, gt=0)

    @property
    def traces_endpoint(self) -> str | None:
        """Where traces go: the collector, else the panel, else nowhere."""
        if self.otlp_endpoint:
            return self.otlp_endpoint
        return f"{self.panel_url.rstrip('/')}/otlp" if self.panel_url else None

    @property
    def nats_servers(self) -> list[str]:
        """The NATS servers."""
        return [url.strip() for url in self.nats_url.split(",") if url.strip()]
