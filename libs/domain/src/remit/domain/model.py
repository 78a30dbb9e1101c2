"""The base of everything in the domain: frozen, closed and plain."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A value that never changes after it was made.

    Fields that a reader does not know are ignored, so two versions of a service
    understand each other's messages.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    def but(self, **changes: object) -> Self:
        """Return a copy with some fields changed; the values are taken as they are."""
        return self.model_copy(update=changes)
