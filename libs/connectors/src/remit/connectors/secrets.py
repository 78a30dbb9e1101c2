"""Secrets by reference: a setting names where the value is, and never holds it (ENV-2)."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, model_validator


class SecretUnavailable(Exception):
    """A secret is not where its reference says.

    Attributes:
        reference: The reference, which is safe to show.
    """

    def __init__(self, reference: str, remedy: str) -> None:
        super().__init__(f"the secret at {reference} is not there: {remedy}")
        self.reference = reference


class SecretRef(BaseModel):
    """Where a secret is: ``{env: NAME}`` or ``{file: PATH}``.

    Read again at each use, so that a file can be replaced without a restart.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    env: str | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> SecretRef:
        if (self.env is None) == (self.file is None):
            raise ValueError("write either {env: NAME} or {file: PATH}, never the value itself")
        return self

    def read(self) -> str:
        """Return the value, without the line end that files tend to have.

        Raises:
            SecretUnavailable: The variable is not set, or the file cannot be read.
        """
        if self.env is not None:
            value = os.environ.get(self.env)
            if not value:
                raise SecretUnavailable(f"env:{self.env}", f"set the variable {self.env}")
            return value
        path = self.file or Path()
        try:
            return path.read_text().rstrip("\r\n")
        except OSError as error:
            raise SecretUnavailable(f"file:{path}", f"{error.strerror}") from error
