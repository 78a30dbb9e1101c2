"""The base of everything in the domain: frozen, closed and plain."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A value that never changes after it was made.

    Fields that a reader does not know are ignored, so two versions of a service
    understand each other's messages.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")
