"""What one emulator is told when it starts."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, field_validator


class GitHubEmulatorSettings(BaseModel):
    """Where the emulator keeps its data and under which address it is reached.

    Attributes:
        base_url: Address that people and clients use, without a trailing slash. Every link in
            answers, payloads, and pages starts with it; the REST API is at ``{base_url}/api/v3``.
        git_root: Folder that holds the bare repositories, ``{owner}/{name}.git``.
        state_file: JSON snapshot that is read at the start and written after each change;
            without one everything but git is gone with the process.
        delivery_timeout: Seconds a webhook receiver has to answer (GitHub gives 10).
        deliveries_kept: How many webhook deliveries the log keeps; the oldest go first.
    """

    model_config = ConfigDict(frozen=True)

    base_url: str
    git_root: Path
    state_file: Path | None = None
    delivery_timeout: float = Field(default=10.0, gt=0)
    deliveries_kept: int = Field(default=10_000, gt=0)

    @field_validator("base_url")
    @classmethod
    def _without_trailing_slash(cls, value: str) -> str:
        return value.rstrip("/")
