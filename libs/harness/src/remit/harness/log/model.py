"""What every typed part of a session log shares."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Ordinal = Annotated[int, Field(strict=True, ge=1)]
"""A number that counts from one: a turn, a step, a retry."""

Position = Annotated[int, Field(strict=True, ge=0)]
"""The `seq` of an event: its place in the log, counted from zero."""

Milliseconds = Annotated[int, Field(strict=True, ge=0)]
"""A time of day in milliseconds since the epoch, or a wait in milliseconds."""

Flag = Annotated[bool, Field(strict=True)]
"""A JSON boolean, and nothing that merely looks like one."""


class Part(BaseModel):
    """A typed JSON object of the log.

    Names are camel case in the file. Keys this version does not know are kept, because a later
    version of the format may add some.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        defer_build=True,
        extra="allow",
        frozen=True,
        validate_by_alias=True,
        validate_by_name=True,
    )

    def to_json(self) -> dict[str, Any]:
        """The object as it is written: known keys first, absent ones left out."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)
